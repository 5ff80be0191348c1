//! Schedules. Their members are in `snake_case`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A schedule as it should be; what belongs to reports and to Turns is refused of the other.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AddSchedule {
    /// Name.
    pub name: String,
    /// Five fields, or `@daily`, `@weekly`, `@monthly`.
    pub cron: String,
    /// IANA zone.
    pub tz: String,
    /// Whether it runs; absent means that it does not.
    #[serde(default)]
    pub enabled: bool,
    /// Profile of the report; absent means `weekly`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// Window of the report, by name; absent means that of the profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<String>,
    /// `en` or `zh`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lang: Option<String>,
    /// Forms that are delivered; none means Markdown and HTML.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub formats: Vec<String>,
    /// Memberships that get the report.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub to: Vec<String>,
    /// `loom.turn_config/v1` of the Turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<Value>,
}
