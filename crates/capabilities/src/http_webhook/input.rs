use loom_transport::Place;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

/// Input of `probe`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ProbeInput {
    /// Endpoint to ask
    #[schemars(extend("format" = "uri"), length(max = 2_000))]
    pub(super) url: Option<String>,
    /// Endpoint of the hub, by its name
    #[schemars(length(max = 48))]
    pub(super) endpoint: Option<String>,
    /// Method
    #[serde(default)]
    pub(super) method: Verb,
    /// Body of a POST
    #[schemars(extend("type" = ["array", "object"], "maxItems" = 100_000, "x-cli" = "json-file"))]
    pub(super) json: Option<Value>,
    /// Header as NAME=VALUE; never one that carries a secret
    #[serde(default)]
    #[schemars(length(max = 20), inner(length(max = 1_000)))]
    pub(super) header: Vec<String>,
    /// Where the credential goes: bearer, basic or header:NAME
    #[serde(default = "bearer")]
    #[schemars(length(max = 100))]
    pub(super) auth: String,
    /// Statuses that count as a success, such as 200 or 200-299,304
    #[serde(default = "success")]
    #[schemars(length(max = 100))]
    pub(super) expect_status: String,
    /// jq program over a JSON or YAML body
    #[schemars(length(max = 4_096))]
    pub(super) project: Option<String>,
}

/// Methods of a probe.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub(super) enum Verb {
    #[default]
    Get,
    Post,
    Head,
}

impl Verb {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Verb::Get => "GET",
            Verb::Post => "POST",
            Verb::Head => "HEAD",
        }
    }
}

fn bearer() -> String {
    "bearer".to_owned()
}

fn success() -> String {
    "200-299".to_owned()
}

/// Where a credential goes.
pub(super) enum Auth {
    Bearer,
    Basic,
    Header(String),
}

impl Auth {
    pub(super) fn parse(text: &str) -> Option<Self> {
        Some(match text.split_once(':') {
            None if text == "bearer" => Auth::Bearer,
            None if text == "basic" => Auth::Basic,
            Some(("header", name)) if !name.is_empty() => Auth::Header(name.to_owned()),
            _ => return None,
        })
    }

    pub(super) fn place(self) -> Place {
        match self {
            Auth::Bearer => Place::Bearer,
            Auth::Basic => Place::Basic,
            Auth::Header(name) => Place::Header(name),
        }
    }
}

/// Statuses and ranges of them.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Statuses(Vec<(u16, u16)>);

impl Statuses {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let status =
            |text: &str| text.trim().parse::<u16>().ok().filter(|status| (100..600).contains(status));
        let ranges = text.split(',').map(|part| {
            let (from, to) = part.split_once('-').unwrap_or((part, part));
            let range = (status(from)?, status(to)?);
            (range.0 <= range.1).then_some(range)
        });
        ranges.collect::<Option<_>>().map(Statuses)
    }

    pub(super) fn holds(&self, status: u16) -> bool {
        self.0.iter().any(|(from, to)| (*from..=*to).contains(&status))
    }
}
