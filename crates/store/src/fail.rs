//! Named points at which a test can kill the process or inject a disk error. Compiled to nothing in release builds.

/// Passes a named point. In debug builds, or with the feature `failpoints`,
/// `LOOM_FAILPOINTS=name=kill|full|io[:after]` (comma separated) acts there: `kill` ends the process as SIGKILL
/// would, `full` and `io` give that disk error; `:after` lets the point pass that many times first.
#[cfg(not(any(feature = "failpoints", debug_assertions)))]
#[inline]
pub fn point(_name: &str) -> loom_domain::Result<()> {
    Ok(())
}

#[cfg(any(feature = "failpoints", debug_assertions))]
pub use active::{arm, point};

#[cfg(any(feature = "failpoints", debug_assertions))]
mod active {
    use std::sync::{Mutex, OnceLock};

    use loom_domain::Result;

    use crate::engine::read_only;

    struct Armed {
        name: String,
        action: String,
        passes: u64,
    }

    fn armed() -> &'static Mutex<Vec<Armed>> {
        static ARMED: OnceLock<Mutex<Vec<Armed>>> = OnceLock::new();
        ARMED.get_or_init(|| Mutex::new(parse(&std::env::var("LOOM_FAILPOINTS").unwrap_or_default())))
    }

    fn parse(text: &str) -> Vec<Armed> {
        text.split(',')
            .filter_map(|entry| {
                let (name, rest) = entry.split_once('=')?;
                let (action, passes) = rest.split_once(':').unwrap_or((rest, "0"));
                Some(Armed { name: name.to_owned(), action: action.to_owned(), passes: passes.parse().ok()? })
            })
            .collect()
    }

    /// Replaces the armed points of this process.
    pub fn arm(text: &str) {
        if let Ok(mut points) = armed().lock() {
            *points = parse(text);
        }
    }

    /// Passes a named point.
    pub fn point(name: &str) -> Result<()> {
        let action = {
            let Ok(mut points) = armed().lock() else { return Ok(()) };
            let Some(point) = points.iter_mut().find(|p| p.name == name) else { return Ok(()) };
            if point.passes > 0 {
                point.passes -= 1;
                return Ok(());
            }
            point.action.clone()
        };
        match action.as_str() {
            "kill" => die(),
            "full" => Err(read_only("the disk is full")),
            "io" => Err(read_only("the disk answers with errors")),
            _ => Ok(()),
        }
    }

    fn die() -> ! {
        let _ = nix::sys::signal::kill(nix::unistd::Pid::this(), nix::sys::signal::Signal::SIGKILL);
        loop {
            std::thread::park();
        }
    }
}
