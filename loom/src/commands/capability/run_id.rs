//! `loom capability run ID`.

use clap::Subcommand;

/// Run a capability
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom capability run github_public_probe --help",
    "loom capability run github_public_probe \\\n    --url https://github.com/owner/repo/issues/123"
))]
pub(super) struct Args {
    #[command(subcommand)]
    capability: Id,
}

/// A capability with its flags.
#[derive(Debug, Subcommand)]
enum Id {
    /// Id of the capability, and its flags
    #[command(external_subcommand)]
    Id(Vec<String>),
}

impl Args {
    pub(super) fn words(&self) -> &[String] {
        let Id::Id(words) = &self.capability;
        words
    }
}
