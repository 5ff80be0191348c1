//! The closed list of rules and the profiles that apply them.

use std::fmt;

/// Where redacted text goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Profile {
    /// S: store and logs.
    Store,
    /// O: output to people, agents and platforms.
    Output,
    /// E: exports that leave the installation.
    Export,
}

macro_rules! rules {
    ($($name:ident $id:literal,)+) => {
        /// One rule of the redactor.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Rule { $(#[doc = concat!("`", $id, "`.")] $name,)+ }

        impl Rule {
            /// Every rule.
            pub const ALL: &'static [Rule] = &[$(Rule::$name,)+];

            /// The name in markers and reports.
            pub fn id(self) -> &'static str {
                match self { $(Rule::$name => $id,)+ }
            }

            /// What stands in the place of a hit.
            pub fn marker(self) -> &'static str {
                match self { $(Rule::$name => concat!("[redacted:", $id, "]"),)+ }
            }
        }
    };
}

rules! {
    ExactSecret "exact_secret",
    GithubToken "github_token",
    GitlabToken "gitlab_token",
    SlackToken "slack_token",
    LarkToken "lark_token",
    ModelKey "model_key",
    AwsKey "aws_key",
    GcpKey "gcp_key",
    AzureKey "azure_key",
    StripeKey "stripe_key",
    PackageToken "package_token",
    WebhookSecret "webhook_secret",
    LoomToken "loom_token",
    Jwt "jwt",
    PemBlock "pem_block",
    AgeKey "age_key",
    UrlUserinfo "url_userinfo",
    AuthHeader "auth_header",
    Cookie "cookie",
    SecretKeyName "secret_key_name",
    LocalPath "local_path",
    PrivateAddress "private_address",
    Email "email",
}

impl Rule {
    /// Whether a hit is a secret; the others are private facts.
    pub fn is_secret(self) -> bool {
        !matches!(self, Rule::LocalPath | Rule::PrivateAddress | Rule::Email)
    }

    /// Whether a name before a hit says that it is one; the name stays readable.
    pub(crate) fn is_named(self) -> bool {
        matches!(self, Rule::SecretKeyName | Rule::AuthHeader | Rule::Cookie)
    }

    /// Whether the form of a value alone tells that it is a secret.
    pub(crate) fn is_token(self) -> bool {
        (Rule::GithubToken..=Rule::AgeKey).contains(&self)
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}
