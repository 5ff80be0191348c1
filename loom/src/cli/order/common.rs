//! Flags that every run of a capability takes.

use clap::{Arg, ArgAction, ArgMatches};
use loom_domain::time::parse_duration_ms;
use loom_domain::{Code, Error, Result};
use loom_transport::CacheMode;

use crate::input::cassette::Cassette;

/// Flags with a value: name, placeholder, help.
const VALUES: &[(&str, &str, &str)] = &[
    ("op", "OP", "Operation"),
    ("config", "FILE", "Configuration in JSON or YAML, or - for standard input"),
    ("credential-ref", "REF", "Credential reference, or NAME=REF"),
    ("api-url", "URL", "Base URL of the service"),
    ("timeout-seconds", "N", "Seconds that one request may take"),
    ("deadline", "D", "Time that the whole run may take"),
    ("limit", "N", "Most items"),
    ("max-pages", "N", "Most pages"),
    ("cursor", "C", "Go on at a cursor, or @FILE with one"),
    ("cursor-out", "FILE", "Write the cursor there"),
    ("cassette", "FILE", "File of recorded answers"),
    ("cassette-mode", "MODE", "What to do with it: record, replay (default) or replay_strict"),
];
/// Flags without a value.
const SWITCHES: &[(&str, &str)] = &[
    ("save", "Keep the payload (default)"),
    ("no-save", "Keep nothing"),
    ("no-cache", "Use nothing stored that the service does not confirm"),
    ("refresh", "Read everything anew, as if nothing were stored"),
    ("print-config", "Print the effective configuration and run nothing"),
];
/// Shortest and longest time of one attempt, seconds.
const TIMEOUT_RANGE: std::ops::RangeInclusive<f64> = 0.1..=600.0;
/// Longest deadline, seconds.
const DEADLINE_SECONDS: std::ops::RangeInclusive<u64> = 1..=86_400;
const PAGES: std::ops::RangeInclusive<u64> = 1..=10_000;
const ITEMS: std::ops::RangeInclusive<u64> = 1..=1_000_000;

/// Values of the flags that every run takes.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Common {
    /// Operation.
    pub(crate) operation: Option<String>,
    /// Configuration file.
    pub(crate) config: Option<String>,
    /// Credential references, some with names.
    pub(crate) credential_refs: Vec<String>,
    /// Base URL.
    pub(crate) api_url: Option<String>,
    /// Seconds of one attempt.
    pub(crate) timeout_seconds: Option<f64>,
    /// Seconds of the run.
    pub(crate) deadline_seconds: Option<u64>,
    /// Items.
    pub(crate) limit: Option<u64>,
    /// Pages.
    pub(crate) max_pages: Option<u32>,
    /// Cursor, or `@FILE`.
    pub(crate) cursor: Option<String>,
    /// Where the cursor is written.
    pub(crate) cursor_out: Option<String>,
    /// Recorded answers.
    pub(crate) cassette: Cassette,
    /// Keeps the payload, whatever the configuration says.
    pub(crate) save: bool,
    /// Keeps nothing.
    pub(crate) no_save: bool,
    /// How stored answers are used.
    pub(crate) cache: CacheMode,
    /// Prints the effective configuration.
    pub(crate) print_config: bool,
}

/// The flags, without those whose names the input uses itself.
pub(super) fn flags(taken: &[String]) -> Vec<Arg> {
    let free = |long: &str| !taken.iter().any(|name| name == long);
    let values = VALUES.iter().filter(|(long, ..)| free(long)).map(|(long, placeholder, help)| {
        let action = if *long == "credential-ref" { ArgAction::Append } else { ArgAction::Set };
        Arg::new(id(long))
            .long(*long)
            .value_name(*placeholder)
            .help(*help)
            .action(action)
            .allow_hyphen_values(true)
    });
    let switches = SWITCHES.iter().filter(|(long, _)| free(long));
    let switches =
        switches.map(|(long, help)| Arg::new(id(long)).long(*long).help(*help).action(ArgAction::SetTrue));
    values.chain(switches).collect()
}

/// The input's own flags must not be taken for these.
fn id(long: &str) -> String {
    format!("run.{long}")
}

impl Common {
    /// Reads the values; numbers out of range are usage errors.
    pub(super) fn read(matches: &ArgMatches) -> Result<Self> {
        let text = |long: &str| matches.try_get_one::<String>(&id(long)).ok().flatten().cloned();
        let switch = |long: &str| matches!(matches.try_get_one::<bool>(&id(long)), Ok(Some(true)));
        let refs = matches.try_get_many::<String>(&id("credential-ref")).ok().flatten();
        let whole = |long: &str, range: &std::ops::RangeInclusive<u64>| {
            let number = |text: String| text.parse::<u64>().ok().filter(|number| range.contains(number));
            let wrong = || usage(long, &format!("a whole number from {} to {}", range.start(), range.end()));
            text(long).map(|text| number(text).ok_or_else(wrong)).transpose()
        };
        let timeout = |text: String| {
            let seconds = text.parse::<f64>().ok().filter(|seconds| TIMEOUT_RANGE.contains(seconds));
            seconds.ok_or_else(|| usage("timeout-seconds", "a number from 0.1 to 600"))
        };
        let deadline = |text: String| {
            let ms = parse_duration_ms(&text).ok().and_then(|ms| u64::try_from(ms / 1_000).ok());
            let seconds = ms.filter(|seconds| DEADLINE_SECONDS.contains(seconds));
            seconds.ok_or_else(|| usage("deadline", "a time from 1s to 24h"))
        };
        Ok(Common {
            operation: text("op"),
            config: text("config"),
            credential_refs: refs.into_iter().flatten().cloned().collect(),
            api_url: text("api-url"),
            timeout_seconds: text("timeout-seconds").map(timeout).transpose()?,
            deadline_seconds: text("deadline").map(deadline).transpose()?,
            limit: whole("limit", &ITEMS)?,
            max_pages: whole("max-pages", &PAGES)?.and_then(|pages| u32::try_from(pages).ok()),
            cursor: text("cursor"),
            cursor_out: text("cursor-out"),
            cassette: Cassette::of(text("cassette").as_deref(), text("cassette-mode").as_deref())?,
            save: switch("save"),
            no_save: switch("no-save"),
            cache: match (switch("refresh"), switch("no-cache")) {
                (true, _) => CacheMode::Refresh,
                (false, true) => CacheMode::NoCache,
                (false, false) => CacheMode::Use,
            },
            print_config: switch("print-config"),
        })
    }
}

fn usage(long: &str, expected: &str) -> Error {
    Error::new(Code::Usage, format!("--{long}: expected {expected}"))
}
