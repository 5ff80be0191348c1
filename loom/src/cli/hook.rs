//! Commands of webhooks: they stand behind a connector's name, where other words are its operations.

use clap::error::ErrorKind;
use clap::{FromArgMatches as _, Subcommand as _};

use super::order::{global_flags, merge};
use super::{Cli, HELP_COLUMNS, usage};
use crate::commands::HttpWebhook;
use crate::failure::Outcome;

/// The path of the commands, without `loom`.
const PATH: &str = "value-connectors http-webhook";

/// The command with its subcommands.
pub(crate) fn command() -> clap::Command {
    // An endpoint has a URL of its own.
    let globals = global_flags(&["url".to_owned()]).into_iter().map(|arg| arg.global(true));
    HttpWebhook::augment_subcommands(clap::Command::new("http-webhook"))
        .bin_name(format!("loom {PATH}"))
        .max_term_width(HELP_COLUMNS)
        .disable_version_flag(true)
        .subcommand_required(true)
        .args(globals)
}

/// Reads them, if that is what was typed; gives a help text, if that is asked for.
pub(crate) fn read(cli: &mut Cli) -> Outcome<Option<String>> {
    let Some(words) = cli.command.hook_words() else { return Ok(None) };
    let mut command = command();
    let matches = match command.try_get_matches_from_mut(words) {
        Ok(matches) => matches,
        Err(error) if error.kind() == ErrorKind::DisplayHelp => return Ok(Some(error.render().to_string())),
        Err(error) => {
            return Err(usage::translate_below(&error, &format!("loom {PATH}"), &command, words).into());
        }
    };
    let hook = HttpWebhook::from_arg_matches(&matches)
        .map_err(|error| usage::translate_at(&error, &format!("loom {PATH}"), &command))?;
    merge(&mut cli.globals, &matches);
    cli.hook = Some(Box::new(hook));
    Ok(None)
}
