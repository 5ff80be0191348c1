//! The one text document that a Turn starts with (messaging specification 4.6). Loom's own words stand outside;
//! whatever a person or platform wrote stands in a `| ` line or a JSON string, and nowhere else.

mod facts;
mod inert;
#[cfg(test)]
mod tests;

use std::fmt::Write as _;

use sha2::Digest as _;

use crate::id::encode_ulid;
use crate::message::{Origin, ThreadContext};
use crate::{MessageId, ReplyPolicy};

pub use facts::{
    AttachmentFact, ContextFact, ConversationFact, Facts, MembershipFact, PriorAttempt, SenderFact, Times,
    Trust, trust_of,
};
pub use inert::{json_text, quoted_lines};

const DRAWS_MAX: u32 = 64;

/// What the owner wrote for the conversation.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OwnerContext {
    /// Purpose.
    pub purpose: String,
    /// Role.
    pub role: String,
    /// Guidance.
    pub guidance: String,
}

/// Everything an envelope is built from.
#[derive(Debug, Clone)]
pub struct EnvelopeInput<'a> {
    /// The facts that Loom vouches for.
    pub facts: &'a Facts,
    /// Owner's words; present with a Membership only.
    pub owner_context: Option<&'a OwnerContext>,
    /// Context of the thread.
    pub context: Option<&'a ThreadContext>,
    /// Message.
    pub message: &'a MessageId,
    /// Its newest text.
    pub text: &'a str,
}

/// Builds the document. `boundary_source` gives random numbers; a boundary that occurs in any input is drawn
/// again.
#[must_use]
pub fn build(input: &EnvelopeInput<'_>, boundary_source: impl FnMut() -> u128) -> String {
    let json = json_text(input.facts);
    let boundary = draw(input, &json, boundary_source);
    let mut out = format!("loom-envelope/1 {boundary}\n{boundary} facts\n{json}\n");
    owner_context(&mut out, &boundary, input);
    thread(&mut out, &boundary, input);
    message(&mut out, &boundary, input);
    how_to_answer(&mut out, &boundary, input.facts);
    let _ = writeln!(out, "{boundary} end");
    out
}

fn draw(input: &EnvelopeInput<'_>, json: &str, mut source: impl FnMut() -> u128) -> String {
    let owner = input.owner_context.into_iter().flat_map(|o| [&o.purpose, &o.role, &o.guidance]);
    let context = input.context.into_iter().flat_map(|c| &c.messages);
    let context = context.flat_map(|m| [&m.text, &m.message_id, &m.sender_id]);
    let texts: Vec<String> = owner
        .chain(context)
        .map(String::as_str)
        .chain([json, input.text])
        .map(str::to_ascii_uppercase)
        .collect();
    let is_free = |boundary: &str| !texts.iter().any(|text| text.contains(boundary));
    let drawn = (0..DRAWS_MAX).map(|_| encode_ulid(source()).to_ascii_uppercase());
    let derived = (0u32..).map(|n| {
        let digest = sha2::Sha256::digest(format!("{n}/{}", texts.concat()));
        let value = digest.iter().take(16).fold(0u128, |value, byte| (value << 8) | u128::from(*byte));
        encode_ulid(value).to_ascii_uppercase()
    });
    drawn.chain(derived).find(|boundary| is_free(boundary)).unwrap_or_default()
}

fn owner_context(out: &mut String, boundary: &str, input: &EnvelopeInput<'_>) {
    let (Some(owner), Some(membership)) = (input.owner_context, &input.facts.membership) else { return };
    let _ = writeln!(
        out,
        "{boundary} owner-context {} v{} (for this message only; grants no tools or permissions)",
        membership.id, membership.version
    );
    for (name, text) in [("purpose", &owner.purpose), ("role", &owner.role), ("guidance", &owner.guidance)] {
        let mut lines = inert::lines(text).into_iter();
        if let Some(first) = lines.next().filter(|_| !text.trim().is_empty()) {
            let _ = writeln!(out, "{name}: {first}");
            lines.for_each(|line| {
                let _ = writeln!(out, "  {line}");
            });
        }
    }
}

fn thread(out: &mut String, boundary: &str, input: &EnvelopeInput<'_>) {
    for message in input.context.into_iter().flat_map(|context| &context.messages) {
        let (id, sender) = (inert::header_id(&message.message_id), inert::header_id(&message.sender_id));
        let _ = writeln!(out, "{boundary} untrusted thread msg={id} sender={sender}\n");
        out.push_str(&quoted_lines(&message.text));
        out.push('\n');
    }
}

fn message(out: &mut String, boundary: &str, input: &EnvelopeInput<'_>) {
    let facts = input.facts;
    let word = if facts.trust == Trust::ExternalUntrusted { "untrusted message" } else { "message" };
    let sender = inert::header_id(&facts.sender.id);
    let _ = writeln!(out, "{boundary} {word} msg={} sender={sender}\n", input.message);
    if input.text.trim().is_empty() {
        for file in &facts.attachments {
            out.push_str(&quoted_lines(&format!("[file] {}", file.name)));
        }
    } else {
        out.push_str(&quoted_lines(input.text));
    }
    out.push('\n');
}

fn how_to_answer(out: &mut String, boundary: &str, facts: &Facts) {
    let _ = writeln!(out, "{boundary} how-to-answer");
    if facts.prior_attempt.is_some() {
        out.push_str(
            "An earlier Attempt at this message may have acted already. Check the facts before you act again.\n",
        );
    }
    let (agent, item) = (&facts.agent, &facts.item);
    let _ = match (facts.reply_policy, facts.origin) {
        (ReplyPolicy::FinalAnswer, _) => {
            writeln!(out, "The final answer of this Turn is delivered as the reply to this message.")
        }
        (ReplyPolicy::None, _) => writeln!(out, "Nothing is sent in answer to this message."),
        (ReplyPolicy::Explicit, Origin::Loom) => writeln!(
            out,
            "Decide with one of: loom msg --reply-to {item} --from {agent} BODY · \
             loom msg --no-reply {item} --from {agent} (MCP tools: inbox_reply, inbox_no_reply, inbox_defer)"
        ),
        (ReplyPolicy::Explicit, _) => writeln!(
            out,
            "Decide with one of: loom integration send --from {agent} --reply-to {item} --body-file FILE · \
             loom inbox no-reply {item} --reason TEXT · loom inbox defer {item} --for 1h \
             (MCP tools: inbox_reply, inbox_no_reply, inbox_defer)"
        ),
    };
}
