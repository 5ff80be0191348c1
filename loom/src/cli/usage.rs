//! Turns a command line that cannot be parsed into an error of the closed list.

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use loom_domain::{Code, Error};

use super::nearest::nearest;

/// Where the commands of secrets stand.
const SECRETS: &str = "loom secret";

/// The error of a command line that clap refused.
pub(crate) fn translate(error: &clap::Error, root: &Command, arguments: &[String]) -> Error {
    if let Some(own) = std::error::Error::source(error).and_then(|source| source.downcast_ref::<Error>()) {
        let (_, command) = reached(root, arguments);
        return named(own.clone(), context(error, ContextKind::InvalidArg), command);
    }
    let (path, command) = reached(root, arguments);
    translate_at(error, &path, command)
}

/// The error of a command that stands below another one.
pub(crate) fn translate_below(
    error: &clap::Error,
    path: &str,
    root: &Command,
    arguments: &[String],
) -> Error {
    let (path, command) = reached_from(path, root, arguments);
    translate_at(error, &path, command)
}

/// The error of a command that was reached already.
pub(crate) fn translate_at(error: &clap::Error, path: &str, command: &Command) -> Error {
    let code = match error.kind() {
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => Code::InvalidArgument,
        ErrorKind::MissingRequiredArgument => Code::MissingField,
        ErrorKind::ArgumentConflict => Code::MutuallyExclusive,
        _ => Code::Usage,
    };
    if path.starts_with(SECRETS) && matches!(code, Code::Usage | Code::InvalidArgument) {
        return unsaid(error, path);
    }
    if matches!(
        error.kind(),
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand
    ) {
        let names: Vec<&str> =
            command.get_subcommands().map(Command::get_name).filter(|name| *name != "help").collect();
        return Error::new(code, format!("a command is missing: {}", names.join(", ")))
            .with_hint(format!("{path} --help"));
    }
    let mut hint = format!("{path} --help");
    if let Some(near) = suggestion(error, command) {
        hint = format!("did you mean `{near}`? See {path} --help");
    }
    Error::new(code, plain(sentence(error), command)).with_hint(hint)
}

/// What a command of secrets did not understand may be the secret: it is not repeated.
fn unsaid(error: &clap::Error, path: &str) -> Error {
    let word = context(error, ContextKind::InvalidArg).unwrap_or_default();
    let flag = word.split(['=', ' ']).next().unwrap_or_default();
    let message = match (error.kind(), flag.starts_with("--")) {
        (ErrorKind::UnknownArgument, true) => "unexpected flag",
        (ErrorKind::UnknownArgument, false) => {
            "unexpected word; it is not repeated here, as it may be a secret"
        }
        (ErrorKind::InvalidSubcommand, _) => "unknown command",
        _ => "a value has the wrong form",
    };
    Error::new(Code::Usage, message)
        .with_hint(format!("pipe the value in, or give it with --file; see {path} --help"))
}

/// Arguments by what they are instead of by their placeholders.
fn plain(mut text: String, command: &Command) -> String {
    for argument in command.get_positionals() {
        let Some(name) = argument.get_value_names().and_then(|names| names.first()) else { continue };
        let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
        let words = help.split([':', ';', ',']).next().filter(|words| !words.is_empty());
        let words = words.map_or_else(|| name.to_lowercase(), str::to_owned);
        for placeholder in
            [format!("<{name}>..."), format!("[{name}]..."), format!("<{name}>"), format!("[{name}]")]
        {
            text = text.replace(&placeholder, &words);
        }
    }
    text
}

/// An own error of a value, with the flag it belongs to.
fn named(mut error: Error, argument: Option<String>, command: &Command) -> Error {
    if let Some(argument) = argument {
        let is_flag = argument.starts_with('-');
        let flag = match is_flag {
            true => argument.split_whitespace().next().unwrap_or_default().to_owned(),
            false => plain(argument, command),
        };
        error.message = format!("{flag}: {}", error.message);
    }
    error
}

/// The first sentence of clap's message, lower case, without its prefix.
fn sentence(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let first = text.split("\n\n").next().unwrap_or_default().trim_start_matches("error: ");
    let words: Vec<&str> = first.split_whitespace().collect();
    words.join(" ").trim_end_matches('.').to_owned()
}

/// The deepest command that the words of a command line reach.
fn reached<'a>(root: &'a Command, arguments: &[String]) -> (String, &'a Command) {
    reached_from("loom", root, arguments)
}

fn reached_from<'a>(path: &str, root: &'a Command, arguments: &[String]) -> (String, &'a Command) {
    let (mut path, mut at) = (path.to_owned(), root);
    for word in arguments.iter().skip(1).take_while(|word| *word != "--") {
        if let Some(next) = at.find_subcommand(word) {
            path = format!("{path} {}", next.get_name());
            at = next;
        }
    }
    (path, at)
}

fn suggestion(error: &clap::Error, command: &Command) -> Option<String> {
    match error.kind() {
        ErrorKind::UnknownArgument => {
            let word = context(error, ContextKind::InvalidArg)?;
            let word = word.trim_start_matches('-').split('=').next().unwrap_or_default().to_owned();
            let flags = command.get_arguments().filter_map(clap::Arg::get_long);
            nearest(&word, flags).map(|flag| format!("--{flag}"))
        }
        ErrorKind::InvalidSubcommand => {
            let word = context(error, ContextKind::InvalidSubcommand)?;
            nearest(&word, command.get_subcommands().map(Command::get_name)).map(str::to_owned)
        }
        ErrorKind::InvalidValue => context(error, ContextKind::SuggestedValue),
        _ => None,
    }
}

fn context(error: &clap::Error, kind: ContextKind) -> Option<String> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(text.clone()),
        ContextValue::Strings(list) => list.first().cloned(),
        _ => None,
    }
}
