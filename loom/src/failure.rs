//! How a command ends when it does not end well.

use std::io;

use loom_domain::{Code, Error};

/// Exit status after an interrupt.
pub(crate) const INTERRUPTED: u8 = 130;

/// Exit status of what was refused or failed.
pub(crate) const REFUSED: u8 = 1;
/// Exit status of what waits for somebody's decision.
pub(crate) const UNDECIDED: u8 = 3;

/// Why a command stops.
#[derive(Debug)]
pub(crate) enum Failure {
    /// An error to print.
    Error(Box<Error>),
    /// All is printed already; this is the exit status.
    Exit(u8),
}

/// Result of a command.
pub(crate) type Outcome<T = ()> = Result<T, Failure>;

impl Failure {
    /// The exit status that belongs to a code.
    pub(crate) fn of(code: Code) -> Self {
        Failure::Exit(exit_of(code))
    }
}

/// The exit status that belongs to a code.
pub(crate) fn exit_of(code: Code) -> u8 {
    use loom_domain::Exit;
    match (code, code.exit()) {
        (Code::Cancelled, _) => INTERRUPTED,
        (_, Exit::Refused) => REFUSED,
        (_, Exit::Usage) => 2,
        (_, Exit::Decision) => UNDECIDED,
        (_, Exit::Provider) => 4,
        (_, Exit::Conflict) => 5,
        (_, Exit::Integrity) => 6,
        (_, Exit::Hub) => 7,
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Error(Box::new(error))
    }
}

/// A reader that went away ends the command quietly; another fault of the terminal is an error.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::Exit(0),
            _ => Error::internal(error).into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// MSG-017: each kind of failure has its own exit status.
    #[test]
    fn msg_017_exit_statuses() {
        for (code, exit) in [
            (Code::NotFound, 1),
            (Code::Usage, 2),
            (Code::MissingField, 2),
            (Code::ConfirmationRequired, 3),
            (Code::DeliveryUnknown, 3),
            (Code::ProviderTimeout, 4),
            (Code::DeliveryPending, 4),
            (Code::WaitTimeout, 4),
            (Code::VersionConflict, 5),
            (Code::Locked, 5),
            (Code::AuditBroken, 6),
            (Code::HubUnreachable, 7),
            (Code::HubDraining, 7),
        ] {
            assert_eq!(exit_of(code), exit, "{code}");
        }
    }

    #[test]
    fn a_closed_pipe_is_a_quiet_end() {
        assert!(matches!(Failure::from(io::Error::from(io::ErrorKind::BrokenPipe)), Failure::Exit(0)));
    }
}
