//! After a restart, lease loss or an unclear start the runtime is asked first (messaging specification 4.5).
//! A Turn of unknown fate is never run again by Loom on its own.

use super::event::Event;
use super::limits::RECONCILE_MS_MAX;
use crate::agent::OnInterrupted;

/// What the runtime says about a Turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It never accepted it.
    NeverAccepted,
    /// It runs.
    Running,
    /// It ended like this; finished exactly as if observed live.
    Done(Event),
    /// It was broken off.
    Interrupted {
        /// Whether a tool call was recorded.
        tool_called: bool,
    },
    /// The runtime does not know it.
    Unknown,
    /// The runtime has not answered for that long.
    Unreachable {
        /// Milliseconds since the first question.
        for_ms: i64,
    },
}

/// The transition event of a verdict; none means ask again later.
#[must_use]
pub fn event_of(verdict: Verdict, on_interrupted: OnInterrupted) -> Option<Event> {
    match verdict {
        Verdict::NeverAccepted => Some(Event::NeverAccepted),
        Verdict::Running => Some(Event::Reattached),
        Verdict::Done(event) => Some(event),
        Verdict::Interrupted { tool_called } => {
            let may_rerun = on_interrupted == OnInterrupted::Rerun && !tool_called;
            Some(Event::FateUnknown { may_rerun })
        }
        Verdict::Unknown => Some(Event::FateUnknown { may_rerun: false }),
        Verdict::Unreachable { for_ms } if for_ms >= RECONCILE_MS_MAX => {
            Some(Event::FateUnknown { may_rerun: false })
        }
        Verdict::Unreachable { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn msg_144_an_unclear_start_is_asked_about_first() {
        let ask = OnInterrupted::Ask;
        assert_eq!(event_of(Verdict::Running, ask), Some(Event::Reattached));
        assert_eq!(event_of(Verdict::NeverAccepted, ask), Some(Event::NeverAccepted));
        assert_eq!(event_of(Verdict::Unreachable { for_ms: 599_999 }, ask), None);
    }

    #[test]
    fn msg_145_an_unknown_fate_is_never_run_again() {
        let lost = Some(Event::FateUnknown { may_rerun: false });
        for verdict in [
            Verdict::Unknown,
            Verdict::Unreachable { for_ms: 600_000 },
            Verdict::Interrupted { tool_called: true },
        ] {
            assert_eq!(event_of(verdict, OnInterrupted::Rerun), lost);
        }
        let clean = Verdict::Interrupted { tool_called: false };
        assert_eq!(event_of(clean.clone(), OnInterrupted::Ask), lost);
        let rerun = Some(Event::FateUnknown { may_rerun: true });
        assert_eq!(event_of(clean, OnInterrupted::Rerun), rerun);
    }
}
