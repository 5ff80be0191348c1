//! Who is at the other end of a connection, as the kernel says it.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

/// Tells whether a process id is a runtime child of this hub.
pub type IsRuntimeChild = Arc<dyn Fn(u32) -> bool + Send + Sync>;

/// Ancestors looked at before a chain counts as endless.
const CHAIN_MAX: usize = 64;

/// The other end of a connection. It is never an identity by itself.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Peer {
    /// A process on the unix socket with the hub's own uid.
    Socket {
        /// The uid the kernel reported.
        uid: u32,
        /// Whether the process descends from a runtime child of this hub (ID-6).
        runtime_child: bool,
    },
    /// An address on the TCP listener; behind a declared proxy, the address the proxy saw.
    Address(IpAddr),
}

impl Peer {
    /// Whether it may be the owner: a process at the socket that no Agent started.
    pub(crate) fn may_be_owner(&self) -> bool {
        matches!(self, Peer::Socket { runtime_child: false, .. })
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Peer::Socket { uid, runtime_child: false } => write!(f, "uid:{uid}"),
            Peer::Socket { uid, runtime_child: true } => write!(f, "uid:{uid}/runtime"),
            Peer::Address(address) => write!(f, "ip:{address}"),
        }
    }
}

/// Whether the process or one of its ancestors is a runtime child. An unreadable chain counts as one:
/// who cannot be placed is not believed.
pub(crate) fn descends_from_runtime(
    pid: u32,
    is_child: &dyn Fn(u32) -> bool,
    parent_of: &dyn Fn(u32) -> Option<u32>,
) -> bool {
    let mut current = pid;
    for _ in 0..CHAIN_MAX {
        if is_child(current) {
            return true;
        }
        match parent_of(current) {
            Some(0 | 1) => return false,
            Some(parent) => current = parent,
            None => return true,
        }
    }
    true
}

/// Reads the parent of a process from the kernel.
pub(crate) fn parent_of(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The command name stands in parentheses and may hold anything, so count from its end.
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ID-6: a grandchild of a runtime is found; a stranger is not; a lost chain is not believed.
    #[test]
    fn id_6_chain_to_a_runtime_child() {
        let parents = |pid: u32| match pid {
            30 => Some(20),
            20 => Some(10),
            40 => Some(5),
            10 | 5 => Some(1),
            _ => None,
        };
        let is_child = |pid: u32| pid == 20;
        assert!(descends_from_runtime(30, &is_child, &parents));
        assert!(descends_from_runtime(20, &is_child, &parents));
        assert!(!descends_from_runtime(40, &is_child, &parents));
        assert!(descends_from_runtime(99, &is_child, &parents));
        assert!(descends_from_runtime(7, &|_| false, &|_| Some(7)));
    }

    #[test]
    fn own_parent_is_readable() {
        assert_eq!(parent_of(std::process::id()), Some(std::os::unix::process::parent_id()));
    }
}
