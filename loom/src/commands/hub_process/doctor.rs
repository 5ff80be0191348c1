//! `loom doctor`: one line a check, with what to run next. Works with the hub down.

mod credentials;
mod home;
mod settings;

use serde_json::{Value, json};

use super::Doctor;
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::output::{items, pick};

/// How a check ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Result {
    Pass,
    Warn,
    Fail,
    Skip,
}

impl Result {
    const fn word(self) -> &'static str {
        match self {
            Result::Pass => "pass",
            Result::Warn => "warn",
            Result::Fail => "fail",
            Result::Skip => "skip",
        }
    }
}

/// One check.
#[derive(Debug)]
struct Check {
    id: &'static str,
    result: Result,
    text: String,
    run: Option<String>,
}

impl Check {
    fn new(id: &'static str, result: Result, text: impl Into<String>) -> Self {
        Check { id, result, text: text.into(), run: None }
    }

    fn run(mut self, command: impl Into<String>) -> Self {
        self.run = Some(command.into());
        self
    }

    fn to_json(&self) -> Value {
        json!({"id": self.id, "result": self.result.word(), "text": self.text, "run": self.run})
    }
}

/// Runs every check; exit 1 when one fails.
pub(crate) async fn run(_args: Doctor, cx: &mut Context<'_, '_>) -> Outcome {
    let mut checks = home::checks(&cx.env.home());
    let config = settings::config(&cx.env.home(), &cx.env.variables, &mut checks);
    if let Some(config) = &config {
        settings::switches(config, &mut checks);
    }
    hub(cx, &mut checks).await;
    print(&checks, cx)?;
    let is_failed = checks.iter().any(|check| check.result == Result::Fail);
    if is_failed { Err(Failure::Exit(1)) } else { Ok(()) }
}

fn print(checks: &[Check], cx: &mut Context<'_, '_>) -> Outcome {
    if !cx.out.is_human() {
        let all: Value = checks.iter().map(Check::to_json).collect();
        return cx.out.json(&json!({"checks": all}));
    }
    for check in checks {
        cx.out.line(&format!("{} {:<12} {}", check.result.word(), check.id, check.text))?;
        if let Some(run) = check.run.as_ref().filter(|_| check.result != Result::Pass) {
            cx.out.line(&format!("     {:<12} run: {run}", ""))?;
        }
    }
    Ok(())
}

/// What the running hub says of its Connections, sends and items.
async fn hub(cx: &Context<'_, '_>, checks: &mut Vec<Check>) {
    use loom_api::routes;
    let Ok(client) = cx.hub() else {
        checks.push(Check::new("hub", Result::Fail, "the hub's address or token cannot be used"));
        return;
    };
    let status: Value = match client.get(routes::status()).run().await {
        Ok(status) => status,
        Err(_) => {
            checks.push(
                Check::new("hub", Result::Skip, "no hub answers; its checks are left out").run("loom up"),
            );
            return;
        }
    };
    let state = pick::text(&status, "state");
    let result = if state == "serving" { Result::Pass } else { Result::Fail };
    checks.push(Check::new("hub", result, format!("the hub is {state}")).run("loom status"));
    let [unknown, dead] = ["outbox.unknown", "outbox.dead"].map(|path| pick::number(&status, path));
    let result = if unknown + dead > 0 { Result::Warn } else { Result::Pass };
    checks.push(
        Check::new("outbox", result, format!("{unknown} unknown, {dead} dead"))
            .run("loom outbox list --dead"),
    );
    let waiting = pick::number(&status, "inbox.needsDecision");
    let result = if waiting > 0 { Result::Warn } else { Result::Pass };
    checks.push(
        Check::new("inbox", result, format!("{waiting} need a decision"))
            .run("loom inbox list --state needs_decision"),
    );
    if let Ok(page) = client.get(routes::connections()).run::<Value>().await {
        connections(&page, checks);
        credentials::checks(&page, cx, checks).await;
    }
    match client.get(routes::audit_verify()).run::<Value>().await {
        Ok(_) => checks.push(Check::new("audit", Result::Pass, "the audit chain verifies")),
        Err(error) => {
            checks.push(Check::new("audit", Result::Fail, error.message).run("loom explain audit_broken"));
        }
    }
}

fn connections(page: &Value, checks: &mut Vec<Check>) {
    for entry in items(page) {
        let text = |key: &str| pick::text(entry, key);
        let result = match text("state").as_str() {
            "connected" => Result::Pass,
            "disabled" => Result::Skip,
            "degraded" | "connecting" => Result::Warn,
            _ => Result::Fail,
        };
        let line = format!("{} {} is {} ({})", text("provider"), text("id"), text("state"), text("reason"));
        checks.push(
            Check::new("connection", result, line).run(format!("loom integration status {}", text("id"))),
        );
        if pick::is(entry, "allowHttp") {
            checks.push(Check::new("egress", Result::Warn, format!("{} may use plain http", text("id"))));
        }
    }
}
