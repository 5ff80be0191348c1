//! What a connection is doing, and until when it may go on so.

use std::sync::Arc;

use tokio::sync::watch;
use tokio::time::Instant;

use crate::ConnectionLimits;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Without a request since then.
    Idle(Instant),
    /// Sending the head of a request since then.
    Head(Instant),
    /// Requests in work.
    Work(usize),
    /// Another connection needs its place.
    Ended,
}

/// The phase of one connection, told by its reads and its requests, watched by its task.
#[derive(Debug, Clone)]
pub(super) struct Pulse(Arc<watch::Sender<Phase>>);

/// A request in work; the connection is idle again when the last one is dropped.
pub(super) struct Work(Pulse);

impl Pulse {
    pub(super) fn new() -> Self {
        Pulse(Arc::new(watch::Sender::new(Phase::Idle(Instant::now()))))
    }

    /// Bytes arrived; between requests they are the start of a head.
    pub(super) fn bytes_arrived(&self) {
        self.0.send_if_modified(|phase| {
            let starts = matches!(phase, Phase::Idle(_));
            if starts {
                *phase = Phase::Head(Instant::now());
            }
            starts
        });
    }

    /// The head of a request is complete.
    pub(super) fn work(&self) -> Work {
        self.0.send_modify(|phase| {
            *phase = match phase {
                Phase::Work(count) => Phase::Work(*count + 1),
                Phase::Ended => Phase::Ended,
                Phase::Idle(_) | Phase::Head(_) => Phase::Work(1),
            };
        });
        Work(self.clone())
    }

    /// Ends the connection if no request of it is in work; says whether it ends.
    pub(super) fn end_unless_at_work(&self) -> bool {
        self.0.send_if_modified(|phase| {
            let may_end = !matches!(phase, Phase::Work(_));
            if may_end {
                *phase = Phase::Ended;
            }
            may_end
        })
    }

    #[cfg(test)]
    pub(super) fn has_ended(&self) -> bool {
        *self.0.borrow() == Phase::Ended
    }

    /// Returns when the connection stood idle or sent its head for too long, or was ended.
    pub(super) async fn overdue(&self, limits: &ConnectionLimits) {
        let mut phase = self.0.subscribe();
        loop {
            let deadline = match *phase.borrow_and_update() {
                Phase::Idle(since) => Some(since + limits.idle),
                Phase::Head(since) => Some(since + limits.header_read),
                Phase::Work(_) => None,
                Phase::Ended => return,
            };
            tokio::select! {
                () = sleep_until(deadline) => return,
                _ = phase.changed() => {}
            }
        }
    }
}

async fn sleep_until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        self.0.0.send_modify(|phase| {
            *phase = match phase {
                Phase::Work(count) if *count > 1 => Phase::Work(*count - 1),
                Phase::Ended => Phase::Ended,
                _ => Phase::Idle(Instant::now()),
            };
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// ATK-11: a head has five seconds, an idle connection thirty, work has no end here.
    #[tokio::test(start_paused = true)]
    async fn atk_11_deadlines_by_phase() {
        let limits = ConnectionLimits::default();
        let pulse = Pulse::new();
        let start = Instant::now();
        pulse.overdue(&limits).await;
        assert_eq!(start.elapsed(), Duration::from_secs(30));

        let pulse = Pulse::new();
        let start = Instant::now();
        pulse.bytes_arrived();
        tokio::time::advance(Duration::from_secs(3)).await;
        pulse.bytes_arrived();
        pulse.overdue(&limits).await;
        assert_eq!(start.elapsed(), Duration::from_secs(5));

        let work = pulse.work();
        let waited = tokio::time::timeout(Duration::from_mins(10), pulse.overdue(&limits)).await;
        assert!(waited.is_err());
        drop(work);
        let start = Instant::now();
        pulse.overdue(&limits).await;
        assert_eq!(start.elapsed(), Duration::from_secs(30));
    }
}
