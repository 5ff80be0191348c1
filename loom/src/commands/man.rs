//! `loom man`.

use std::io;
use std::path::Path;

use clap::Command;
use loom_domain::{Code, Error};

use crate::cli;
use crate::context::Context;
use crate::failure::Outcome;

/// Print the manual, or write its pages
#[derive(Debug, clap::Args)]
#[command(after_help = examples!("loom man | man -l -", "loom man --out man1"))]
pub(crate) struct Args {
    /// Directory for the pages
    #[arg(long, value_name = "DIR")]
    out: Option<String>,
}

/// Prints or writes it.
pub(crate) fn run(args: &Args, cx: &mut Context<'_, '_>) -> Outcome {
    let root = cli::documented();
    let Some(dir) = &args.out else {
        return cx.out.document(&page(root, "loom")?);
    };
    std::fs::create_dir_all(dir).map_err(|error| unwritable(dir, &error))?;
    write(&root, "loom", Path::new(dir), cx)
}

/// Writes the page of a command and those below it.
fn write(command: &Command, name: &str, dir: &Path, cx: &mut Context<'_, '_>) -> Outcome {
    let path = dir.join(format!("{name}.1"));
    let text = page(command.clone(), name)?;
    std::fs::write(&path, text).map_err(|error| unwritable(&path.to_string_lossy(), &error))?;
    cx.out.note(&path.to_string_lossy())?;
    let below = command.get_subcommands().filter(|sub| !sub.is_hide_set() && sub.get_name() != "help");
    below.into_iter().try_for_each(|sub| write(sub, &format!("{name}-{}", sub.get_name()), dir, cx))
}

fn page(command: Command, name: &str) -> Outcome<String> {
    let mut text = Vec::new();
    let command =
        command.name(name.to_owned()).version(env!("CARGO_PKG_VERSION")).disable_help_subcommand(true);
    clap_mangen::Man::new(command).render(&mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

fn unwritable(path: &str, error: &io::Error) -> Error {
    Error::new(Code::InvalidInput, format!("{path} cannot be written: {error}"))
        .with_hint("Name a directory that you may write to.")
}
