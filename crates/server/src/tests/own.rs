//! What callers other than the owner see and may do, over a real hub and store.

use loom_domain::{Principal, decision::Limits, inbox::State};
use loom_store::ops::inbound::Offer;
use serde_json::{Value, json};

use super::whole::Whole;

/// An Agent with one record of each kind.
struct Own {
    agent: String,
    name: &'static str,
    address: String,
    membership: String,
    item: String,
    message: String,
    sent: String,
    token: String,
}

impl Own {
    async fn of(whole: &Whole, connection: &str, name: &'static str, n: u8) -> Own {
        let agent = whole.paused_agent(name).await;
        let identity = format!("slack://T1/U{n}BOT");
        let bind = json!({"connectionId": connection, "externalIdentity": identity, "enabled": true});
        let address = whole.made(&format!("POST /v1/agents/{name}/addresses"), &bind).await;
        let set = json!({"conversationType": "channel", "outboundPolicy": "proactive", "enabled": true});
        let path = format!("PUT /v1/addresses/{address}/conversations/C{n}");
        let membership = whole.made(&path, &set).await;
        let judged = whole.hear(connection, &mention(n)).await;
        let (item, message) = (judged.item_id.unwrap().to_string(), judged.message_id.unwrap().to_string());
        let send = json!({
            "from": name, "membershipId": membership, "idempotencyKey": "k", "content": {"text": "hello"},
        });
        let (status, sent) = whole.ask("POST /v1/send", &[], &send).await;
        assert_eq!(status, 202, "{sent}");
        let sent = sent["id"].as_str().unwrap().to_owned();
        let token = whole.token("agent", &agent).await;
        Own { agent, name, address, membership, item, message, sent, token }
    }

    /// Paths of its records, one by one.
    fn records(&self) -> Vec<String> {
        let Own { agent, name, address, membership, item, message, sent, .. } = self;
        vec![
            format!("/v1/agents/{name}"),
            format!("/v1/agents/{agent}"),
            format!("/v1/agents/{name}/thread"),
            format!("/v1/addresses/{address}"),
            format!("/v1/memberships/{membership}"),
            format!("/v1/inbox/{item}"),
            format!("/v1/inbox/{message}"),
            format!("/v1/outbox/{sent}"),
            format!("/v1/inbox?agent={name}"),
            format!("/v1/outbox?agent={name}"),
            format!("/v1/memberships?agent={name}"),
            format!("/v1/events?agent={name}&follow=false"),
        ]
    }
}

/// A mention of the bot with that number, in its channel.
fn mention(n: u8) -> Value {
    json!({
        "eventId": format!("Ev{n}"), "kind": "message",
        "conversation": {"conversationId": format!("C{n}"), "messageId": "170.1", "conversationType": "channel"},
        "sender": {"externalId": "U0ANN", "kind": "human"},
        "content": {"text": "hi", "format": "plain", "attachments": []},
        "mentions": [{"externalId": format!("U{n}BOT")}],
        "messageKey": format!("T1/C{n}/170.1"), "replyExpected": "optional", "raw": {},
    })
}

impl Whole {
    /// The platform sends an event.
    async fn hear(&self, connection: &str, event: &Value) -> loom_store::ops::inbound::Judged {
        let offer = Offer {
            connection_id: connection.parse().unwrap(),
            fence: None,
            own_ids: Vec::new(),
            limits: Limits::default(),
        };
        let event = serde_json::from_value(event.clone()).unwrap();
        let act = self.hub.act(Principal::Hub);
        let judged = self.hub.store().record_inbound(act, offer, vec![event]).await.unwrap().remove(0);
        assert!(judged.item_id.is_some(), "{}", judged.reason);
        judged
    }
}

/// The token of an Agent opens its own records and none of another Agent, by id, by name or in a list.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_sees_its_own_records_only() {
    let whole = Whole::start().await;
    let connection = whole.connection().await;
    let one = Own::of(&whole, &connection, "one", 1).await;
    let two = Own::of(&whole, &connection, "two", 2).await;
    for (own, other) in [(&one, &two), (&two, &one)] {
        for path in own.records() {
            let (status, answer) = whole.read_as(&own.token, &path).await;
            assert_eq!(status, 200, "{path} {answer}");
        }
        for path in other.records() {
            let (status, answer) = whole.read_as(&own.token, &path).await;
            assert_eq!((status, &answer["code"]), (403, &json!("forbidden")), "{path} {answer}");
            assert!(answer.get("item").is_none() && answer.get("name").is_none(), "{answer}");
        }
        for list in ["agents", "addresses", "memberships", "inbox", "outbox"] {
            let (_, page) = whole.read_as(&own.token, &format!("/v1/{list}")).await;
            assert_eq!(page["items"].as_array().map(Vec::len), Some(1), "{list} {page}");
            for foreign in [&other.agent, &other.address, &other.membership, &other.item, &other.sent] {
                assert!(!page.to_string().contains(foreign.as_str()), "{list} shows {foreign}");
            }
        }
        let (_, page) = whole.read_as(&own.token, "/v1/connections").await;
        let shown = page.to_string();
        assert!(
            shown.contains(&own.address) && !shown.contains(&other.address) && !shown.contains("env:SLACK")
        );
        let stored = "GET /v1/events?since=0&follow=false";
        let events = whole.send(&super::house::request(stored, "localhost", &[&own.token], "")).await;
        assert!(events.body.contains(&own.item) && events.body.contains(&own.sent), "{}", events.body);
        for foreign in [&other.agent, &other.address, &other.membership, &other.item, &other.sent] {
            assert!(!events.body.contains(foreign.as_str()), "{foreign} in the events");
        }
        for act in ["no-reply", "defer", "retry"] {
            let line = format!("POST /v1/inbox/{}/{act}", other.item);
            let (status, answer) = whole.ask(&line, &[&own.token], &json!({"forSeconds": 60})).await;
            assert!(matches!(status, 400 | 403), "{act} {answer}");
        }
        let untouched = whole.hub.store().inbox_item(other.item.parse().unwrap()).await.unwrap();
        assert_eq!((untouched.state, untouched.outcome), (State::Queued, None));
    }
    whole.end().await;
}

/// Neither a viewer nor an Agent changes a credential or a policy; each attempt is a row of the audit chain.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn msg_038_a_policy_is_changed_by_the_owner_only_and_attempts_are_audited() {
    let whole = Whole::start().await;
    let connection = whole.connection().await;
    let own = Own::of(&whole, &connection, "one", 1).await;
    let viewer = whole.token("viewer", "").await;
    let changes = [
        (format!("PATCH /v1/connections/{connection}"), json!({"credentialRef": "env:OTHER"})),
        (format!("PATCH /v1/addresses/{}", own.address), json!({"dmPolicy": "open"})),
        (format!("PATCH /v1/memberships/{}", own.membership), json!({"outboundPolicy": "none"})),
        (format!("PUT /v1/addresses/{}/conversations/C1", own.address), json!({"guidance": "obey"})),
        (format!("POST /v1/memberships/{}/disable", own.membership), json!({})),
        ("PATCH /v1/agents/one".to_owned(), json!({"sandbox": "none"})),
    ];
    let before = stored(&whole, &own).await;
    for (who, token) in [("viewer".to_owned(), &viewer), (format!("agent:{}", own.agent), &own.token)] {
        for (line, body) in &changes {
            let rows = refused_rows(&whole).await.len();
            for _ in 0..3 {
                let (status, answer) = whole.ask(line, &[token], body).await;
                assert_eq!((status, &answer["code"]), (403, &json!("forbidden")), "{line} {answer}");
            }
            let after = refused_rows(&whole).await;
            assert_eq!(after.len(), rows + 1, "one row for a repeated attempt: {line}");
            let row = after.last().unwrap();
            let (method, path) = line.split_once(' ').unwrap();
            assert_eq!((&row["principal"], &row["object"]), (&json!(who), &json!(path)));
            assert_eq!(
                (&row["detail"]["method"], &row["detail"]["code"]),
                (&json!(method), &json!("forbidden"))
            );
        }
    }
    assert_eq!(stored(&whole, &own).await, before);
    whole.hub.store().verify_audit().await.unwrap();
    whole.end().await;
}

async fn refused_rows(whole: &Whole) -> Vec<Value> {
    let (_, page) = whole.ask("GET /v1/audit?limit=500", &[], &Value::Null).await;
    page["items"].as_array().unwrap().iter().filter(|row| row["action"] == "api.refuse").cloned().collect()
}

/// Everything of the configuration that the owner sets.
async fn stored(whole: &Whole, own: &Own) -> Value {
    let store = whole.hub.store();
    json!([
        store.agent_by("one".to_owned()).await.unwrap(),
        store.all_connections().await.unwrap(),
        store.address(own.address.parse().unwrap()).await.unwrap(),
        store.membership(own.membership.parse().unwrap()).await.unwrap(),
    ])
}
