//! The named fields of a credential.

use std::collections::BTreeMap;

use crate::Secret;

/// What a credential is for; it decides the names of its fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A Slack app.
    Slack,
    /// A Feishu or Lark app.
    Feishu,
    /// A Parall agent.
    Parall,
    /// A GitHub token.
    Github,
    /// A webhook's signing secret.
    Webhook,
    /// A key that git uses over SSH.
    DeployKey,
    /// One value without a meaning of its own.
    Plain,
}

impl Kind {
    /// The field that a bare value fills.
    pub fn main_field(self) -> &'static str {
        self.required().first().copied().unwrap_or("value")
    }

    /// Fields without which the credential is of no use.
    pub fn required(self) -> &'static [&'static str] {
        match self {
            Kind::Slack => &["bot_token"],
            Kind::Feishu => &["app_secret", "app_id"],
            Kind::Parall => &["api_key"],
            Kind::Github => &["token"],
            Kind::Webhook => &["secret"],
            Kind::DeployKey => &["ssh_key"],
            Kind::Plain => &["value"],
        }
    }

    /// All fields, the main one first.
    pub fn fields(self) -> &'static [&'static str] {
        match self {
            Kind::Slack => &["bot_token", "app_token", "signing_secret"],
            Kind::Feishu => &["app_secret", "app_id", "encrypt_key", "verification_token"],
            Kind::Parall => &["api_key", "owner_key"],
            _ => self.required(),
        }
    }

    /// Whether the field is an identifier that the provider shows openly.
    pub(crate) fn is_public(field: &str) -> bool {
        field == "app_id"
    }
}

/// The resolved fields of one credential.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fields(BTreeMap<String, Secret>);

impl Fields {
    /// The field's value.
    pub fn get(&self, field: &str) -> Option<&Secret> {
        self.0.get(field)
    }

    /// Names of the fields that are there.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Fields with their values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Secret)> {
        self.0.iter().map(|(name, secret)| (name.as_str(), secret))
    }

    /// Adds or replaces a field.
    pub fn insert(&mut self, field: impl Into<String>, secret: Secret) {
        self.0.insert(field.into(), secret);
    }

    /// Whether there is no field.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
