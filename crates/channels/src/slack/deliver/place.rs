//! Where a message goes (messaging specification 5.5).

use loom_domain::ConversationType;

use super::super::wire::is_ts;
use crate::SendPart;

/// The thread to post into: a reply goes to the thread's root, outside DMs else below the message itself; a
/// proactive message only where it was told to.
pub(in super::super) fn thread_of(part: &SendPart) -> Option<&str> {
    let ts = |id: &Option<String>| id.as_deref().filter(|id| is_ts(id)).map(str::len).is_some();
    let (thread, message) = (&part.target.thread_id, &part.target.message_id);
    if ts(thread) {
        return thread.as_deref();
    }
    message.as_deref().filter(|_| part.is_reply && !is_dm(part) && ts(message))
}

fn is_dm(part: &SendPart) -> bool {
    match part.conversation_type {
        Some(kind) => kind == ConversationType::Dm,
        None => part.conversation_id.starts_with('D'),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::text_part;
    use super::*;

    /// MSG-156: a reply stays in the thread of the message it answers.
    #[test]
    fn msg_156_the_thread_rule() {
        let check = |kind, is_reply, thread: Option<&str>, message: Option<&str>, want: Option<&str>| {
            let mut part = text_part("C1", "x");
            part.conversation_type = kind;
            part.is_reply = is_reply;
            part.target.thread_id = thread.map(str::to_owned);
            part.target.message_id = message.map(str::to_owned);
            assert_eq!(thread_of(&part), want);
        };
        let (root, own) = (Some("1.000100"), Some("2.000100"));
        check(Some(ConversationType::Channel), true, root, own, root);
        check(Some(ConversationType::Channel), true, None, own, own);
        check(Some(ConversationType::Dm), true, None, own, None);
        check(Some(ConversationType::Dm), true, root, own, root);
        check(Some(ConversationType::Group), false, root, None, root);
        check(Some(ConversationType::Group), false, None, own, None);
        check(None, true, None, own, own);
        check(Some(ConversationType::Channel), true, None, Some("command/e1"), None);
    }
}
