//! From an argument vector to an exit status.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{FromArgMatches as _, error::ErrorKind};
use loom_domain::Error;

use crate::cli::{self, Cli, Globals, usage};
use crate::commands;
use crate::context::Context;
use crate::environment::Environment;
use crate::failure::{Failure, INTERRUPTED, Outcome, exit_of};
use crate::input::secrets;
use crate::output::{Format, Look, Printer, Style};

/// Runs the command line of this process and gives its exit status.
pub fn run() -> ExitCode {
    let arguments: Vec<String> =
        std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    let (mut out, mut err) = (io::BufWriter::new(io::stdout().lock()), io::stderr());
    if let [_, word] = arguments.as_slice()
        && (word == "--version" || word == "-V")
    {
        return ExitCode::from(u8::from(version(&mut out).is_err()));
    }
    ExitCode::from(run_with(&arguments, Environment::of_process(), &mut out, &mut err))
}

fn version(out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "loom {}", env!("CARGO_PKG_VERSION"))?;
    out.flush()
}

/// Runs one command line in a given environment.
pub(crate) fn run_with(
    arguments: &[String],
    mut env: Environment,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> u8 {
    let arguments = &cli::rewritten(arguments);
    let parsed =
        secrets::check_arguments(arguments).map_err(Failure::from).and_then(|()| parse(arguments, &env));
    let globals = match &parsed {
        Ok(Parsed::Command(cli)) => cli.globals.clone(),
        _ => Globals { format: cli::format_of(arguments), ..Globals::default() },
    };
    let mut printer = Printer::new(out, err, style(&globals, &env));
    let outcome = match parsed {
        Ok(Parsed::Command(cli)) => execute(*cli, &mut env, &mut printer),
        Ok(Parsed::Text(text)) => printer.document(&text),
        Err(failure) => Err(failure),
    };
    finish(outcome, &mut printer)
}

enum Parsed {
    Command(Box<Cli>),
    Text(String),
}

fn parse(arguments: &[String], env: &Environment) -> Outcome<Parsed> {
    let matches = cli::command().try_get_matches_from(arguments);
    match matches.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(mut cli) => {
            let help = match cli::hook::read(&mut cli)? {
                Some(help) => Some(help),
                None => cli::order::read(&mut cli, &env.home(), &env.variables)?,
            };
            Ok(help.map_or_else(|| Parsed::Command(Box::new(cli)), Parsed::Text))
        }
        Err(_) => explained(arguments),
    }
}

/// What is said of a command line that orders nothing: the help or the version that it asks for, or its fault.
fn explained(arguments: &[String]) -> Outcome<Parsed> {
    let mut command = cli::whole();
    let read =
        command.try_get_matches_from_mut(arguments).and_then(|matches| Cli::from_arg_matches(&matches));
    let Err(error) = read else {
        return Err(Error::internal("a command line is read in one way only").into());
    };
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Ok(Parsed::Text(error.render().to_string())),
        _ => Err(usage::translate(&error, &command, arguments).into()),
    }
}

fn style(globals: &Globals, env: &Environment) -> Style {
    let format = globals.format();
    let colour = format == Format::Human
        && env.stdout_is_terminal
        && !globals.no_color
        && !env.variables.contains_key("NO_COLOR")
        && env.get("TERM") != Some("dumb");
    let columns = env.get("COLUMNS").and_then(|text| text.parse().ok()).or(env.columns);
    Style {
        format,
        colour,
        quiet: globals.quiet,
        columns: columns.filter(|_| env.stdout_is_terminal),
        look: Look { now: env.now, wide: globals.wide },
    }
}

fn execute(cli: Cli, env: &mut Environment, printer: &mut Printer<'_>) -> Outcome {
    if matches!(cli.command, commands::Command::Up(_)) {
        // The hub brings its own runtime and its own signal handling.
        let mut context = Context::new(cli.globals, env, printer);
        return commands::up(cli.command, &mut context);
    }
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(Error::internal)?;
    let mut context = Context::new(cli.globals, env, printer);
    context.order = cli.order;
    context.hook = cli.hook;
    if cli.command.ends_itself() {
        return runtime.block_on(commands::dispatch(cli.command, &mut context));
    }
    runtime.block_on(async {
        tokio::select! {
            outcome = commands::dispatch(cli.command, &mut context) => outcome,
            _ = tokio::signal::ctrl_c() => Err(Failure::Exit(INTERRUPTED)),
        }
    })
}

fn finish(outcome: Outcome, printer: &mut Printer<'_>) -> u8 {
    let outcome = outcome.and_then(|()| printer.flush());
    let exit = match outcome {
        Ok(()) => return 0,
        Err(Failure::Exit(status)) => status,
        Err(Failure::Error(error)) => {
            // Where nobody reads any more, the status still tells what happened.
            drop(printer.failure(&error));
            exit_of(error.code)
        }
    };
    drop(printer.flush());
    exit
}
