//! `loom.toml` (platform specification D.2): built-in defaults, then the file, then `LOOM_SECTION__KEY` variables.

mod sections;

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

use loom_capabilities::check_repos;
use loom_domain::{Code, Error, Result, validate};
use serde::{Deserialize, Serialize};

pub use sections::{
    CapabilitiesSection, Connections, HubSection, Inbound, Inbox, Lease, Listen, Log, Outbox,
    PrReviewSection, ReportSection, Retention, Runtimes, StoreSection, Tls, Transport, Trust,
};

/// The whole configuration.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Listener of the API.
    pub listen: Listen,
    /// The hub itself.
    pub hub: HubSection,
    /// The store.
    pub store: StoreSection,
    /// Leases.
    pub lease: Lease,
    /// Inbound events.
    pub inbound: Inbound,
    /// Inbox and Turns.
    pub inbox: Inbox,
    /// Outbox.
    pub outbox: Outbox,
    /// Connections.
    pub connections: Connections,
    /// The door out.
    pub transport: Transport,
    /// Trust domains.
    pub trust: Trust,
    /// Runtime processes.
    pub runtimes: Runtimes,
    /// Single capabilities.
    pub capabilities: CapabilitiesSection,
    /// Periodic reports.
    pub report: ReportSection,
    /// How long records are kept.
    pub retention: Retention,
    /// Logs.
    pub log: Log,
}

const FILE_BYTES_MAX: u64 = 1_048_576;

impl Config {
    /// Reads the file (absent is fine) and the variables that `environment` yields.
    pub fn load(path: &Path, environment: impl Iterator<Item = (String, String)>) -> Result<Config> {
        match File::open(path) {
            Ok(file) => Config::parse(&text_of(file)?, environment),
            Err(cause) if cause.kind() == ErrorKind::NotFound => {
                Config::overlaid(toml::Table::new(), environment)
            }
            Err(cause) => Err(unreadable(&cause)),
        }
    }

    /// Parses a file's text and overlays the variables.
    pub fn parse(text: &str, environment: impl Iterator<Item = (String, String)>) -> Result<Config> {
        let table: toml::Table = text.parse().map_err(|cause: toml::de::Error| {
            Error::new(Code::InvalidArgument, format!("loom.toml is not valid TOML: {}", cause.message()))
        })?;
        Config::overlaid(table, environment)
    }

    fn overlaid(
        mut table: toml::Table,
        environment: impl Iterator<Item = (String, String)>,
    ) -> Result<Config> {
        for (name, value) in environment {
            overlay(&mut table, &name, &value);
        }
        if table.is_empty() {
            return Ok(Config::default());
        }
        let config: Config =
            toml::Value::Table(table).try_into().map_err(|cause: toml::de::Error| unknown_key(&cause))?;
        config.check()?;
        Ok(config)
    }

    fn check(&self) -> Result<()> {
        if !(1..=16).contains(&self.outbox.conversations_in_flight) {
            return Err(Error::invalid("outbox.conversations_in_flight", "expected 1 to 16"));
        }
        let inbound_age_s = u64::try_from(self.inbound.max_age_s).unwrap_or(0);
        validate::check_range("inbound.max_age_s", inbound_age_s, &validate::INBOUND_AGE_SECONDS)?;
        if let Some(repos) = &self.capabilities.pr_review.repos {
            check_repos(repos)
                .map_err(|error| Error::invalid("capabilities.pr_review.repos", &error.message))?;
        }
        if self.retention.event_key_days < 2 {
            return Err(Error::invalid("retention.event_key_days", "expected at least 2"));
        }
        Ok(())
    }
}

fn text_of(file: File) -> Result<String> {
    let mut text = String::new();
    let read = file.take(FILE_BYTES_MAX + 1).read_to_string(&mut text).map_err(|cause| unreadable(&cause))?;
    if read as u64 > FILE_BYTES_MAX {
        return Err(Error::new(Code::TooLarge, "loom.toml is larger than 1 MiB"));
    }
    Ok(text)
}

fn unreadable(cause: &std::io::Error) -> Error {
    Error::new(Code::InvalidArgument, format!("loom.toml cannot be read: {cause}"))
}

/// Puts `LOOM_SECTION__KEY=value` into the table; `LOOM_DATABASE_URL` is `store.url`.
fn overlay(table: &mut toml::Table, name: &str, value: &str) {
    let path = match name {
        "LOOM_DATABASE_URL" => Some(("store".to_owned(), "url".to_owned())),
        _ => name
            .strip_prefix("LOOM_")
            .and_then(|rest| rest.split_once("__"))
            .map(|(section, key)| (section.to_ascii_lowercase(), key.to_ascii_lowercase())),
    };
    let Some((section, key)) = path else { return };
    let parsed = format!("v = {value}")
        .parse::<toml::Table>()
        .ok()
        .and_then(|mut t| t.remove("v"))
        .unwrap_or_else(|| toml::Value::String(value.to_owned()));
    let entry = table.entry(section).or_insert_with(|| toml::Value::Table(toml::Table::new()));
    if let Some(section) = entry.as_table_mut() {
        section.insert(key, parsed);
    }
}

fn unknown_key(cause: &toml::de::Error) -> Error {
    let message = cause.message().to_owned();
    let code = if message.contains("unknown field") { Code::ConfigUnknownKey } else { Code::InvalidArgument };
    Error::new(code, format!("loom.toml: {message}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_keys_stop_the_start_and_variables_win() {
        let none = || std::iter::empty();
        assert_eq!(Config::parse("[outbox]\nretry = 1", none()).unwrap_err().code, Code::ConfigUnknownKey);
        let set = |name: &str, value: &str| std::iter::once((name.to_owned(), value.to_owned()));
        let config =
            Config::parse("[listen]\naddress = \"127.0.0.1:1\"", set("LOOM_LISTEN__ADDRESS", "127.0.0.1:2"))
                .unwrap();
        assert_eq!(config.listen.address, "127.0.0.1:2");
        assert_eq!(
            Config::parse("", set("LOOM_OUTBOX__CONVERSATIONS_IN_FLIGHT", "8"))
                .unwrap()
                .outbox
                .conversations_in_flight,
            8
        );
        assert_eq!(
            Config::parse("# nothing is set", none()).unwrap(),
            Config::parse("[outbox]", none()).unwrap()
        );
        assert_eq!(Config::load(Path::new("/dev/zero"), none()).unwrap_err().code, Code::TooLarge);
        assert!(Config::parse("[outbox]\nconversations_in_flight = 17", none()).is_err());
        let repos = |list: &str| Config::parse(&format!("[capabilities.pr_review]\nrepos = {list}"), none());
        assert_eq!(repos("[\"acme/*\"]").unwrap().capabilities.pr_review.repos.unwrap(), ["acme/*"]);
        assert_eq!(repos("[\"acme\"]").unwrap_err().code, Code::InvalidArgument);
    }
}
