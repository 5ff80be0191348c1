//! Cases of the admission table.

use super::*;
use crate::fixtures::{self, NOW};
use crate::inbox::State;
use crate::outbox::{State as OutboxState, Target};
use crate::{Code, ConversationType, OutboundPolicy, OutboxId, TextFormat};

struct Case {
    principal: Principal,
    request: SendRequest,
    item: Item,
    origin: Origin,
    expectation: Expectation,
    reply_policy: ReplyPolicy,
    connection: Connection,
    address: Address,
    membership: Option<Membership>,
    earlier: Option<(OutboxId, OutboxState, &'static str)>,
    last_hour: u32,
    quiet_until: Option<Timestamp>,
    target_belongs: Option<bool>,
    labels: Vec<String>,
    open: u32,
    chunks: Option<usize>,
}

fn case() -> Case {
    let membership = fixtures::membership(ConversationType::Group);
    Case {
        principal: Principal::Owner,
        request: SendRequest {
            text: "hello".to_owned(),
            format: TextFormat::Markdown,
            files: vec![],
            target: Target::default(),
            expect_reply: Expectation::None,
            idempotency_key: Some("k".to_owned()),
            urgent: false,
        },
        item: fixtures::item(),
        origin: Origin::Provider,
        expectation: Expectation::Optional,
        reply_policy: ReplyPolicy::FinalAnswer,
        connection: fixtures::connection(),
        address: fixtures::address(),
        membership: Some(Membership { outbound_policy: OutboundPolicy::Proactive, ..membership }),
        earlier: None,
        last_hour: 0,
        quiet_until: None,
        target_belongs: None,
        labels: vec!["local".to_owned()],
        open: 0,
        chunks: None,
    }
}

impl Case {
    fn run(&self, purpose: Purpose<'_>) -> Result<Admission, Code> {
        let earlier = self.earlier.as_ref().map(|(id, state, fingerprint)| Earlier {
            id,
            state: *state,
            fingerprint,
            last_error: None,
        });
        admit(&AdmissionInput {
            principal: &self.principal,
            request: &self.request,
            purpose,
            connection: Some(&self.connection),
            address: Some(&self.address),
            membership: self.membership.as_ref(),
            fingerprint: "f",
            earlier,
            chunks: self.chunks,
            platform_file_bytes_max: 26_214_400,
            labels: &self.labels,
            open_of_agent: self.open,
        })
        .map_err(|error| error.code)
    }

    fn reply(&self) -> Result<Admission, Code> {
        self.run(Purpose::Reply {
            item: Some(&self.item),
            origin: self.origin,
            expectation: self.expectation,
            reply_policy: self.reply_policy,
        })
    }

    fn proactive(&self) -> Result<Admission, Code> {
        self.run(Purpose::Proactive {
            from: &self.item.agent_id,
            last_hour: self.last_hour,
            newest_senders: &[],
            quiet_until: self.quiet_until,
            target_belongs: self.target_belongs,
        })
    }

    fn with(mut self, change: impl FnOnce(&mut Case)) -> Case {
        change(&mut self);
        self
    }

    fn outbound(self, policy: OutboundPolicy) -> Case {
        self.with(|c| c.membership.as_mut().unwrap().outbound_policy = policy)
    }
}

const NEW: Result<Admission, Code> = Ok(Admission::New { held: None, supersedes: false });

#[test]
fn msg_158_one_target_and_a_key() {
    let code = |reply, to| SendTarget::parse(reply, to).unwrap_err().code;
    assert_eq!(code(Some("inb_x"), Some("mem_x")), Code::MutuallyExclusive);
    assert_eq!(code(None, None).exit(), crate::Exit::Usage);
    let keyless = case().with(|c| c.request.idempotency_key = None);
    assert_eq!(keyless.proactive(), Err(Code::IdempotencyKeyRequired));
    assert_eq!(keyless.reply(), NEW);
}

#[test]
fn msg_159_outbound_policy_rules_both_ways() {
    assert_eq!(case().outbound(OutboundPolicy::ReplyOnly).proactive(), Err(Code::ProactiveNotAllowed));
    assert_eq!(case().outbound(OutboundPolicy::ReplyOnly).reply(), NEW);
    assert_eq!((case().proactive(), case().reply()), (NEW, NEW));
    let none = case().outbound(OutboundPolicy::None);
    assert_eq!((none.proactive(), none.reply()), (Err(Code::OutboundDisabled), Err(Code::OutboundDisabled)));
}

#[test]
fn msg_160_a_raw_conversation_id_is_never_taken() {
    for raw in ["C0123456789", "oc_1", "inb_01arz3ndektsv4rrffq69g5fav"] {
        assert_eq!(SendTarget::parse(None, Some(raw)).unwrap_err().code, Code::MembershipRequired);
    }
    assert_eq!(case().with(|c| c.membership = None).proactive(), Err(Code::MembershipRequired));
}

#[test]
fn msg_096_msg_135_items_that_take_no_reply() {
    assert_eq!(case().with(|c| c.item.state = State::PendingAccess).reply(), Err(Code::AccessPending));
    assert_eq!(case().with(|c| c.item.state = State::Handled).reply(), Err(Code::AlreadyDecided));
    assert_eq!(case().with(|c| c.reply_policy = ReplyPolicy::None).reply(), Err(Code::ReplyDisabled));
    assert_eq!(case().with(|c| c.expectation = Expectation::None).reply(), Err(Code::ReplyDisabled));
    assert_eq!(case().with(|c| c.origin = Origin::Loom).reply(), Err(Code::InternalItem));
}

#[test]
fn msg_137_switches_refuse() {
    let off = case().with(|c| c.membership.as_mut().unwrap().enabled = false);
    assert_eq!(off.reply(), Err(Code::Disabled));
    assert_eq!(case().with(|c| c.address.enabled = false).reply(), Err(Code::Disabled));
    assert_eq!(case().with(|c| c.connection.archived_at = Some(NOW)).reply(), Err(Code::Archived));
    let moved = case().with(|c| c.address.agent_id = AgentId::new(5, 5));
    assert_eq!((moved.reply(), moved.proactive()), (Err(Code::AddressNotOwned), Err(Code::AddressNotOwned)));
}

#[test]
fn msg_147_another_agent_may_not() {
    let other = case().with(|c| c.principal = Principal::Agent(AgentId::new(9, 9)));
    assert_eq!((other.reply(), other.proactive()), (Err(Code::NotOwnerOfItem), Err(Code::Forbidden)));
    assert_eq!(case().with(|c| c.principal = Principal::Viewer).reply(), Err(Code::Forbidden));
}

#[test]
fn msg_161_the_same_content_again_is_the_same_item() {
    let sent = case().with(|c| {
        c.earlier = Some((OutboxId::new(1, 1), OutboxState::Sent, "f"));
        c.item.state = State::Handled;
    });
    assert_eq!(sent.reply(), Ok(Admission::Existing(Verdict::Duplicate)));
    let other = case().with(|c| c.earlier = Some((OutboxId::new(1, 1), OutboxState::Failed, "g")));
    assert_eq!(other.reply(), Ok(Admission::New { held: None, supersedes: true }));
    assert_eq!(other.proactive(), Err(Code::IdempotencyConflict));
}

#[test]
fn msg_166_files_have_limits() {
    let file = |size| SendFile { name: "a".to_owned(), size, sha256: "0".to_owned() };
    let sized = |size| case().with(|c| c.request.files = vec![file(size)]).reply();
    assert_eq!(case().with(|c| c.request.files = vec![file(1); 9]).reply(), Err(Code::TooMany));
    assert_eq!(
        (sized(26_214_400), sized(26_214_401), sized(0)),
        (NEW, Err(Code::TooLarge), Err(Code::TooLarge))
    );
    assert_eq!(case().with(|c| c.request.text = " ".to_owned()).reply(), Err(Code::MissingField));
    assert_eq!(case().with(|c| c.chunks = Some(21)).reply(), Err(Code::TextTooLong));
}

#[test]
fn msg_171_capabilities_are_needed() {
    let bare = case().with(|c| c.connection.capabilities.clear());
    assert_eq!((bare.proactive(), bare.reply()), (Err(Code::CapabilityMissing), NEW));
}

#[test]
fn msg_172_targets_are_inherited_or_checked() {
    let aimed = case().with(|c| {
        c.request.target.thread_id = Some("1".to_owned());
        c.target_belongs = Some(false);
    });
    assert_eq!((aimed.reply(), aimed.proactive()), (Err(Code::TargetNotAllowed), Err(Code::TargetMismatch)));
    assert_eq!(aimed.with(|c| c.target_belongs = None).proactive(), NEW);
}

#[test]
fn msg_178_quiet_hours_hold_unless_urgent() {
    let quiet = case().with(|c| c.quiet_until = Some(NOW));
    let held = Ok(Admission::New { held: Some(Held::Quiet(NOW)), supersedes: false });
    assert_eq!((quiet.proactive(), quiet.reply()), (held, NEW));
    assert_eq!(quiet.with(|c| c.request.urgent = true).proactive(), NEW);
}

#[test]
fn foreign_labels_hold_and_budgets_refuse() {
    let foreign = case().with(|c| c.labels.push("acme".to_owned()));
    let held = Some(Held::Release(vec!["acme".to_owned()]));
    assert_eq!(foreign.reply(), Ok(Admission::New { held, supersedes: false }));
    assert_eq!(case().with(|c| c.last_hour = 30).proactive(), Err(Code::BudgetExceeded));
    assert_eq!(case().with(|c| c.open = 1_000).reply(), Err(Code::QueueFull));
}
