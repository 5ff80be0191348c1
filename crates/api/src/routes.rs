//! Every route of the API: the template the server mounts and the function that fills it.
//!
//! Principals: O owner, V viewer, A the Agent itself (its own objects), C the connector of a Connection.
//! Every mutation takes `?dryRun=true`; a version goes in `If-Match: "N"` or the field `expectedVersion`.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// What a path segment keeps as it is: the unreserved characters of RFC 3986.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// Query member of every mutation that asks for a plan only.
pub const DRY_RUN: &str = "dryRun";

fn fill(template: &str, values: &[&str]) -> String {
    let mut values = values.iter();
    let segments = template.split('/').map(|segment| {
        if segment.starts_with('{') {
            utf8_percent_encode(values.next().copied().unwrap_or_default(), SEGMENT).to_string()
        } else {
            segment.to_owned()
        }
    });
    segments.collect::<Vec<_>>().join("/")
}

macro_rules! routes {
    ($($(#[doc = $doc:literal])* $name:ident $fill:ident($($arg:ident),*) $template:literal;)*) => {
        $(
            $(#[doc = $doc])*
            pub const $name: &str = $template;
            #[doc = concat!("The path `", $template, "` with its segments filled and escaped.")]
            pub fn $fill($($arg: &str),*) -> String { fill($template, &[$($arg),*]) }
        )*
        /// Every template, in the order of this file.
        pub const ALL: &[&str] = &[$($template,)*];
    };
}

routes! {
    /// GET, V A: `Page<view::AgentEntry>`, query `query::Agents`. POST `request::CreateAgent`, O: 201 `Mutation<Agent>`.
    AGENTS agents() "/v1/agents";
    /// GET, V A: `view::AgentDetail`. PATCH `request::UpdateAgent`, O: `Mutation<Agent>`. `{agent}` is a name or id.
    AGENT agent(agent) "/v1/agents/{agent}";
    /// POST `request::Versioned`, O: `Mutation<Agent>`.
    AGENT_PAUSE agent_pause(agent) "/v1/agents/{agent}/pause";
    /// POST `request::Versioned`, O: `Mutation<Agent>`.
    AGENT_RESUME agent_resume(agent) "/v1/agents/{agent}/resume";
    /// POST `request::ArchiveAgent`, O: `Mutation<Agent>`.
    AGENT_ARCHIVE agent_archive(agent) "/v1/agents/{agent}/archive";
    /// POST `request::Versioned`, O: `Mutation<Agent>`.
    AGENT_RESTORE agent_restore(agent) "/v1/agents/{agent}/restore";
    /// GET, V A: `Page<view::TurnEntry>`, query `query::Paging`.
    THREAD thread(agent) "/v1/agents/{agent}/thread";
    /// GET, V A: server-sent `view::HubEvent`s of types `turn.changed` and `thread.output`, query `query::Events`.
    THREAD_EVENTS thread_events(agent) "/v1/agents/{agent}/thread/events";
    /// POST `request::ThreadInput`, O: 202 `view::ThreadInputResult`, or 200 when `Prefer: wait=N` saw its end.
    THREAD_INPUT thread_input(agent) "/v1/agents/{agent}/thread/input";
    /// POST `request::Bind`, O: 201 `Mutation<Address>`.
    AGENT_ADDRESSES agent_addresses(agent) "/v1/agents/{agent}/addresses";
    /// GET, V A: `Page<view::ConnectionEntry>`, query `query::Connections`. POST `request::Connect`, O: 201 `Mutation<Connection>`.
    CONNECTIONS connections() "/v1/connections";
    /// GET, V A: `view::ConnectionEntry` with `health`. PATCH `request::UpdateConnection`, O: `Mutation<Connection>`. DELETE, O.
    CONNECTION connection(connection) "/v1/connections/{connection}";
    /// GET, V A: `view::Health`.
    CONNECTION_HEALTH connection_health(connection) "/v1/connections/{connection}/health";
    /// POST `{}`, O: `view::ProbeResult`.
    CONNECTION_PROBE connection_probe(connection) "/v1/connections/{connection}/probe";
    /// POST `request::Versioned`, O: `Mutation<Connection>`.
    CONNECTION_ENABLE connection_enable(connection) "/v1/connections/{connection}/enable";
    /// POST `request::Versioned`, O: `Mutation<Connection>`; what now waits is told in `warnings`.
    CONNECTION_DISABLE connection_disable(connection) "/v1/connections/{connection}/disable";
    /// POST `request::IssueToken`, O: 201 `view::IssuedToken`, the only time its value is shown.
    CONNECTION_TOKENS connection_tokens(connection) "/v1/connections/{connection}/tokens";
    /// DELETE, O: 204.
    CONNECTION_TOKEN connection_token(connection, token) "/v1/connections/{connection}/tokens/{token}";
    /// GET, V: `loom.turn_list/v1`. POST `loom.turn_config/v1`, O: 202 `loom.turn/v1`, 200 when `Prefer: wait=N` saw its end;
    /// `Idempotency-Key` is the turn key.
    TURNS turns() "/v1/turns";
    /// GET, V: `loom.turn/v1` with payloads, query `journal=true` adds its rows. DELETE, O: asks it to stop.
    TURN turn(turn) "/v1/turns/{turn}";
    /// GET, V: an event stream of the rows of its journal, `turn.KIND`, from the first or behind `Last-Event-ID`; it ends with the
    /// work on the Turn.
    TURN_EVENTS turn_events(turn) "/v1/turns/{turn}/events";
    /// POST, O: 202 `loom.turn/v1`, or 200 when `Prefer: wait=N` saw its end.
    TURN_RESUME turn_resume(turn) "/v1/turns/{turn}/resume";
    /// GET, V: `loom.multi_agent_list/v1`. POST `loom.multi_agent/v1`, O: 202 `loom.multi_agent_run/v1`, 200 when `Prefer: wait=N`
    /// saw its end.
    LOOPS loops() "/v1/multi-agent";
    /// POST `loom.lane_report/v1`, A: what the Agent of a lane tells of its round.
    LOOP_REPORT loop_report() "/v1/multi-agent/report";
    /// GET, V: `loom.multi_agent_run/v1`, `Prefer: wait=N` waits for its end. DELETE, query `graceMs`, O: stops it.
    LOOP loop_run(run) "/v1/multi-agent/{run}";
    /// POST, O: 202 `loom.multi_agent_run/v1`.
    LOOP_RESUME loop_resume(run) "/v1/multi-agent/{run}/resume";
    /// GET, V: `loom.multi_agent_log/v1`, query `since` and `lane`.
    LOOP_LOG loop_log(run) "/v1/multi-agent/{run}/log";
    /// GET, O A: a piece of a payload, query `pointer` and `offset`.
    PAYLOAD_PIECE payload_piece(id) "/v1/payloads/{id}/piece";
    /// GET, V A: `Page<Address>`, query `query::Addresses`.
    ADDRESSES addresses() "/v1/addresses";
    /// GET, V A: `Address`. PATCH `request::UpdateAddress`, O: `Mutation<Address>`.
    ADDRESS address(address) "/v1/addresses/{address}";
    /// GET, V A: `Page<view::CandidateEntry>`, query `query::Candidates`.
    CANDIDATES candidates() "/v1/candidates";
    /// POST `{}`, O: 202 `view::Accepted`; the gateway is asked for a new snapshot.
    CANDIDATES_REFRESH candidates_refresh(address) "/v1/addresses/{address}/candidates/refresh";
    /// GET, V A: `Page<Membership>`, query `query::Memberships`.
    MEMBERSHIPS memberships() "/v1/memberships";
    /// GET, V A: `Membership`. PATCH `request::SetMembership`, O: `Mutation<Membership>`.
    MEMBERSHIP membership(membership) "/v1/memberships/{membership}";
    /// PUT `request::SetMembership`, O: `Mutation<Membership>`, 201 when created, else 200.
    CONVERSATION conversation(address, conversation) "/v1/addresses/{address}/conversations/{conversation}";
    /// POST `request::EnableMembership`, O: `Mutation<Membership>`; re-judged items are told in `warnings`.
    MEMBERSHIP_ENABLE membership_enable(membership) "/v1/memberships/{membership}/enable";
    /// POST `request::Versioned`, O: `Mutation<Membership>`.
    MEMBERSHIP_DISABLE membership_disable(membership) "/v1/memberships/{membership}/disable";
    /// POST `request::Confirm`, O: `Mutation<Membership>`.
    MEMBERSHIP_ARCHIVE membership_archive(membership) "/v1/memberships/{membership}/archive";
    /// POST `request::TestMembership`, O: `view::OutboxEntry` (202 or 200 like `SEND`), or `view::InboundTest`.
    MEMBERSHIP_TEST membership_test(membership) "/v1/memberships/{membership}/test";
    /// GET, V A: `Page<view::InboxEntry>`, query `query::Inbox`.
    INBOX inbox() "/v1/inbox";
    /// GET, V A: `view::InboxDetail`. `{item}` is an `inb_`, `msg_` or `evt_` id.
    INBOX_ITEM inbox_item(item) "/v1/inbox/{item}";
    /// POST `request::Reply`, O A: `view::OutboxEntry`, 202 or 200 like `SEND`.
    INBOX_REPLY inbox_reply(item) "/v1/inbox/{item}/reply";
    /// POST `request::NoReply`, O A: `Mutation<inbox::Item>`.
    INBOX_NO_REPLY inbox_no_reply(item) "/v1/inbox/{item}/no-reply";
    /// POST `request::Defer`, O A: `Mutation<inbox::Item>`.
    INBOX_DEFER inbox_defer(item) "/v1/inbox/{item}/defer";
    /// POST `request::Retry`, O A: `Mutation<inbox::Item>`.
    INBOX_RETRY inbox_retry(item) "/v1/inbox/{item}/retry";
    /// POST `request::Cancel`, O: `Mutation<inbox::Item>`.
    INBOX_CANCEL inbox_cancel(item) "/v1/inbox/{item}/cancel";
    /// POST `{}`, O: `Mutation<inbox::Item>`.
    INBOX_RELEASE inbox_release(item, artifact) "/v1/inbox/{item}/attachments/{artifact}/release";
    /// GET, V A: `Page<Event>`, query `query::Refusals`.
    REFUSALS refusals() "/v1/refusals";
    /// GET, V A: `Page<view::ReasonCount>` in one page, query `query::Refusals`.
    REFUSAL_COUNTS refusal_counts() "/v1/refusals/counts";
    /// GET, V A: `view::RefusalDetail`.
    REFUSAL refusal(event) "/v1/refusals/{event}";
    /// POST `{}`, O: `view::ReplayedEvent`.
    REFUSAL_REPLAY refusal_replay(event) "/v1/refusals/{event}/replay";
    /// POST `request::Send`, O A: `view::OutboxEntry`; 202, or 200 when `Prefer: wait=N` saw its end or `unknown`.
    SEND send() "/v1/send";
    /// POST `request::Send`, O A: `view::Admission`; stores nothing.
    SEND_ADMISSION send_admission() "/v1/send/admission";
    /// GET, V A: `Page<view::OutboxEntry>`, query `query::Outbox`.
    OUTBOX outbox() "/v1/outbox";
    /// GET, V A: `view::OutboxDetail`; honours `Prefer: wait=N` (answers at a final state, `unknown` or `held`).
    OUTBOX_ITEM outbox_item(item) "/v1/outbox/{item}";
    /// POST `request::Retry`, O A: `Mutation<view::OutboxEntry>`.
    OUTBOX_RETRY outbox_retry(item) "/v1/outbox/{item}/retry";
    /// POST `request::Cancel`, O A: `Mutation<view::OutboxEntry>`.
    OUTBOX_CANCEL outbox_cancel(item) "/v1/outbox/{item}/cancel";
    /// POST `request::Settle`, O: `Mutation<view::OutboxEntry>`.
    OUTBOX_SETTLE outbox_settle(item) "/v1/outbox/{item}/settle";
    /// POST raw bytes, query `query::Upload`, O A: 201 `Artifact`; other bytes than announced: `artifact_changed`;
    /// more than a few at once: `rate_limited`.
    ARTIFACTS artifacts() "/v1/artifacts";
    /// GET, O A: the raw bytes.
    ARTIFACT artifact(artifact) "/v1/artifacts/{artifact}";
    /// GET, V A: `Page<view::PlanEntry>`. POST `connector_plan::PlanFile`, O A: `view::PlanEntry`; opens its gates.
    PLANS plans() "/v1/plans";
    /// GET, V A: `view::PlanEntry`.
    PLAN plan(plan) "/v1/plans/{plan}";
    /// POST `request::RunPlan`, O A: `view::PlanEntry` with its runs; honours `Prefer: wait=N`.
    PLAN_RUN plan_run(plan) "/v1/plans/{plan}/run";
    /// POST `request::DecideGate`, O: `Gate`; a dry run checks the same and decides nothing.
    PLAN_GATE plan_gate(plan, gate) "/v1/plans/{plan}/gates/{gate}";
    /// GET, V A: `Page<Grant>` in one page, query `query::Grants`. POST `request::GiveGrant`, O: `Grant`.
    GRANTS grants() "/v1/grants";
    /// POST `{}`, O: `Grant`.
    GRANT_REVOKE grant_revoke(grant) "/v1/grants/{grant}/revoke";
    /// POST `request::CapabilityRun`, O A within its grants: the payload; a gated write opens its gate.
    CAPABILITY_RUN capability_run(id) "/v1/capabilities/{id}/run";
    /// GET, V: `Page<Endpoint>` in one page. POST `request::PutEndpoint`, O: `Endpoint`.
    ENDPOINTS endpoints() "/v1/endpoints";
    /// GET, V: `Endpoint`. DELETE, O: `Endpoint`.
    ENDPOINT endpoint(endpoint) "/v1/endpoints/{endpoint}";
    /// POST `{}`, O: `Endpoint`.
    ENDPOINT_ENABLE endpoint_enable(endpoint) "/v1/endpoints/{endpoint}/enable";
    /// POST `{}`, O: `Endpoint`.
    ENDPOINT_DISABLE endpoint_disable(endpoint) "/v1/endpoints/{endpoint}/disable";
    /// GET, V: `Page` of received events, query `query::Paging`.
    ENDPOINT_EVENTS endpoint_events(endpoint) "/v1/endpoints/{endpoint}/events";
    /// GET, V: `Page` of refused deliveries, query `query::Paging`.
    ENDPOINT_REFUSALS endpoint_refusals(endpoint) "/v1/endpoints/{endpoint}/refusals";
    /// GET, V: `Page<Delivery>`, query `query::Deliveries`. POST `request::Deliver`, O: `view::DeliveryEntry`.
    DELIVERIES deliveries() "/v1/deliveries";
    /// POST raw bytes with the sender's signature: 202 or 200 `view::HookAnswer`.
    HOOK hook(route) "/v1/hooks/{route}";
    /// GET, V A, query `query::Where`: `view::Where`; nothing known: `never_seen` with `detail.connections`.
    WHERE where_is() "/v1/where";
    /// POST `request::PolicyExplain`, V A own: `view::PolicyExplanation`.
    POLICY_EXPLAIN policy_explain() "/v1/policy/explain";
    /// POST `request::PolicyReplay`, O: `view::PolicyReplayResult`.
    POLICY_REPLAY policy_replay() "/v1/policy/replay";
    /// GET, V: `Page<view::OutboxEntry>` of held sends.
    POLICY_RELEASES policy_releases() "/v1/policy/releases";
    /// GET, V: `Page<Notice>`, query `query::Notices`.
    NOTICES notices() "/v1/notices";
    /// POST `{}`, O: `Mutation<Notice>`.
    NOTICE_ACK notice_ack(notice) "/v1/notices/{notice}/ack";
    /// GET, V: `Page<view::AuditRow>`, oldest first, query `query::Audit`.
    AUDIT audit() "/v1/audit";
    /// GET, V: `view::AuditVerdict`; a broken chain: `audit_broken` with `detail.seq`.
    AUDIT_VERIFY audit_verify() "/v1/audit/verify";
    /// GET, V A: `view::HubStatus`.
    STATUS status() "/v1/status";
    /// POST `request::Stop`, O: 202 `view::Accepted`; the hub drains and stops.
    HUB_STOP hub_stop() "/v1/hub/stop";
    /// GET, V A: server-sent `view::HubEvent`s, query `query::Events`.
    EVENTS events() "/v1/events";
    /// GET, V: lines of the catalog, query `query::Paging`.
    CAPABILITIES capabilities() "/v1/capabilities";
    /// GET, V: one entry with its schemas.
    CAPABILITY capability(id) "/v1/capabilities/{id}";
    /// GET, V: a stored payload.
    PAYLOAD payload(id) "/v1/payloads/{id}";
    /// GET, V: the configuration as objects, with its digest.
    INTEGRATION integration() "/v1/integration";
    /// POST `request::ApplyIntegration`, O: the apply. GET, V: applies, newest first.
    INTEGRATION_APPLIES integration_applies() "/v1/integration/applies";
    /// GET, V: one apply with the configuration before it.
    INTEGRATION_APPLY integration_apply(apply) "/v1/integration/applies/{apply}";
    /// POST `request::Report`, O: the document and what was sent; honours `Prefer: wait=N`. GET, V: those that were made.
    REPORTS reports() "/v1/reports";
    /// GET, V: a report.
    REPORT report(report) "/v1/reports/{report}";
    /// GET, V: `Page<view::ScheduleEntry>` in one page. POST `request::AddSchedule`, O: 201 `Mutation<Schedule>`.
    /// `{kind}` is `report` or `turn`.
    SCHEDULES schedules(kind) "/v1/schedules/{kind}";
    /// GET, V: `view::ScheduleEntry`. DELETE, O: `Mutation<Schedule>`.
    SCHEDULE schedule(kind, name) "/v1/schedules/{kind}/{name}";
    /// POST `{}`, O: `Mutation<Schedule>`.
    SCHEDULE_ENABLE schedule_enable(kind, name) "/v1/schedules/{kind}/{name}/enable";
    /// POST `{}`, O: `Mutation<Schedule>`.
    SCHEDULE_DISABLE schedule_disable(kind, name) "/v1/schedules/{kind}/{name}/disable";
    /// GET, V: logged requests, newest first, query `query::Paging`.
    REQUESTS requests() "/v1/requests";
    /// GET, anybody: `{"ok":true}`.
    HEALTHZ healthz() "/v1/healthz";
    /// GET, V: 200 or 503 with the state of each Connection.
    READYZ readyz() "/v1/readyz";
    /// GET, V: Prometheus text.
    METRICS metrics() "/v1/metrics";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_are_escaped() {
        assert_eq!(conversation("adr_1", "a/b ?#"), "/v1/addresses/adr_1/conversations/a%2Fb%20%3F%23");
        assert_eq!(agents(), "/v1/agents");
    }

    #[test]
    fn every_route_stands_under_the_base_once() {
        let mut seen = std::collections::BTreeSet::new();
        for template in ALL {
            assert!(template.starts_with("/v1/"), "{template}");
            assert!(seen.insert(template), "{template} twice");
        }
    }
}
