//! Text Parts.

use std::collections::BTreeSet;

use loom_domain::outbox::Step;
use loom_domain::{Error, TextFormat, Timestamp};
use loom_markup::slack::{
    MARKDOWN_LIMIT, PLAIN_LIMIT, escape_control, mention_ids, plain_to_slack, to_slack,
};
use loom_markup::{Limit, Unit, tables_to_fences};
use serde_json::{Map, Value, json};

use super::super::errors::Effect;
use super::super::wire::{text, ts_ms};
use super::super::{FILE_BYTES_MAX, Inner, METADATA_TYPE};
use super::thread_of;
use crate::sending::{self, commit};
use crate::{Fault, FaultClass, Progress, SendPart, SentIds};

/// Cuts a text so that each chunk fits after its translation.
pub(in super::super) fn split(
    text: &str,
    format: TextFormat,
    chunks_max: usize,
) -> Result<Vec<String>, Error> {
    let (text, limit) = match format {
        TextFormat::Markdown => {
            (tables_to_fences(text), Limit { max: MARKDOWN_LIMIT.max, unit: Unit::SlackMarkdown })
        }
        TextFormat::Plain => (text.to_owned(), Limit { max: PLAIN_LIMIT.max, unit: Unit::SlackPlain }),
    };
    sending::split(&text, limit, chunks_max)
}

/// Refuses a file that the platform would refuse.
pub(in super::super) fn check_size(name: &str, size: u64) -> Result<(), Error> {
    sending::check_size("slack", FILE_BYTES_MAX, name, size)
}

impl Inner {
    pub(super) async fn deliver_text(
        &self,
        part: &SendPart,
        progress: &dyn Progress,
    ) -> Result<SentIds, Fault> {
        let request = request(part);
        commit(progress, Step::Publish, None).await?;
        let answer = self.api.call("chat.postMessage", request, Effect::Publish).await?;
        sent(&answer.body, part)
    }
}

fn request(part: &SendPart) -> Value {
    let body = part.text.as_deref().unwrap_or("");
    let mut request = Map::new();
    request.insert("channel".into(), json!(part.conversation_id));
    match part.format {
        TextFormat::Markdown => {
            request.insert("markdown_text".into(), json!(markdown(body)));
        }
        TextFormat::Plain => {
            request.insert("text".into(), json!(plain_to_slack(body)));
            request.insert("mrkdwn".into(), json!(false));
        }
    }
    if let Some(thread) = thread_of(part) {
        request.insert("thread_ts".into(), json!(thread));
    }
    request.insert("unfurl_links".into(), json!(false));
    request.insert("unfurl_media".into(), json!(false));
    request.insert("metadata".into(), metadata(part));
    Value::Object(request)
}

/// A `mention:` link names its id, which is the permission for that one mention.
fn markdown(body: &str) -> String {
    let allowed: BTreeSet<String> = mention_ids(body);
    let text = to_slack(body, &allowed);
    // A chunk may show a table that the whole text did not hold; then its plain form is the one that fits.
    if Unit::Utf16.of(&text) <= MARKDOWN_LIMIT.max { text } else { escape_control(body) }
}

fn metadata(part: &SendPart) -> Value {
    json!({"event_type": METADATA_TYPE, "event_payload": {
        "out": part.outbox_id.as_str(), "part": part.part_id.as_str(), "att": part.attempt_id.as_str()}})
}

/// A success without an id proves nothing.
fn sent(body: &Value, part: &SendPart) -> Result<SentIds, Fault> {
    let ts = text(body, "ts").ok_or_else(|| {
        Fault::new(FaultClass::Unknown, "missing_ts", "chat.postMessage: the answer names no message")
    })?;
    Ok(SentIds {
        message_id: Some(ts.to_owned()),
        file_id: None,
        thread_id: thread_of(part).map(str::to_owned),
        permalink: None,
        provider_time: ts_ms(ts).map(Timestamp),
    })
}

#[cfg(test)]
mod tests {
    use loom_domain::Code;

    use super::*;

    /// MSG-175: chunks fit after translation, also when every character is escaped.
    #[test]
    fn msg_175_chunks_fit_after_translation() {
        for (format, limit) in
            [(TextFormat::Markdown, MARKDOWN_LIMIT.max), (TextFormat::Plain, PLAIN_LIMIT.max)]
        {
            for text in [
                "<!here> & ".repeat(2_000),
                "| a | b |\n|---|---|\n".to_owned() + &"| x | <@U1> |\n".repeat(900),
            ] {
                for chunk in split(&text, format, 20).unwrap() {
                    let sent = if format == TextFormat::Markdown {
                        markdown(&chunk)
                    } else {
                        plain_to_slack(&chunk)
                    };
                    assert!(Unit::Utf16.of(&sent) <= limit);
                }
            }
        }
        let error = split(&"word ".repeat(100_000), TextFormat::Markdown, 20).unwrap_err();
        assert_eq!(error.code, Code::TextTooLong);
    }

    /// MSG-169: a success without an id is not a delivery.
    #[test]
    fn msg_169_a_success_without_ts_is_unknown() {
        let part = crate::slack::tests::text_part("C1", "x");
        let fault = sent(&json!({"ok": true, "channel": "C1"}), &part).unwrap_err();
        assert_eq!(fault.class, FaultClass::Unknown);
        assert_eq!(
            sent(&json!({"ok": true, "ts": "1.000100"}), &part).unwrap().message_id.as_deref(),
            Some("1.000100")
        );
    }

    #[test]
    fn a_file_is_checked_before_it_is_stored() {
        assert!(check_size("a.pdf", 1).is_ok());
        for (name, size) in [("a.pdf", 0), ("a.pdf", FILE_BYTES_MAX + 1), (" ", 5)] {
            assert_eq!(check_size(name, size).unwrap_err().code, Code::FileRefused);
        }
    }
}
