//! JSON documents and texts named on the command line.

use std::fs::File;
use std::path::Path;

use loom_domain::{Code, Error, Result};
use serde::de::DeserializeOwned;

use super::body::read_limited;
use super::secrets;
use crate::environment::Environment;

/// Largest document, bytes.
const DOCUMENT_BYTES_MAX: usize = 256 * 1024;

/// Reads a text file up to a limit.
pub(crate) fn read_text(path: &str, bytes_max: usize) -> Result<String> {
    let mut file = File::open(Path::new(path)).map_err(|error| {
        Error::new(Code::InvalidInput, format!("{path} cannot be read: {error}"))
            .with_hint("Name a file that you may read.")
    })?;
    read_limited(&mut file, bytes_max)
}

/// Reads one JSON object from a file or, for `-`, from standard input.
pub(crate) fn read_json<T: DeserializeOwned>(path: &str, env: &mut Environment) -> Result<T> {
    let text = match path {
        "-" => read_limited(&mut env.stdin.reader, DOCUMENT_BYTES_MAX),
        path => read_text(path, DOCUMENT_BYTES_MAX),
    };
    let too_large = |mut error: Error| {
        if error.code == Code::TextTooLong {
            error = Error::new(Code::TooLarge, format!("the document is over {DOCUMENT_BYTES_MAX} bytes"));
        }
        error
    };
    let text = text.map_err(too_large)?;
    secrets::check(&text, "the document")?;
    serde_json::from_str(&text).map_err(|error| refused(&error))
}

/// Tells malformed JSON, an unknown key, a missing key and a wrong value apart.
fn refused(error: &serde_json::Error) -> Error {
    let text = error.to_string();
    let code = match () {
        () if !error.is_data() => Code::InvalidJson,
        () if text.starts_with("unknown field") => Code::UnknownField,
        () if text.starts_with("missing field") => Code::MissingField,
        () if text.starts_with("duplicate field") => Code::InvalidJson,
        () => Code::InvalidArgument,
    };
    Error::new(code, format!("the document: {text}"))
}

#[cfg(test)]
mod tests {
    use loom_api::request::SetMembership;

    use super::*;

    fn parse(text: &'static str) -> Result<SetMembership> {
        let mut env = Environment::empty();
        env.stdin.reader = Box::new(text.as_bytes());
        read_json("-", &mut env)
    }

    #[test]
    fn the_document_people_already_write_is_valid() {
        let text = r#"{"conversationType":"dm","actorId":"u1","displayName":"Ann","purpose":"a","role":"b",
            "guidance":"c","triggerPolicy":"direct","replyPolicy":"final_answer","outboundPolicy":"reply_only",
            "enabled":false}"#;
        assert_eq!(parse(text).unwrap().actor_id.as_deref(), Some("u1"));
    }

    #[test]
    fn each_fault_has_its_code() {
        assert_eq!(parse("{").unwrap_err().code, Code::InvalidJson);
        assert_eq!(parse(r#"{"trigger":"all"}"#).unwrap_err().code, Code::UnknownField);
        assert_eq!(parse(r#"{"triggerPolicy":"loud"}"#).unwrap_err().code, Code::InvalidArgument);
    }
}
