//! One run of a program: writes its input, reads its output, keeps the clocks, stops it when told.

use std::process::ExitStatus;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use crate::clocks::Clocks;
use crate::process::{Force, Tail, stop_group};
use crate::turn_dir::TurnDir;
use crate::{ErrClass, HostCtx, OutputForm, RuntimeError, TurnEvent, TurnOutcome, TurnStatus};

use super::output;

/// Wait for the pipes to close once the program has ended and its group is killed.
const PIPES_WAIT: Duration = Duration::from_secs(1);
/// Bytes read at a time.
const READ_BYTES: usize = 16 * 1024;

/// Everything a run needs.
pub(super) struct Run {
    /// Before `child`, so that the group is killed while its leader holds the id.
    pub(super) group: GroupGuard,
    pub(super) child: Child,
    pub(super) child_id: u32,
    pub(super) stdin: Vec<u8>,
    pub(super) form: OutputForm,
    pub(super) clocks: Clocks,
    pub(super) dir: TurnDir,
    pub(super) host: HostCtx,
    pub(super) events: mpsc::Sender<TurnEvent>,
    /// An interrupt, with its grace.
    pub(super) stop: mpsc::Receiver<Duration>,
    /// The runtime is being left.
    pub(super) leave: CancellationToken,
}

/// Why the program was stopped by Loom.
enum Stopped {
    Asked,
    Clock(RuntimeError),
    TooLarge(RuntimeError),
}

impl Run {
    /// Runs to the end. Dropping the run, started or not, kills the group.
    pub(super) async fn finish(mut self) -> TurnOutcome {
        let mut stdout = Vec::new();
        let mut stderr = Tail::new(self.host.limits.stderr_tail_bytes);
        let (stopped, exit) = self.work(&mut stdout, &mut stderr).await;
        if exit.is_some() {
            self.group.0 = None;
        }
        let mut outcome = match stopped {
            Some(Stopped::Asked) => TurnOutcome::of(TurnStatus::Interrupted),
            Some(Stopped::Clock(error)) => TurnOutcome::failed(TurnStatus::Interrupted, error),
            Some(Stopped::TooLarge(error)) => TurnOutcome::failed(TurnStatus::Failed, error),
            None => match exit {
                Some(exit) => output::outcome(exit, &stdout, self.form, &self.dir, &self.host),
                None => TurnOutcome::of(TurnStatus::Lost),
            },
        };
        let tail = (self.host.redact)(&stderr.text());
        outcome.stderr_tail = Some(tail).filter(|tail| !tail.is_empty());
        outcome
    }

    async fn work(
        &mut self,
        stdout: &mut Vec<u8>,
        stderr: &mut Tail,
    ) -> (Option<Stopped>, Option<ExitStatus>) {
        let (Some(out), Some(err)) = (self.child.stdout.take(), self.child.stderr.take()) else {
            return (None, None);
        };
        let (mut out, mut err) = (Pipe::new(out), Pipe::new(err));
        let mut write = Box::pin(feed(self.child.stdin.take(), std::mem::take(&mut self.stdin)));
        let mut written = false;
        let mut stopped = None;
        let mut kill_at: Option<Instant> = None;
        let mut exit = None;
        let mut give_up_at: Option<Instant> = None;
        while exit.is_none() || out.is_open() || err.is_open() {
            let wake = [Some(self.clocks.next()).filter(|_| stopped.is_none()), kill_at, give_up_at];
            let wake = wake.into_iter().flatten().min();
            tokio::select! {
                () = &mut write, if !written => written = true,
                bytes = out.read(), if out.is_open() => {
                    stdout.extend_from_slice(&bytes);
                    self.heard();
                    if stdout.len() > self.host.limits.stdout_bytes_max && stopped.is_none() {
                        let error = RuntimeError::new(ErrClass::Protocol, "response_too_large: the program wrote too much");
                        stopped = Some(Stopped::TooLarge(error));
                        stop_group(self.child_id, Force::Kill);
                    }
                    stdout.truncate(self.host.limits.stdout_bytes_max.saturating_add(1));
                }
                bytes = err.read(), if err.is_open() => {
                    stderr.push(&bytes);
                    self.heard();
                }
                status = self.child.wait(), if exit.is_none() => {
                    exit = status.ok();
                    kill_at = None;
                    // What the program left behind in its group ends with the Turn.
                    stop_group(self.child_id, Force::Sweep);
                    give_up_at = Some(Instant::now() + PIPES_WAIT);
                    if exit.is_none() {
                        break;
                    }
                }
                Some(grace) = self.stop.recv(), if stopped.is_none() && exit.is_none() => {
                    kill_at = Some(self.ask_to_stop(grace));
                    stopped = Some(Stopped::Asked);
                }
                () = self.leave.cancelled(), if stopped.is_none() && exit.is_none() => {
                    kill_at = Some(self.ask_to_stop(Duration::ZERO));
                    stopped = Some(Stopped::Asked);
                }
                () = at(wake), if wake.is_some() => {
                    let now = Instant::now();
                    if give_up_at.is_some_and(|at| now >= at) {
                        break;
                    }
                    if kill_at.is_some_and(|at| now >= at) {
                        stop_group(self.child_id, Force::Kill);
                        kill_at = None;
                    }
                    if let Some(clock) = self.clocks.expired(now).filter(|_| stopped.is_none() && exit.is_none()) {
                        kill_at = Some(self.ask_to_stop(self.host.limits.grace));
                        stopped = Some(Stopped::Clock(RuntimeError::new(ErrClass::Timeout, clock.message())));
                    }
                }
            }
        }
        (stopped, exit)
    }

    fn heard(&mut self) {
        self.clocks.heard(Instant::now());
        // Only a sign of life: a full queue says as much.
        let _ = self.events.try_send(TurnEvent::Alive);
    }

    fn ask_to_stop(&self, grace: Duration) -> Instant {
        let now = Instant::now();
        stop_group(self.child_id, Force::Ask);
        now + grace
    }
}

/// Kills a group when it goes out of scope.
pub(super) struct GroupGuard(Option<u32>);

impl GroupGuard {
    pub(super) fn new(child_id: u32) -> Self {
        GroupGuard(Some(child_id))
    }
}

impl Drop for GroupGuard {
    fn drop(&mut self) {
        if let Some(child_id) = self.0.take() {
            stop_group(child_id, Force::Kill);
        }
    }
}

async fn at(moment: Option<Instant>) {
    if let Some(moment) = moment {
        sleep_until(moment).await;
    }
}

/// Writes the input and closes the pipe. A program need not read it, so a broken pipe is no failure.
async fn feed(stdin: Option<ChildStdin>, bytes: Vec<u8>) {
    if let Some(mut stdin) = stdin {
        let _ = stdin.write_all(&bytes).await;
        let _ = stdin.shutdown().await;
    }
}

/// The reading end of a pipe that remembers its end.
struct Pipe<R> {
    reader: Option<R>,
    buffer: Vec<u8>,
}

impl<R: AsyncRead + Unpin> Pipe<R> {
    fn new(reader: R) -> Self {
        Pipe { reader: Some(reader), buffer: vec![0; READ_BYTES] }
    }

    fn is_open(&self) -> bool {
        self.reader.is_some()
    }

    async fn read(&mut self) -> Vec<u8> {
        let Some(reader) = self.reader.as_mut() else { return Vec::new() };
        match reader.read(&mut self.buffer).await {
            Ok(count) if count > 0 => self.buffer.get(..count).unwrap_or_default().to_vec(),
            _ => {
                self.reader = None;
                Vec::new()
            }
        }
    }
}

/// Waits until no Turn runs, at most this long.
pub(super) async fn idle_within(running: &tokio_util::task::TaskTracker, time: Duration) {
    let _ = timeout(time, running.wait()).await;
}
