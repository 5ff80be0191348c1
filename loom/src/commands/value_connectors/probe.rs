//! `loom value-connectors probe ID`.

use clap::Subcommand;

/// Run the operation `probe` of a connector
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom value-connectors probe github-public-probe",
    "loom value-connectors probe github-public-probe \\\n    --url https://github.com/owner/repo/issues/123"
))]
pub(super) struct Args {
    #[command(subcommand)]
    connector: Connector,
}

/// A connector with its flags.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
enum Connector {
    /// Id of the connector, and its flags
    #[command(external_subcommand)]
    Id(Vec<String>),
}

impl Args {
    pub(super) fn words(&self) -> &[String] {
        let Connector::Id(words) = &self.connector;
        words
    }
}
