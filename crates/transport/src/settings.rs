//! The numbers of the transport; the defaults are those of the configuration's `[transport]`.

use std::time::Duration;

use loom_domain::{Code, Error, Result};

use crate::scope::Rates;

/// Shortest and longest time limit of one attempt.
const LIMIT_RANGE: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(600));
/// Shortest and longest overall deadline.
const DEADLINE_RANGE: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(86_400));
/// Most attempts that can be asked for.
const ATTEMPTS_MAX: u32 = 10;
/// Largest cap of an answer.
const RESPONSE_BYTES_MAX: u64 = 1024 * 1024 * 1024;
/// Largest request body that is held in memory.
const REQUEST_BYTES_MAX: u64 = 100 * 1024 * 1024;
/// Smallest cap of a body.
const BODY_BYTES_MIN: u64 = 1024;

/// Time limits, attempts and body caps.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// DNS, TCP and TLS together.
    pub connect_timeout: Duration,
    /// Silence between two bytes.
    pub read_timeout: Duration,
    /// One attempt.
    pub total_timeout: Duration,
    /// The call with its waits and retries.
    pub deadline: Duration,
    /// Attempts of one call.
    pub attempts: u32,
    /// Decoded answer body.
    pub response_bytes_max: u64,
    /// Request body that is held in memory.
    pub request_bytes_max: u64,
    /// Hands names to the proxy instead of checked addresses.
    pub proxy_resolves: bool,
    /// Rates of the known scopes.
    pub rates: Rates,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            connect_timeout: Duration::from_secs(5),
            read_timeout: Duration::from_secs(15),
            total_timeout: Duration::from_secs(30),
            deadline: Duration::from_secs(120),
            attempts: 3,
            response_bytes_max: 10 * 1024 * 1024,
            request_bytes_max: 10 * 1024 * 1024,
            proxy_resolves: false,
            rates: Rates::default(),
        }
    }
}

impl Settings {
    /// Refuses numbers outside their ranges.
    pub(crate) fn check(&self) -> Result<()> {
        for (name, limit) in [
            ("connect_timeout", self.connect_timeout),
            ("read_timeout", self.read_timeout),
            ("total_timeout", self.total_timeout),
        ] {
            check_limit(name, limit)?;
        }
        check_range("deadline", self.deadline, DEADLINE_RANGE)?;
        check_attempts(self.attempts)?;
        check_cap(self.response_bytes_max)?;
        check_number("request_bytes_max", self.request_bytes_max, (BODY_BYTES_MIN, REQUEST_BYTES_MAX))?;
        check_number("github_concurrency", self.rates.github_concurrency.into(), (1, 32))?;
        check_number("github_reserve", self.rates.github_reserve.into(), (0, 1_000))
    }
}

pub(crate) fn check_limit(name: &str, limit: Duration) -> Result<()> {
    check_range(name, limit, LIMIT_RANGE)
}

pub(crate) fn check_deadline(limit: Duration) -> Result<()> {
    check_range("deadline", limit, DEADLINE_RANGE)
}

pub(crate) fn check_attempts(attempts: u32) -> Result<()> {
    if (1..=ATTEMPTS_MAX).contains(&attempts) { Ok(()) } else { Err(usage("attempts", "1 to 10")) }
}

pub(crate) fn check_cap(bytes: u64) -> Result<()> {
    let fits = (BODY_BYTES_MIN..=RESPONSE_BYTES_MAX).contains(&bytes);
    if fits { Ok(()) } else { Err(usage("max_body_bytes", "1 KiB to 1 GiB")) }
}

fn check_number(name: &str, value: u64, (least, most): (u64, u64)) -> Result<()> {
    if (least..=most).contains(&value) { Ok(()) } else { Err(usage(name, &format!("{least} to {most}"))) }
}

fn check_range(name: &str, value: Duration, (least, most): (Duration, Duration)) -> Result<()> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(usage(name, &format!("{} to {} seconds", least.as_secs_f64(), most.as_secs_f64())))
}

pub(crate) fn usage(name: &str, range: &str) -> Error {
    Error::new(Code::Usage, format!("{name} is out of range: {range}")).with_detail("field", name)
}
