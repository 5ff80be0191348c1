//! Uploads appear as messages a little after the upload was completed.

use std::time::Duration;

use tokio::time::Instant;

use super::files::Share;
use super::message::Message;
use super::world::World;

/// A completed upload that people do not see yet.
#[derive(Debug)]
pub(super) struct PendingShare {
    due: Instant,
    channel: String,
    thread_ts: Option<String>,
    comment: String,
    files: Vec<String>,
}

impl PendingShare {
    pub(super) fn new(
        channel: String,
        thread_ts: Option<String>,
        comment: String,
        files: Vec<String>,
    ) -> Self {
        Self { due: Instant::now(), channel, thread_ts, comment, files }
    }
}

impl World {
    /// Plans the message that shows the files.
    pub(super) fn share_later(&mut self, mut share: PendingShare) {
        share.due = Instant::now() + Duration::from_millis(self.knobs.share_delay_ms);
        self.shares.push_back(share);
    }

    /// Does everything that is due; returns when to look again.
    pub(super) fn pump(&mut self, now: Instant) -> Option<Instant> {
        while let Some(share) = self.shares.pop_front_if(|s| s.due <= now) {
            self.share_now(share);
        }
        let next_share = self.shares.front().map(|s| s.due);
        let next_envelope = self.delivery.pump(now);
        next_share.into_iter().chain(next_envelope).min()
    }

    fn share_now(&mut self, share: PendingShare) {
        let message = Message {
            subtype: Some("file_share".into()),
            text: share.comment,
            thread_ts: share.thread_ts,
            files: share.files,
            ..self.app_message()
        };
        self.publish(&share.channel, message);
    }

    /// Stores a message, notes where its files are shown, and tells the app. Returns `ts` and event ids.
    pub(super) fn publish(&mut self, channel: &str, mut message: Message) -> (String, Vec<String>) {
        message.ts = self.ids.ts();
        let ts = message.ts.clone();
        for id in &message.files {
            let share =
                Share { channel: channel.into(), ts: ts.clone(), thread_ts: message.thread_ts.clone() };
            if let Some(file) = self.files.get_mut(id) {
                file.shares.push(share);
            }
        }
        self.store(channel, message);
        let events = self.emit_posted(channel, &ts);
        (ts, events)
    }

    /// A message of the app under test, without content.
    pub(super) fn app_message(&self) -> Message {
        Message {
            user: Some(self.cfg.bot_user.clone()),
            bot_id: Some(self.cfg.bot_id.clone()),
            app_id: Some(self.cfg.app.clone()),
            ..Message::default()
        }
    }
}
