//! What an Agent may run: what it was granted, as itself; its writes wait for the owner.

use crate::harness::{Output, SOON, Scene, Setup, eventually};

use super::service::{Mood, Service};
use super::{MAP, install};

/// Runs the command line that is written in `ask`, and leaves what it printed.
const ASKS: &str = r#"#!/bin/sh
cat >/dev/null
sh ./ask >said 2>&1
echo "code $?" >>said
mv said answered
echo asked
"#;

/// An Agent that runs command lines inside of its Turns.
struct Agent {
    scene: Scene,
}

impl Agent {
    async fn new() -> Self {
        Agent { scene: Scene::with(Setup::default(), ASKS).await }
    }

    /// Runs a line as the Agent; gives its status and everything it printed.
    async fn runs(&self, line: &str) -> (i32, String) {
        let work = self.scene.world.work();
        drop(std::fs::remove_file(work.join("answered")));
        std::fs::write(work.join("ask"), format!("{} {line}\n", env!("CARGO_BIN_EXE_loom"))).unwrap();
        self.scene.ann_writes("do it");
        let answered = work.join("answered");
        let said = eventually("an answer", SOON, || async { std::fs::read_to_string(&answered).ok() }).await;
        let (said, code) = said.trim_end().rsplit_once("code ").unwrap();
        (code.parse().unwrap(), said.to_owned())
    }

    async fn owner(&self, line: &str) -> Output {
        self.scene.world.line(&format!("{line} --json")).await
    }
}

/// CAP-035, CAP-120: without a grant nothing runs; with one for one repository no other does; and it can be revoked.
#[tokio::test(flavor = "multi_thread")]
async fn cap_035_cap_120_an_agent_runs_what_it_was_granted() {
    let agent = Agent::new().await;
    let probe = |repo: &str| {
        format!("value-connectors github-public-probe --url https://github.com/{repo}/issues/1 --json")
    };
    let (code, said) = agent.runs(&probe("acme/tool")).await;
    assert!(code == 1 && said.contains("\"forbidden\""), "{code} {said}");
    let grant = "capability grant echo github_public_probe --op probe --resource repo=acme/tool";
    let grant = agent.owner(grant).await.ok().json();
    let (code, said) = agent.runs(&probe("acme/tool")).await;
    assert!(code == 0 && said.contains("\"agent:agt_"), "{code} {said}");
    for other in ["acme/other", "ACME/other", "evil/tool"] {
        let (code, said) = agent.runs(&probe(other)).await;
        assert!(code == 1 && said.contains("\"forbidden\""), "{other}: {code} {said}");
    }
    let (code, said) = agent.runs(&format!("{} --api-url http://127.0.0.1:9", probe("acme/tool"))).await;
    assert!(code == 1 && said.contains("\"forbidden\""), "{code} {said}");
    let listed = agent.owner("capability grants echo").await.ok().json();
    assert_eq!(listed["items"][0]["granted_by"], "owner");
    assert!(listed["items"][0]["granted_at"].is_string(), "{listed}");
    let id = grant["id"].as_str().unwrap();
    agent.owner(&format!("capability revoke {id}")).await.ok();
    let (code, said) = agent.runs(&probe("acme/tool")).await;
    assert!(code == 1 && said.contains("\"forbidden\""), "{code} {said}");
    let (code, said) = agent.runs("capability grant echo finance_probe --op probe --json").await;
    assert!(code == 1 && said.contains("\"forbidden\""), "{code} {said}");
}

/// CAP-090: what the configuration does not name is refused for an Agent too, whatever was granted.
#[tokio::test(flavor = "multi_thread")]
async fn cap_090_a_grant_reaches_no_further_than_the_configuration() {
    let settings = "[capabilities.pr_review]\nrepos = [\"acme/*\"]\n".to_owned();
    let agent = Agent { scene: Scene::with(Setup { settings, ..Setup::default() }, ASKS).await };
    let grant = "capability grant echo pr_review --op scan --resource repo=umbrella/tool";
    agent.owner(grant).await.ok();
    let (code, said) = agent.runs("capability run pr_review --repo umbrella/tool --json").await;
    assert!(code == 1 && said.contains("\"egress_denied\""), "{code} {said}");
}

/// CAP-117: an Agent opens a gate, and cannot decide about it; the owner is told.
#[tokio::test(flavor = "multi_thread")]
async fn cap_117_an_agent_cannot_approve() {
    let agent = Agent::new().await;
    install(&agent.scene.world, MAP).await;
    let file = "calls: [{connector: local/tickets, operation: comment, input: {ticket: '7', text: hello}}]\n";
    std::fs::write(agent.scene.world.work().join("plan.yaml"), file).unwrap();
    let submit = "value-connectors plan --config plan.yaml --submit --json";
    let (code, said) = agent.runs(submit).await;
    assert!(code == 1 && said.contains("\"forbidden\""), "{code} {said}");
    let read = "capability grant echo local/tickets --op comment --resource ticket=7";
    agent.owner(read).await.ok();
    let (code, said) = agent.runs(submit).await;
    assert!(code == 1 && said.contains("\"forbidden\""), "a grant to read is none to write: {code} {said}");
    agent.owner(&format!("{read} --effect write")).await.ok();
    let (code, said) = agent.runs(submit).await;
    assert_eq!(code, 0, "{said}");
    let plan: serde_json::Value = serde_json::from_str(&said).unwrap();
    let text = |path: &str| plan.pointer(path).and_then(serde_json::Value::as_str).unwrap().to_owned();
    let (id, gate, digest) = (text("/id"), text("/gates/0/id"), text("/gates/0/call_digest"));
    let (code, said) = agent
        .runs(&format!("value-connectors approve {id} --gate {gate} --call-digest {digest} --json"))
        .await;
    assert!(code == 1 && said.contains("\"forbidden\""), "{code} {said}");
    let (code, said) = agent.runs(&format!("value-connectors run {id} --json")).await;
    assert!(code == 3 && said.contains("\"approval_required\""), "{code} {said}");
    // A read that fails beside an open gate leaves it open.
    agent.runs("value-connectors github-public-probe --url https://github.com/a/b/issues/1").await;
    let shown = agent.owner(&format!("value-connectors show {id}")).await.ok().json();
    assert_eq!(
        (&shown["gates"][0]["state"], &shown["projection"]["waiting_on"]),
        (&"open".into(), &"owner".into())
    );
    let notices = agent.owner("notices list").await.ok().json();
    assert!(notices["items"].as_array().unwrap().iter().any(|one| one["kind"] == "gate_open"), "{notices}");
}

/// CAP-114, CAP-115: an Agent names an endpoint, never a URL; its POST is a gated write that the owner approves.
#[tokio::test(flavor = "multi_thread")]
async fn cap_114_an_agents_post_is_a_gated_write_to_a_named_endpoint() {
    let service = Service::start(Mood::Answers).await;
    let variables = vec![("LOOM_LOCAL_ORIGINS".to_owned(), service.url.clone())];
    let setup = Setup { variables, ..Setup::default() };
    let agent = Agent { scene: Scene::with(setup, ASKS).await };
    let add = "value-connectors http-webhook endpoint add tickets --secret-ref env:NOT_READ --url";
    agent.owner(&format!("{add} {}/tickets", service.url)).await.ok();
    agent
        .owner("capability grant echo http_webhook --op probe --resource endpoint=tickets --effect write")
        .await
        .ok();
    let probe = "value-connectors http-webhook --method POST --expect-status 201";
    let (code, said) = agent.runs(&format!("{probe} --url {} --format json", service.url)).await;
    assert!(code == 1 && said.contains("\"forbidden\""), "{code} {said}");
    let (code, said) = agent.runs(&format!("{probe} --endpoint tickets --format json")).await;
    assert!(code == 3 && said.contains("\"approval_required\""), "{code} {said}");
    let document = said.find('{').and_then(|from| said.get(from..=said.rfind('}')?)).unwrap();
    let error: serde_json::Value = serde_json::from_str(document).unwrap();
    let word = |name: &str| error["error"]["detail"][name].as_str().unwrap().to_owned();
    let (plan, gate, digest) = (word("plan_id"), word("gate_id"), word("call_digest"));
    assert_eq!(service.comments(), 0);
    agent.owner(&format!("value-connectors approve {plan} --gate {gate} --call-digest {digest}")).await.ok();
    let (code, said) = agent.runs(&format!("value-connectors run {plan} --json")).await;
    assert!(code == 0 && said.contains("\"confirmed\""), "{code} {said}");
    let (code, _) = agent.runs(&format!("value-connectors run {plan} --json")).await;
    assert_eq!((code, service.comments()), (3, 1));
}
