//! Everything that can be made to go wrong.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// A planned failure of the next calls of one method.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// Method (`chat.postMessage`), `upload`, `download`, or `*` for any of them.
    pub method: String,
    /// Matching calls to let pass first.
    #[serde(default)]
    pub skip: u32,
    /// Matching calls to fail.
    #[serde(default = "one")]
    pub times: u32,
    /// What happens to them.
    pub action: FaultAction,
}

fn one() -> u32 {
    1
}

/// What a planned failure does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum FaultAction {
    /// Answers `ok:false` with the code, without acting.
    Error {
        /// Slack error code.
        code: String,
    },
    /// Acts, then answers `ok:false` with the code (`internal_error` may have partly succeeded).
    ErrorAfterActing {
        /// Slack error code.
        code: String,
    },
    /// Answers an HTTP status with a plain body, without acting.
    Status {
        /// HTTP status.
        status: u16,
    },
    /// Acts, then answers an HTTP status with a plain body.
    StatusAfterActing {
        /// HTTP status.
        status: u16,
    },
    /// Answers 429, without acting.
    RateLimited {
        /// Seconds for `Retry-After`; none leaves the header out.
        #[serde(default)]
        retry_after_secs: Option<u64>,
    },
    /// Acts, then closes the connection without an answer.
    DropAnswer,
    /// Closes the connection without acting.
    DropRequest,
    /// Waits, then acts and answers.
    Delay {
        /// Milliseconds.
        ms: u64,
    },
    /// Acts, waits, then answers.
    DelayAnswer {
        /// Milliseconds.
        ms: u64,
    },
    /// Acts, sends the head and this many bytes of the body, then resets the connection.
    ResetAfterBytes {
        /// Bytes of the body that still arrive.
        bytes: usize,
    },
    /// Acts and never answers; the connection stays open.
    HangAfterActing,
}

impl Fault {
    /// Fails the next call of `method`.
    pub fn once(method: &str, action: FaultAction) -> Self {
        Self { method: method.into(), skip: 0, times: 1, action }
    }

    /// Fails the next `times` calls of `method`.
    pub fn times(method: &str, times: u32, action: FaultAction) -> Self {
        Self { method: method.into(), skip: 0, times, action }
    }
}

/// Takes the action planned for this call, if any, and counts it down.
pub(super) fn take(faults: &mut Vec<Fault>, method: &str) -> Option<FaultAction> {
    let at = faults.iter().position(|f| f.method == method || f.method == "*")?;
    let fault = faults.get_mut(at)?;
    if fault.skip > 0 {
        fault.skip -= 1;
        return None;
    }
    let action = fault.action.clone();
    fault.times = fault.times.saturating_sub(1);
    if fault.times == 0 {
        faults.remove(at);
    }
    Some(action)
}

/// Lasting switches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each switch is independent and named on the wire")]
pub struct Knobs {
    /// Rate limits per method tier and about one message a second per channel.
    pub rate_limits: bool,
    /// Splits `text` over 4,000 characters into several messages.
    pub split_text: bool,
    /// Hides every metadata payload from reads.
    pub metadata_hidden: bool,
    /// Event types declared in the manifest: their payload shows without `include_all_metadata`.
    pub declared_metadata: BTreeSet<String>,
    /// Serves the HTML login page for every file.
    pub file_login_page: bool,
    /// History methods answer `missing_scope`.
    pub history_disabled: bool,
    /// Milliseconds until a completed upload appears as a message.
    pub share_delay_ms: u64,
    /// The app's own posts come back as message events.
    pub echo_own: bool,
    /// A mention also arrives as a message event.
    pub mention_message_event: bool,
    /// Extra copies of each event, each with a new event id.
    pub duplicate_events: u32,
    /// Sockets answer pings, but events are never sent.
    pub silent: bool,
    /// The second of two close deliveries goes out first.
    pub reorder_events: bool,
    /// Sockets allowed at once.
    pub max_sockets: usize,
    /// Sockets of somebody else that hello counts too.
    pub ghost_connections: usize,
}

impl Default for Knobs {
    fn default() -> Self {
        Self {
            rate_limits: false,
            split_text: true,
            metadata_hidden: false,
            declared_metadata: BTreeSet::new(),
            file_login_page: false,
            history_disabled: false,
            share_delay_ms: 30,
            echo_own: true,
            mention_message_event: true,
            duplicate_events: 0,
            silent: false,
            reorder_events: false,
            max_sockets: 10,
            ghost_connections: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_skips_then_counts_down() {
        let action = FaultAction::DropAnswer;
        let mut faults = vec![Fault { method: "a".into(), skip: 1, times: 2, action: action.clone() }];
        assert_eq!(take(&mut faults, "b"), None);
        assert_eq!(take(&mut faults, "a"), None);
        assert_eq!(take(&mut faults, "a"), Some(action.clone()));
        assert_eq!(take(&mut faults, "a"), Some(action));
        assert_eq!(take(&mut faults, "a"), None);
        assert!(faults.is_empty());
    }
}
