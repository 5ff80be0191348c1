//! Feishu / Lark: messages go out by the rules of the hub, each once, and nothing comes in.

use loom_twins::lark::{Fault, FaultAction, LarkTwin, World as Platform};
use serde_json::{Value, json};

use crate::harness::{ECHO, LONG, Output, Setup, World, agent_script, eventually};

/// The chat that messages may go to at any time.
const CHAT: &str = "oc_general";
/// A chat that takes replies only.
const QUIET: &str = "oc_quiet";
const SEND: &str = "/open-apis/im/v1/messages";

/// A hub with a Connection to a Lark twin.
struct Stage {
    world: World,
    twin: LarkTwin,
    credential: String,
    membership: String,
    quiet: String,
}

impl Stage {
    async fn new() -> Self {
        let mut platform = Platform::default();
        platform.chats.push((QUIET.to_owned(), "Quiet".to_owned()));
        let twin = LarkTwin::start(0, platform).await.unwrap();
        let (app_id, app_secret) = twin.app();
        let credential = json!({"app_id": app_id, "app_secret": app_secret}).to_string();
        let variables = vec![("LARK_TWIN".to_owned(), credential.clone())];
        let mut world = World::new(Setup { variables, ..Setup::default() }).await;
        world.up().await;
        let script = agent_script(&world.work(), "agent.sh", ECHO);
        let cwd = world.work().to_string_lossy().into_owned();
        let words =
            ["agent", "create", "echo", "--runtime", "command", "--cwd", &cwd, "--json", "--", &script];
        world.loom(&words).await.ok();
        let connect = format!(
            "integration connect lark --account {app_id} --credential-ref env:LARK_TWIN --api-url {} --gateway managed",
            twin.base_url()
        );
        let connected = world.line(&format!("{connect} --json")).await.ok();
        assert!(connected.json()["warnings"].to_string().contains("outbound only"), "{connected}");
        let connection = connected.id();
        let bind = format!("integration bind echo {connection} --identity feishu://ou_bot --json");
        let address = world.line(&bind).await.ok().id();
        let mut memberships = Vec::new();
        for (chat, policy) in [(CHAT, "proactive"), (QUIET, "reply_only")] {
            let set =
                format!("conversation set {address} {chat} --type group --outbound-policy {policy} --json");
            let id = world.line(&set).await.ok().id();
            world.line(&format!("conversation enable {id} --json")).await.ok();
            memberships.push(id);
        }
        for id in [&connection, &address] {
            world.line(&format!("integration enable {id} --json")).await.ok();
        }
        world.connected(&connection).await;
        let [membership, quiet] = memberships.try_into().unwrap();
        Stage { world, twin, credential, membership, quiet }
    }

    /// Sends by the connector.
    async fn notify(&self, to: &str, key: &str, more: &[&str]) -> Output {
        let mut words =
            vec!["value-connectors", "lark-notify", "--to", to, "--idempotency-key", key, "--json"];
        words.extend(more);
        self.world.loom(&words).await
    }

    /// What the app's messages say, read by the connector that reads.
    async fn read_back(&self) -> Vec<String> {
        let url = self.twin.base_url();
        let words = [
            "value-connectors",
            "lark-probe",
            "messages",
            "--chat",
            CHAT,
            "--limit",
            "500",
            "--api-url",
            &url,
            "--credential-ref",
            "env:LARK_TWIN",
            "--json",
        ];
        let read = self.world.loom_with(&words, b"", &[("LARK_TWIN", &self.credential)]).await.ok().json();
        let items = read["items"].as_array().unwrap().clone();
        let ours = items.into_iter().filter(|item| item["sender"]["sender_type"] == "app");
        ours.map(|item| item["text"].as_str().unwrap().to_owned()).collect()
    }
}

/// The run must have ended with this code and exit status, told in its payload.
#[track_caller]
fn ended(output: &Output, code: &str, exit: i32) -> Value {
    let payload = output.json();
    assert_eq!((output.code, payload["error"]["code"].as_str()), (exit, Some(code)), "{output}");
    payload["fields"].clone()
}

/// Text of exactly so many characters: paragraphs, lists and blocks of code.
fn long_text(characters: usize) -> String {
    let mut text = String::new();
    for n in 1.. {
        text += &format!(
            "Paragraph {n} with 漢字, *stress* and a < b.\nIts second line.\n\n- item {n}\n- more\n\n"
        );
        text += &format!("```rust\nfn step_{n}() -> u32 {{\n    # kept as it is\n    {n} * 2\n}}\n```\n\n");
        if text.chars().count() > characters {
            break;
        }
    }
    let mut text: String = text.chars().take(characters - 5).collect();
    text.push_str("\nend.");
    text
}

/// Lines that hold anything, without the fences of code.
fn lines(text: &str) -> Vec<&str> {
    text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with("```")).collect()
}

/// CAP-104: 20,000 characters with line breaks and code arrive whole, in order, and are read back whole.
#[tokio::test(flavor = "multi_thread")]
async fn cap_104_a_long_text_arrives_whole_and_reads_back_whole() {
    let stage = Stage::new().await;
    let text = long_text(20_000);
    assert_eq!(text.chars().count(), 20_000);
    let file = stage.world.work().join("long.md");
    std::fs::write(&file, &text).unwrap();
    let sent =
        stage.notify(&stage.membership, "long", &["--text-file", file.to_str().unwrap()]).await.ok().json();
    let parts = sent["fields"]["parts"].as_array().unwrap();
    assert!(parts.len() > 5 && sent["fields"]["state"] == "sent", "{sent:#}");
    let ids: Vec<String> =
        parts.iter().map(|part| part["provider_message_id"].as_str().unwrap().to_owned()).collect();
    let arrived: Vec<String> = stage.twin.world().sent().into_iter().map(|message| message.id).collect();
    assert_eq!(ids, arrived, "the parts are in order");
    assert_eq!(sent["effects"]["external_writes"], parts.len());
    let read = stage.read_back().await.join("\n");
    assert_eq!(lines(&read), lines(&text));
    let too_long = format!("{text}.");
    std::fs::write(&file, too_long).unwrap();
    let refused = stage.notify(&stage.membership, "longer", &["--text-file", file.to_str().unwrap()]).await;
    refused.fails("invalid_input", 1);
}

/// CAP-109: refused where only replies are allowed; the same key sends once; without a hub exit 7.
#[tokio::test(flavor = "multi_thread")]
async fn cap_109_notices_go_by_the_rules_and_once() {
    let mut stage = Stage::new().await;
    ended(&stage.notify(&stage.quiet, "k", &["--text", "psst"]).await, "proactive_not_allowed", 1);
    let words = ["value-connectors", "lark-notify", "probe", "--to", &stage.quiet, "--json"];
    ended(&stage.world.loom(&words).await, "proactive_not_allowed", 1);
    let words = ["value-connectors", "lark-notify", "probe", "--to", &stage.membership, "--json"];
    let probed = stage.world.loom(&words).await.ok().json();
    assert_eq!(
        (&probed["fields"]["admitted"], &probed["fields"]["connection_state"]),
        (&json!(true), &json!("connected"))
    );
    assert!(stage.twin.world().sent().is_empty());

    let of = |output: Output| output.ok().json()["fields"].clone();
    let first = of(stage.notify(&stage.membership, "k1", &["--text", "once"]).await);
    let again = of(stage.notify(&stage.membership, "k1", &["--text", "once"]).await);
    assert_eq!((&first["outbox_id"], &first["duplicate"]), (&again["outbox_id"], &json!(false)));
    assert_eq!(again["duplicate"], true);
    ended(&stage.notify(&stage.membership, "k1", &["--text", "other"]).await, "idempotency_conflict", 1);
    assert_eq!(stage.twin.world().sent().len(), 1);

    for (name, bytes) in [("a.png", b"\x89PNG x".as_slice()), ("b.pdf", b"report")] {
        std::fs::write(stage.world.work().join(name), bytes).unwrap();
    }
    let files = ["--text", "see", "--file", "a.png", "--file", "b.pdf", "--expect-reply", "none"];
    let sent = of(stage.notify(&stage.membership, "k2", &files).await);
    let kinds: Vec<&Value> = sent["parts"].as_array().unwrap().iter().map(|part| &part["kind"]).collect();
    assert_eq!(kinds, ["text", "file", "file"]);
    let arrived: Vec<String> = stage.twin.world().sent().into_iter().map(|message| message.kind).collect();
    assert_eq!(arrived, ["post", "post", "image", "file"]);

    let inbox = stage.world.line("inbox list --json").await.ok().json();
    assert_eq!(inbox["items"], json!([]), "nothing comes in");
    stage.world.terminate().await;
    ended(&stage.notify(&stage.membership, "k3", &["--text", "nobody"]).await, "hub_unreachable", 7);
}

/// MSG-184: an answer is lost and the hub is killed; the next hub finds the one message by its uuid.
#[tokio::test(flavor = "multi_thread")]
async fn msg_184_a_lost_answer_and_a_kill_leave_one_message() {
    let mut stage = Stage::new().await;
    stage.twin.fault(Fault::once(SEND, FaultAction::DropAfterActing));
    let unknown = stage.notify(&stage.membership, "k1", &["--text", "exactly once"]).await;
    let id = ended(&unknown, "delivery_unknown", 3)["outbox_id"].as_str().unwrap().to_owned();
    stage.world.kill().await;
    stage.world.up().await;
    let item = eventually("the message as sent", LONG, || async {
        let item = stage.world.line(&format!("outbox get {id} --json")).await.ok().json();
        (item["state"] == "sent").then_some(item)
    })
    .await;
    let sent = stage.twin.world().sent();
    assert_eq!((sent.len(), &item["parts"][0]["receipt"]["externalMessageId"]), (1, &json!(sent[0].id)));
    assert_eq!(item["parts"][0]["receipt"]["via"], "settlement");
    stage.notify(&stage.membership, "k1", &["--text", "exactly once"]).await.ok();
    assert_eq!(stage.twin.world().sent().len(), 1);
}
