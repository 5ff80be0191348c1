//! `lark_notify`: a message to a chat of Feishu or Lark, through the Outbox of a hub and by its rules.

mod input;
mod output;

use std::time::Duration;

use async_trait::async_trait;
use loom_domain::outbox::{PartState, State};
use loom_domain::{Code, Error, Principal, Result};

use crate::{
    Boundary, Capability, CatalogEntry, Cx, Idempotency, Letter, Operation, PlannedWrite, Recipient,
    RunOutcome, RunPlan, RunRequest, SendPath, Sent, Sink, SourceRef, read_input,
};
use input::{NotifyInput, ProbeInput};
use output::{ProbeFields, SentFields};

/// Longest wait for the delivery.
const WAIT: Duration = Duration::from_secs(30);
/// Provider of both brands.
const PROVIDER: &str = "feishu";
/// What is asked about by `probe`; never sent.
const PROBE_TEXT: &str = "probe";

/// The connector.
#[derive(Debug)]
pub struct LarkNotify {
    entry: CatalogEntry,
}

impl LarkNotify {
    /// Makes it.
    pub fn new() -> Self {
        let notify = Operation::record::<NotifyInput, SentFields>("notify", "loom.lark_notice/v1")
            .about("Send a message to a Membership through the hub's Outbox")
            .writes(Idempotency::ProviderKey)
            .resource("membership");
        let probe = Operation::record::<ProbeInput, ProbeFields>("probe", "loom.lark_recipient/v1")
            .about("Whether a message would be taken; nothing is sent")
            .resource("membership");
        let mut entry = CatalogEntry::connector("lark_notify", "Messages to chats of Feishu / Lark")
            .boundary(Boundary::GatedWrite)
            .operation(notify)
            .operation(probe)
            .stop_condition("the message is refused, or nobody knows whether it arrived")
            .examples(
                "value-connectors lark-notify --to mem_01arz3ndektsv4rrffq69g5fav \\\n    --idempotency-key build-42 --text \"Build 42 is out\"",
                "value-connectors lark-notify probe --to mem_01arz3ndektsv4rrffq69g5fav",
            );
        entry.write_gate = Some("the rules of the Outbox; an Agent also needs an approval".to_owned());
        LarkNotify { entry }
    }
}

impl Default for LarkNotify {
    fn default() -> Self {
        LarkNotify::new()
    }
}

#[async_trait]
impl Capability for LarkNotify {
    fn entry(&self) -> &CatalogEntry {
        &self.entry
    }

    fn plan(&self, request: &RunRequest) -> Result<RunPlan> {
        let plan = RunPlan::of(&self.entry, request)?;
        if request.operation == "probe" {
            let input: ProbeInput = read_input(request)?;
            return Ok(plan.resource("membership", input.to));
        }
        let letter = read_input::<NotifyInput>(request)?.letter()?;
        Ok(plan.resource("membership", &letter.membership_id).write(write(&letter)))
    }

    /// The owner's order is one; an Agent's needs the owner's approval.
    fn is_gated(&self, principal: &Principal, request: &RunRequest) -> bool {
        *principal != Principal::Owner && request.operation != "probe"
    }

    async fn run(&self, cx: &Cx, request: RunRequest, out: &mut dyn Sink) -> Result<RunOutcome> {
        let path = cx.world().send_path.clone().ok_or_else(|| {
            Error::new(Code::NotReady, "this process has no hub to send through").with_hint("loom up")
        })?;
        if request.operation == "probe" {
            let input: ProbeInput = read_input(&request)?;
            let to = input.to.clone();
            out.fields(probed(&*path, input).await?);
            return Ok(own_fact(&to, cx));
        }
        if self.is_gated(cx.principal(), &request) && cx.permit().is_none() {
            return Err(crate::gate::needed(&self.entry.id));
        }
        let input: NotifyInput = read_input(&request)?;
        let wait = if input.r#async { Duration::ZERO } else { WAIT };
        let letter = input.letter()?;
        recipient(&*path, &letter.membership_id).await?;
        let sent = path.send(&letter, wait).await?;
        cx.tally().wrote(counted(&sent, PartState::Sent), counted(&sent, PartState::Unknown));
        out.fields(output::of(&sent));
        match refusal(&sent, wait.is_zero()) {
            Some(error) => Err(error),
            None => Ok(own_fact(&letter.membership_id, cx)),
        }
    }
}

/// What was sent is known from Loom's own records.
fn own_fact(membership: &str, cx: &Cx) -> RunOutcome {
    let source = SourceRef::new("membership", membership, None, cx.now());
    RunOutcome { is_own_fact: true, ..RunOutcome::of(source) }
}

/// Everything that an approval binds.
fn write(letter: &Letter) -> PlannedWrite {
    let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let mut headers = vec![header("idempotency-key", &letter.idempotency_key)];
    headers.extend(letter.expect_reply.map(|word| header("expect-reply", word.as_str())));
    headers.extend(letter.files.iter().map(|path| header("file", path)));
    PlannedWrite {
        method: "SEND".to_owned(),
        url: format!("membership:{}", letter.membership_id),
        headers,
        body: Some(letter.text.clone()),
    }
}

/// The recipient, if it is a chat of Feishu or Lark.
async fn recipient(path: &dyn SendPath, membership: &str) -> Result<Recipient> {
    let recipient = path.recipient(membership).await?;
    if recipient.provider == PROVIDER {
        return Ok(recipient);
    }
    let why = format!("{membership} is a Membership on {}, not on Feishu or Lark", recipient.provider);
    Err(Error::new(Code::InvalidInput, why)
        .with_detail("pointer", "/to")
        .with_hint(format!("loom integration send --to {membership} --idempotency-key KEY")))
}

async fn probed(path: &dyn SendPath, input: ProbeInput) -> Result<serde_json::Value> {
    let recipient = recipient(path, &input.to).await?;
    let letter = Letter {
        membership_id: input.to,
        text: PROBE_TEXT.to_owned(),
        files: Vec::new(),
        expect_reply: None,
        idempotency_key: PROBE_TEXT.to_owned(),
    };
    path.check(&letter).await?;
    Ok(output::probed(&letter.membership_id, &recipient))
}

/// Parts in a state that this order made.
fn counted(sent: &Sent, state: PartState) -> u64 {
    if sent.duplicate { 0 } else { sent.parts.iter().filter(|part| part.state == state).count() as u64 }
}

/// Why the run is no success, when it is none.
fn refusal(sent: &Sent, is_async: bool) -> Option<Error> {
    let code = match sent.item.state {
        State::Sent => return None,
        State::Pending | State::Sending | State::RetryWait if is_async => return None,
        State::Pending | State::Sending | State::RetryWait => Code::DeliveryPending,
        State::Held => Code::DeliveryHeld,
        State::Failed => Code::DeliveryFailed,
        State::Expired => Code::DeliveryExpired,
        State::Cancelled => Code::DeliveryCancelled,
        State::Unknown => Code::DeliveryUnknown,
    };
    let last = sent.parts.iter().find_map(|part| part.last_error.as_ref());
    let why = match last {
        Some(error) => format!("{} is {}: {} {}", sent.item.id, sent.item.state, error.code, error.message),
        None => format!("{} is {}", sent.item.id, sent.item.state),
    };
    Some(Error::new(code, why).with_hint(format!("loom outbox get {}", sent.item.id)))
}

#[cfg(test)]
mod tests;
