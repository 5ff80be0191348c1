//! Refuses secrets that were typed where only a reference may stand.

use loom_domain::{Code, Error, Result};

/// Checks every word of a command line. The value is not echoed.
pub(crate) fn check_arguments(arguments: &[String]) -> Result<()> {
    arguments.iter().skip(1).try_for_each(|word| check(word, "the command line"))
}

/// Checks a document.
pub(crate) fn check(text: &str, place: &str) -> Result<()> {
    // A reference such as `keychain:NAME` is exempt; behind `--flag=` it must stand alone to be known as one.
    let value = match text.split_once('=') {
        Some((flag, value)) if flag.starts_with("--") => value,
        _ => text,
    };
    match loom_secrets::find_secret_in_input(value) {
        None => Ok(()),
        Some(rule) => Err(Error::new(Code::SecretInInput, format!("{place} holds a secret and was refused"))
            .with_detail("rule", rule.id())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// MSG-024: a token on the command line is refused and not echoed.
    #[test]
    fn msg_024_a_token_in_argv_is_refused() {
        let token = format!("xoxb-{}-{}", "1234567890123-1234567890123", "abcdefghijklmnopqrstuvwx");
        for word in [token.clone(), format!("--credential-ref={token}"), format!("look at {token} please")] {
            let error = check_arguments(&["loom".to_owned(), word]).unwrap_err();
            assert_eq!(error.code, Code::SecretInInput);
            assert!(!serde_json::to_string(&error).unwrap().contains("abcdefghijkl"));
        }
        let good = ["loom", "--credential-ref=keychain:loom.slack.A0123", "env:SLACK_BOT_TOKEN", "hello"];
        assert!(check_arguments(&good.map(str::to_owned)).is_ok());
    }
}
