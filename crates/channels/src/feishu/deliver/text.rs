//! Text Parts.

use loom_domain::outbox::Step;
use loom_domain::{Error, TextFormat};
use loom_markup::feishu::{CHUNK_LIMIT, guard_md, plain_to_text, to_md};
use loom_markup::{Limit, Unit, tables_to_fences};
use serde_json::{Value, json};

use super::super::Inner;
use super::super::errors::BAD_PARAMETER;
use super::Place;
use crate::sending::{self, commit};
use crate::{Fault, Progress, SendPart, SentIds};

/// Largest file the platform takes, bytes.
const FILE_BYTES_MAX: u64 = 30 * 1024 * 1024;

/// Cuts a text so that each chunk fits after its translation.
pub(in super::super) fn split(
    text: &str,
    format: TextFormat,
    chunks_max: usize,
) -> Result<Vec<String>, Error> {
    let (text, limit) = match format {
        TextFormat::Markdown => {
            (tables_to_fences(text), Limit { max: CHUNK_LIMIT.max, unit: Unit::FeishuMarkdown })
        }
        TextFormat::Plain => (text.to_owned(), CHUNK_LIMIT),
    };
    sending::split(&text, limit, chunks_max)
}

/// Refuses a file that the platform would refuse.
pub(in super::super) fn check_size(name: &str, size: u64) -> Result<(), Error> {
    sending::check_size("feishu", FILE_BYTES_MAX, name, size)
}

impl Inner {
    pub(super) async fn deliver_text(
        &self,
        part: &SendPart,
        progress: &dyn Progress,
    ) -> Result<SentIds, Fault> {
        let place = self.place(part).await?;
        commit(progress, Step::Publish, None).await?;
        self.publish_text(part, &place).await
    }

    /// Sends the text as a post. One that the platform cannot read was refused whole, and goes as plain text once.
    pub(in super::super) async fn publish_text(
        &self,
        part: &SendPart,
        place: &Place,
    ) -> Result<SentIds, Fault> {
        let body = part.text.as_deref().unwrap_or("");
        if part.format == TextFormat::Plain {
            return self.publish(part, place, "text", &plain(body)).await;
        }
        match self.publish(part, place, "post", &post(body)).await {
            Err(fault) if fault.code == BAD_PARAMETER => {
                self.publish(part, place, "text", &plain(body)).await
            }
            sent => sent,
        }
    }
}

fn post(body: &str) -> Value {
    let text = to_md(body);
    // A mention grows the text; a chunk that has no room for it is sent without.
    let text = if CHUNK_LIMIT.unit.of(&text) <= CHUNK_LIMIT.max { text } else { guard_md(body) };
    json!({"zh_cn": {"title": "", "content": [[{"tag": "md", "text": text}]]}})
}

fn plain(body: &str) -> Value {
    json!({"text": plain_to_text(body)})
}

#[cfg(test)]
mod tests {
    use loom_domain::Code;

    use super::*;

    /// Largest content of a post, bytes (messaging specification 5.5).
    const CONTENT_BYTES_MAX: usize = 28 * 1024;

    /// MSG-175: every chunk fits in characters and in bytes, whatever it is made of.
    #[test]
    fn msg_175_chunks_fit_serialised() {
        for text in ["\u{1}", "\"", "\\\n", "漢", "🦊", "# a\n", "<at>", "| a |\n|---|\n"] {
            let text = text.repeat(20_000 / text.chars().count());
            for format in [TextFormat::Markdown, TextFormat::Plain] {
                for chunk in split(&text, format, 100).unwrap() {
                    let content = if format == TextFormat::Plain { plain(&chunk) } else { post(&chunk) };
                    assert!(content.to_string().len() <= CONTENT_BYTES_MAX);
                }
            }
        }
        let error = split(&"word ".repeat(20_000), TextFormat::Markdown, 20).unwrap_err();
        assert_eq!(error.code, Code::TextTooLong);
    }

    /// MSG-170: a file above the limit is refused with limit and size.
    #[test]
    fn msg_170_a_file_is_checked_before_it_is_stored() {
        assert!(check_size("a.pdf", 1).is_ok());
        for (name, size) in [("a.pdf", 0), ("a.pdf", FILE_BYTES_MAX + 1), (" ", 5)] {
            assert_eq!(check_size(name, size).unwrap_err().code, Code::FileRefused);
        }
    }
}
