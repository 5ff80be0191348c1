//! A test message through the normal path, and a test that a message arrives (messaging specification 7.4).

use std::time::Duration;

use loom_api::{request, view};
use loom_domain::{
    Capability, Code, Error, MembershipId, Principal, Result, Timestamp, admission::SendTarget,
    outbox::Target,
};
use loom_store::Topic;
use sha2::{Digest as _, Sha256};

use super::send::Wanted;
use crate::hub::Hub;

const CODE_DIGITS: usize = 6;
const CODES: u128 = 1_000_000;
const MINUTE_MS: i64 = 60_000;
const INBOUND_WAIT_MAX: Duration = Duration::from_secs(120);
const INBOUND_WAIT_MS: i64 = 120_000;

/// Result of a test.
#[derive(Debug, Clone)]
pub enum TestEnd {
    /// The message that was sent.
    Outbound(Box<view::OutboxEntry>),
    /// What was received.
    Inbound(view::InboundTest),
}

impl Hub {
    /// Sends a check message into a conversation, or waits for one from it.
    pub async fn test_membership(
        &self,
        principal: Principal,
        id: MembershipId,
        test: request::TestMembership,
        wait: Duration,
    ) -> Result<TestEnd> {
        principal.require_owner()?;
        let key = format!("test:{id}:{}", self.now().0 / MINUTE_MS);
        let code = match test.code.clone() {
            Some(code) if is_code(&code) => code,
            Some(_) => return Err(Error::invalid("code", "expected 6 digits")),
            None if test.inbound => code_of((self.inner.parts.entropy)()),
            None => code_of_key(&key),
        };
        if test.inbound {
            return self.await_code(&id, code, test.timeout_seconds).await.map(TestEnd::Inbound);
        }
        let wanted = Wanted {
            target: SendTarget::Membership(id.clone()),
            from: None,
            content: request::Content {
                text: format!("Loom connection check {code}"),
                format: None,
                files: Vec::new(),
            },
            place: Target::default(),
            expect_reply: None,
            key: Some(key),
            ttl_seconds: None,
            urgent: true,
            after_partial: false,
        };
        let entry = self.send_wanted(principal, wanted, wait).await?;
        Ok(TestEnd::Outbound(Box::new(entry)))
    }

    async fn await_code(
        &self,
        id: &MembershipId,
        code: String,
        seconds: Option<u64>,
    ) -> Result<view::InboundTest> {
        let membership = self.store().membership(id.clone()).await?;
        let address = self.store().address(membership.address_id.clone()).await?;
        let connection = self.store().connection(address.connection_id).await?;
        if !connection.capabilities.contains(&Capability::ReceiveEvents) {
            let why = format!("messages from {} do not come in; only sending is tested", connection.provider);
            return Err(
                Error::new(Code::CapabilityMissing, why).with_hint(format!("loom integration test {id}"))
            );
        }
        let wait = seconds.map_or(INBOUND_WAIT_MAX, Duration::from_secs).min(INBOUND_WAIT_MAX);
        let deadline = tokio::time::Instant::now() + wait;
        // Whoever brings the code may ask again with it: a message that arrived in between counts.
        let since = Timestamp(self.now().0.saturating_sub(INBOUND_WAIT_MS));
        let mut wakes = self.store().watch(Topic::Feed);
        tracing::info!("waiting for a message that holds {code}");
        loop {
            wakes.borrow_and_update();
            let found = self
                .store()
                .event_with_text(
                    membership.address_id.clone(),
                    membership.conversation_id.clone(),
                    code.clone(),
                    since,
                )
                .await?;
            if let Some((event_id, path)) = found {
                return Ok(view::InboundTest { code, received: true, event_id: Some(event_id), path });
            }
            if tokio::time::Instant::now() >= deadline {
                return Ok(view::InboundTest { code, received: false, event_id: None, path: Vec::new() });
            }
            tokio::select! {
                _ = wakes.changed() => {}
                () = tokio::time::sleep_until(deadline) => {}
            }
        }
    }
}

fn code_of(number: u128) -> String {
    format!("{:0CODE_DIGITS$}", number % CODES)
}

/// The same digits for the same key: a check repeated within its minute is the same message, and is sent once.
fn code_of_key(key: &str) -> String {
    let digest = Sha256::digest(key);
    code_of(digest.iter().take(8).fold(0, |number, byte| (number << 8) | u128::from(*byte)))
}

fn is_code(text: &str) -> bool {
    text.len() == CODE_DIGITS && text.bytes().all(|byte| byte.is_ascii_digit())
}
