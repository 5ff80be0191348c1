//! Processes that runtimes left behind are adopted by the hub; their remains are collected here.

use std::collections::HashSet;
use std::time::Duration;

use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::Pid;
use tokio::time::Instant;

/// Time in which whoever started a child has long collected it.
const EVERY: Duration = Duration::from_secs(10);

/// Collects adopted children that have ended. A child that somebody waits for is collected by them at once; one
/// that is still there a sweep later has nobody.
#[derive(Debug, Default)]
pub(super) struct Orphans {
    ended: HashSet<i32>,
    looked_at: Option<Instant>,
}

impl Orphans {
    pub(super) fn collect(&mut self) {
        if self.looked_at.is_some_and(|at| at.elapsed() < EVERY) {
            return;
        }
        self.looked_at = Some(Instant::now());
        let ended = ended_children();
        for pid in ended.intersection(&self.ended) {
            let _ = waitpid(Pid::from_raw(*pid), Some(WaitPidFlag::WNOHANG));
        }
        self.ended = ended;
    }
}

/// Children of this process that have ended and were not collected.
fn ended_children() -> HashSet<i32> {
    let me = std::process::id();
    let Ok(entries) = std::fs::read_dir("/proc") else { return HashSet::new() };
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok())
        .filter(|pid| is_ended_child(*pid, me))
        .collect()
}

fn is_ended_child(pid: i32, parent: u32) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
    let Some((_, rest)) = stat.rsplit_once(')') else { return false };
    let mut fields = rest.split_whitespace();
    fields.next() == Some("Z") && fields.next().and_then(|field| field.parse().ok()) == Some(parent)
}

#[cfg(test)]
mod tests {
    use nix::sys::wait::{Id, waitid};

    use super::*;

    #[test]
    fn a_child_counts_as_ended_until_it_is_collected() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        waitid(Id::Pid(Pid::from_raw(pid)), WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT).unwrap();
        assert!(ended_children().contains(&pid));
        child.wait().unwrap();
        assert!(!ended_children().contains(&pid));
    }
}
