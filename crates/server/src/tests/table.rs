//! The table of routes (messaging specification 9.2): who reaches what, with which document.

use loom_api::routes as at;
use loom_domain::{
    AddressId, AgentId, ArtifactId, Code, ConnectionId, EventId, GateId, GrantId, InboxId, MembershipId,
    NoticeId, OperationId, OutboxId, Principal, TokenId, TurnId,
};

use super::house::{House, bearer, house_with};
use crate::Scopes;

#[derive(Clone, Copy, PartialEq, Eq)]
enum May {
    Owner,
    OwnerOrViewer,
    OwnerOrAgent,
    Readers,
}
use May::{Owner, OwnerOrAgent, OwnerOrViewer, Readers};

type Row = (&'static str, String, &'static str, &'static str, May);

fn rows() -> Vec<Row> {
    let con = ConnectionId::new(1, 1).to_string();
    let adr = AddressId::new(1, 1).to_string();
    let mem = MembershipId::new(1, 1).to_string();
    let inb = InboxId::new(1, 1).to_string();
    let out = OutboxId::new(1, 1).to_string();
    let evt = EventId::new(1, 1).to_string();
    let ntc = NoticeId::new(1, 1).to_string();
    let art = ArtifactId::new(1, 1).to_string();
    let tok = TokenId::new(1, 1).to_string();
    let mut rows = reading(&con, &adr, &mem, &inb, &out, &evt);
    rows.extend([
        ("POST", at::agents(), r#"{"name":"docs","runtime":"codex"}"#, "create_agent", Owner),
        ("PATCH", at::agent("docs"), "{}", "update_agent", Owner),
        ("POST", at::agent_pause("docs"), "{}", "pause_agent", Owner),
        ("POST", at::agent_resume("docs"), "", "resume_agent", Owner),
        ("POST", at::agent_archive("docs"), "{}", "archive_agent", Owner),
        ("POST", at::agent_restore("docs"), "{}", "restore_agent", Owner),
        ("POST", at::thread_input("docs"), r#"{"text":"hi"}"#, "thread_input", Owner),
        (
            "POST",
            at::agent_addresses("docs"),
            r#"{"connectionId":"con_1","externalIdentity":"U1"}"#,
            "bind",
            Owner,
        ),
        (
            "POST",
            at::connections(),
            r#"{"provider":"slack","accountRef":"A1","credentialRef":"env:X"}"#,
            "connect",
            Owner,
        ),
        ("PATCH", at::connection(&con), "{}", "update_connection", Owner),
        ("POST", at::connection_probe(&con), "{}", "probe_connection", Owner),
        ("POST", at::connection_enable(&con), "{}", "enable_connection", Owner),
        ("POST", at::connection_disable(&con), "{}", "disable_connection", Owner),
        ("POST", at::connection_tokens(&con), "{}", "issue_token", Owner),
        ("DELETE", at::connection_token(&con, &tok), "", "revoke_token", Owner),
        ("PATCH", at::address(&adr), r#"{"enabled":true}"#, "update_address", Owner),
        ("POST", at::candidates_refresh(&adr), "{}", "refresh_candidates", Owner),
        ("PATCH", at::membership(&mem), "{}", "set_membership", Owner),
        ("PUT", at::conversation(&adr, "C1/2"), "{}", "set_conversation", Owner),
        ("POST", at::membership_enable(&mem), "{}", "enable_membership", Owner),
        ("POST", at::membership_disable(&mem), "{}", "disable_membership", Owner),
        ("POST", at::membership_archive(&mem), "{}", "archive_membership", Owner),
        ("POST", at::membership_test(&mem), "{}", "test_membership", Owner),
        ("POST", at::inbox_reply(&inb), r#"{"content":{"text":"hi"}}"#, "reply", OwnerOrAgent),
        ("POST", at::inbox_no_reply(&inb), "{}", "no_reply", OwnerOrAgent),
        ("POST", at::inbox_defer(&inb), r#"{"forSeconds":60}"#, "defer", OwnerOrAgent),
        ("POST", at::inbox_retry(&inb), "{}", "retry_inbox", OwnerOrAgent),
        ("POST", at::inbox_cancel(&inb), "{}", "cancel_inbox", Owner),
        ("POST", at::inbox_release(&inb, &art), "{}", "release_attachment", Owner),
        ("POST", at::refusal_replay(&evt), "{}", "replay_refusal", Owner),
        ("POST", at::send(), r#"{"membershipId":"mem_1","content":{"text":"hi"}}"#, "send", OwnerOrAgent),
        ("POST", at::send_admission(), "{}", "admission", OwnerOrAgent),
        ("POST", at::outbox_retry(&out), "{}", "retry_outbox", OwnerOrAgent),
        ("POST", at::outbox_cancel(&out), "{}", "cancel_outbox", OwnerOrAgent),
        ("POST", at::outbox_settle(&out), r#"{"outcome":"sent"}"#, "settle", Owner),
        ("POST", at::policy_explain(), "{}", "explain_policy", Readers),
        ("POST", at::policy_replay(), r#"{"since":"1h","draft":{}}"#, "replay_policy", Owner),
        ("POST", at::notice_ack(&ntc), "{}", "ack_notice", Owner),
        ("POST", at::hub_stop(), r#"{"drainSeconds":5}"#, "stop_hub", Owner),
        ("GET", at::artifact(&art), "", "download", OwnerOrAgent),
    ]);
    rows.extend(of_capabilities());
    rows
}

/// Routes of the capability half.
fn of_capabilities() -> Vec<Row> {
    let trn = TurnId::new(1, 1).to_string();
    let plan = OperationId::new(1, 1).to_string();
    let (gate, grant) = (GateId::new(1, 1).to_string(), GrantId::new(1, 1).to_string());
    let decision = r#"{"call_digest":"sha256:x","decision":"approve"}"#;
    let given = r#"{"agent":"docs","capability":"finance_probe","operations":["probe"]}"#;
    vec![
        ("POST", at::turns(), r#"{"connectors":[{"connector":"x"}]}"#, "begin_turn", Owner),
        ("DELETE", at::turn(&trn), "", "cancel_turn", Owner),
        ("POST", at::turn_resume(&trn), "", "resume_turn", Owner),
        ("GET", at::turns(), "", "turns", OwnerOrViewer),
        ("GET", at::turn(&trn) + "?journal=true", "", "turn", OwnerOrViewer),
        ("GET", at::turn_events(&trn), "", "turn_news", OwnerOrViewer),
        ("GET", at::payload_piece("sha256:abc") + "?pointer=/fields&offset=3", "", "payload", OwnerOrAgent),
        ("POST", at::loops(), "{}", "run_loop", Owner),
        ("POST", at::loop_report(), r#"{"summary":"x"}"#, "report_lane", OwnerOrAgent),
        ("DELETE", at::loop_run(&plan) + "?graceMs=5", "", "stop_loop", Owner),
        ("POST", at::loop_resume(&plan), "", "resume_loop", Owner),
        ("GET", at::loops(), "", "loops", OwnerOrViewer),
        ("GET", at::loop_run(&plan), "", "loop_run", OwnerOrViewer),
        ("GET", at::loop_log(&plan) + "?since=1&lane=a", "", "loop_log", OwnerOrViewer),
        ("GET", at::endpoints(), "", "endpoints", OwnerOrViewer),
        (
            "POST",
            at::endpoints(),
            r#"{"name":"a","url":"https://a","secret_ref":"env:A"}"#,
            "put_endpoint",
            Owner,
        ),
        ("GET", at::endpoint("a"), "", "endpoint", OwnerOrViewer),
        ("DELETE", at::endpoint("a"), "", "remove_endpoint", Owner),
        ("POST", at::endpoint_enable("a"), "{}", "switch_endpoint", Owner),
        ("POST", at::endpoint_disable("a"), "{}", "switch_endpoint", Owner),
        ("GET", at::endpoint_events("a"), "", "hook_events", OwnerOrViewer),
        ("GET", at::endpoint_refusals("a"), "", "hook_refusals", OwnerOrViewer),
        ("GET", at::deliveries() + "?endpoint=a", "", "deliveries", OwnerOrViewer),
        ("POST", at::deliveries(), r#"{"endpoint":"a","type":"a.b","data":{}}"#, "add_delivery", Owner),
        ("GET", at::plans(), "", "connector_plans", Readers),
        ("POST", at::plans(), r#"{"calls":[]}"#, "submit_plan", OwnerOrAgent),
        ("GET", at::plan(&plan), "", "connector_plan", Readers),
        ("POST", at::plan_run(&plan), "{}", "run_plan", OwnerOrAgent),
        ("POST", at::plan_gate(&plan, &gate), decision, "decide_gate", Owner),
        ("GET", at::grants() + "?agent=docs", "", "grants", Readers),
        ("POST", at::grants(), given, "give_grant", Owner),
        ("POST", at::grant_revoke(&grant), "{}", "revoke_grant", Owner),
        ("POST", at::capability_run("finance_probe"), "{}", "run_capability", OwnerOrAgent),
    ]
}

fn reading(con: &str, adr: &str, mem: &str, inb: &str, out: &str, evt: &str) -> Vec<Row> {
    vec![
        ("GET", at::agents(), "", "agents", Readers),
        ("GET", at::agent("docs"), "", "agent", Readers),
        ("GET", at::thread("docs"), "", "thread", Readers),
        ("GET", at::thread_events("docs"), "", "agent_id", Readers),
        ("GET", at::connections(), "", "connections", Readers),
        ("GET", at::connection(con), "", "connection", Readers),
        ("GET", at::connection_health(con), "", "connection_health", Readers),
        ("GET", at::addresses(), "", "addresses", Readers),
        ("GET", at::address(adr), "", "address", Readers),
        ("GET", at::candidates(), "", "candidates", Readers),
        ("GET", at::memberships() + "?pending=true&type=dm", "", "memberships", Readers),
        ("GET", at::membership(mem), "", "membership", Readers),
        ("GET", at::inbox() + "?open=true&limit=5", "", "inbox", Readers),
        ("GET", at::inbox_item(inb), "", "inbox_item", Readers),
        ("GET", at::refusals(), "", "refusals", Readers),
        ("GET", at::refusal_counts(), "", "refusal_counts", Readers),
        ("GET", at::refusal(evt), "", "refusal", Readers),
        ("GET", at::outbox(), "", "outbox", Readers),
        ("GET", at::outbox_item(out), "", "outbox_item", Readers),
        ("GET", at::policy_releases(), "", "releases", OwnerOrViewer),
        ("GET", at::where_is() + "?q=slack:C1/1.2", "", "where_is", Readers),
        ("GET", at::status(), "", "status", Readers),
        ("GET", at::notices(), "", "notices", OwnerOrViewer),
        ("GET", at::integration(), "", "integration", OwnerOrViewer),
        ("GET", at::integration_applies(), "", "integration_applies", OwnerOrViewer),
        (
            "POST",
            at::integration_applies(),
            r#"{"plan":{"hub_digest":"d","changes":[],"plan_digest":"p"},"revision":"r"}"#,
            "apply_integration",
            Owner,
        ),
        (
            "GET",
            at::integration_apply("op_01arz3ndektsv4rrffq69g5fav"),
            "",
            "integration_apply",
            OwnerOrViewer,
        ),
        ("POST", at::reports(), r#"{"profile":"daily"}"#, "make_report", Owner),
        ("GET", at::reports(), "", "reports", OwnerOrViewer),
        ("GET", at::report("art_1"), "", "report", OwnerOrViewer),
        ("GET", at::schedules("report"), "", "schedules", OwnerOrViewer),
        ("POST", at::schedules("turn"), r#"{"name":"a","cron":"@daily","tz":"UTC"}"#, "add_schedule", Owner),
        ("GET", at::schedule("turn", "a"), "", "schedule", OwnerOrViewer),
        ("DELETE", at::schedule("turn", "a"), "", "remove_schedule", Owner),
        ("POST", at::schedule_enable("report", "a"), "{}", "switch_schedule", Owner),
        ("POST", at::schedule_disable("report", "a"), "{}", "switch_schedule", Owner),
        ("GET", at::audit() + "?since=7", "", "audit", OwnerOrViewer),
        ("GET", at::audit_verify(), "", "verify_audit", OwnerOrViewer),
    ]
}

async fn open_house() -> House {
    house_with(|config| {
        config.requests.rate_burst = 10_000;
        config.requests.auth_failures_max = 10_000;
    })
    .await
}

async fn ask(house: &House, row: &Row, who: &str) -> super::house::Reply {
    let (method, path, body, ..) = row;
    let mut headers = vec!["content-type: application/json"];
    if !who.is_empty() {
        headers.push(who);
    }
    house.over_tcp(&format!("{method} {path}"), &headers, body).await
}

/// MSG-226, C.1: every route refuses whoever shows no principal, and lets through exactly those of the table.
#[tokio::test]
async fn msg_226_every_route_admits_whom_the_table_names() {
    let house = open_house().await;
    let owner = bearer(&house.hub.token(1, Principal::Owner, Scopes::All));
    let viewer = bearer(&house.hub.token(2, Principal::Viewer, Scopes::All));
    let agent = bearer(&house.hub.token(3, Principal::Agent(AgentId::new(1, 1)), Scopes::All));
    let connector = bearer(&house.hub.token(4, Principal::Connector(ConnectionId::new(1, 1)), Scopes::All));
    for row in rows() {
        let (method, path, _, reached, may) = &row;
        let nobody = ask(&house, &row, "").await;
        assert_eq!(nobody.code(), Some(Code::Unauthenticated), "{method} {path}");
        let admitted = [
            (&owner, true),
            (&viewer, matches!(may, Readers | OwnerOrViewer)),
            (&agent, matches!(may, Readers | OwnerOrAgent)),
            (&connector, false),
        ];
        for (who, admitted) in admitted {
            let reply = ask(&house, &row, who).await;
            let wanted = if admitted { Code::NotFound } else { Code::Forbidden };
            assert_eq!(reply.code(), Some(wanted), "{method} {path} {}", reply.body);
            assert_eq!(
                reply.body.contains(&format!("\"reached {reached}\"")),
                admitted,
                "{method} {path} {}",
                reply.body
            );
        }
    }
}

/// ID-2: a token without any scope reaches no route.
#[tokio::test]
async fn id_2_no_scope_no_route() {
    let house = open_house().await;
    for principal in [Principal::Owner, Principal::Viewer, Principal::Agent(AgentId::new(1, 1))] {
        let token = bearer(&house.hub.token(1, principal, Scopes::Only(Vec::new())));
        for row in rows() {
            assert_eq!(ask(&house, &row, &token).await.code(), Some(Code::Forbidden), "{} {}", row.0, row.1);
        }
    }
}

/// Messaging 9.1: ids are checked by their grammar, unknown filters and members are refused, versions and dry
/// runs reach the hub.
#[tokio::test]
async fn documents_and_filters_are_checked_at_the_door() {
    let house = open_house().await;
    let json = "content-type: application/json";
    let refused = [
        ("GET /v1/connections/adr_1", "", Code::InvalidId),
        ("GET /v1/outbox/..%2Fx", "", Code::InvalidId),
        ("GET /v1/agents/%00", "", Code::InvalidId),
        ("GET /v1/inbox?colour=red", "", Code::InvalidArgument),
        ("GET /v1/inbox?limit=many", "", Code::InvalidArgument),
        ("POST /v1/agents?colour=red", r#"{"name":"a","runtime":"codex"}"#, Code::InvalidArgument),
        ("POST /v1/agents", r#"{"name":"a","runtime":"codex","colour":1}"#, Code::UnknownField),
        ("POST /v1/agents", "{}", Code::MissingField),
        ("POST /v1/agents", r#"{"name":"a","runtime":"hunter2"}"#, Code::InvalidArgument),
    ];
    for (line, body, code) in refused {
        let reply = house.as_owner(line, &[json], body).await;
        assert_eq!(reply.code(), Some(code), "{line} {}", reply.body);
        assert!(!reply.body.contains("hunter2"));
    }
    let pause = house.as_owner("POST /v1/agents/docs/pause?dryRun=true", &["if-match: \"7\""], "").await;
    assert!(
        pause.body.contains("dry_run: true") && pause.body.contains("expected_version: Some(7)"),
        "{}",
        pause.body
    );
    let wait = house.as_owner("POST /v1/send", &[json, "prefer: wait=5"], "{}").await;
    assert!(wait.body.contains(" 5s"), "{}", wait.body);
    let encoded = house
        .as_owner("PUT /v1/addresses/adr_01arz3ndektsv4rrffq69g5fav/conversations/a%2Fb", &[json], "{}")
        .await;
    assert!(encoded.body.contains("a/b"), "{}", encoded.body);
}
