//! What a periodic report is asked for. Documents of reports are `snake_case`.

use serde::{Deserialize, Serialize};

/// A report that is made, or only shown.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Report {
    /// Profile; absent means `weekly`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// Window; absent means that of the profile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<String>,
    /// IANA zone; absent means UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tz: Option<String>,
    /// `en` or `zh`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lang: Option<String>,
    /// Forms that are delivered, comma separated; absent means Markdown and HTML.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forms: Option<String>,
    /// Memberships that get it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub to: Vec<String>,
    /// Whether nothing is kept or sent.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub preview: bool,
}
