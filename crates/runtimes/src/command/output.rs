//! What a program's exit and standard output mean. Pure but for the look at handed-out files.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use serde::Deserialize;

use crate::turn_dir::TurnDir;
use crate::{
    Answer, AnswerSource, ErrClass, HostCtx, OutputForm, RuntimeError, TurnOutcome, TurnStatus, Usage,
};

/// Exit status that means: try again later.
const EXIT_TRY_AGAIN: i32 = 75;
/// Longest thread id in bytes.
const THREAD_BYTES_MAX: usize = 200;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Output {
    answer: Option<String>,
    no_reply: Option<NoReply>,
    thread: Option<String>,
    #[serde(default)]
    files: Vec<String>,
    usage: Option<Usage>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct NoReply {
    reason: String,
}

/// Reads the end of a program that was not stopped by Loom.
pub(super) fn outcome(
    exit: ExitStatus,
    stdout: &[u8],
    form: OutputForm,
    dir: &TurnDir,
    host: &HostCtx,
) -> TurnOutcome {
    match (exit.code(), exit.signal()) {
        (Some(0), _) => completed(stdout, form, dir, host)
            .unwrap_or_else(|error| TurnOutcome::failed(TurnStatus::Failed, error)),
        (Some(code), _) => {
            let error = RuntimeError::new(ErrClass::Exited, format!("the program ended with status {code}"));
            TurnOutcome::failed(TurnStatus::Failed, error.retryable(code == EXIT_TRY_AGAIN))
        }
        (None, signal) => {
            let signal = signal.unwrap_or_default();
            let error =
                RuntimeError::new(ErrClass::Exited, format!("the program was ended by signal {signal}"));
            TurnOutcome::failed(TurnStatus::Interrupted, error)
        }
    }
}

fn completed(
    stdout: &[u8],
    form: OutputForm,
    dir: &TurnDir,
    host: &HostCtx,
) -> Result<TurnOutcome, RuntimeError> {
    let refuse = |why: String| RuntimeError::new(ErrClass::Protocol, why);
    let text =
        std::str::from_utf8(stdout).map_err(|_| refuse("the program's output is not UTF-8".to_owned()))?;
    if form == OutputForm::Text {
        let text = text.trim_end_matches(['\n', '\r']).to_owned();
        let answer = Answer { text, source: AnswerSource::Stdout, files: Vec::new() };
        return Ok(TurnOutcome { answer: Some(answer), ..TurnOutcome::of(TurnStatus::Completed) });
    }
    let output: Output = serde_json::from_str(text).map_err(|error| {
        refuse(format!("the program's output is not one result object: {}", position(&error)))
    })?;
    if output.answer.is_some() && output.no_reply.is_some() {
        return Err(refuse("the result has both an answer and a no_reply".to_owned()));
    }
    if output.thread.as_deref().is_some_and(|thread| !is_thread(thread)) {
        return Err(refuse("the result's thread is not a plain id".to_owned()));
    }
    let files = dir.collect(&output.files, host)?;
    let text = output.answer.or_else(|| if files.is_empty() { None } else { Some(String::new()) });
    Ok(TurnOutcome {
        answer: text.map(|text| Answer { text, source: AnswerSource::Declared, files }),
        no_reply: output.no_reply.map(|no_reply| no_reply.reason),
        thread: output.thread,
        usage: output.usage,
        ..TurnOutcome::of(TurnStatus::Completed)
    })
}

/// Where the output went wrong; its content is not repeated.
fn position(error: &serde_json::Error) -> String {
    format!("line {}, column {}", error.line(), error.column())
}

/// A thread id becomes an argument, so it must not look like an option.
fn is_thread(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= THREAD_BYTES_MAX
        && !text.starts_with('-')
        && text.bytes().all(|byte| byte.is_ascii_graphic())
}
