//! `lark_probe`: chats, members, messages and documents that an app of Feishu or Lark may read.

mod client;
mod errors;
mod input;
mod message;
mod output;
mod read;

use async_trait::async_trait;
use loom_domain::Result;

use crate::{
    Boundary, Capability, CatalogEntry, Cx, Operation, Readiness, RunOutcome, RunPlan, RunRequest, Sink,
    SourceRef, Status,
};
use client::Lark;
use input::{ChatsInput, DocumentInput, MembersInput, MessageInput, MessagesInput, ProbeInput};
use output::{AppFields, Chat, DocumentFields, Member, Message};
use read::Task;

/// Name of its credential.
const CREDENTIAL: &str = "lark";

/// The connector.
#[derive(Debug)]
pub struct LarkProbe {
    entry: CatalogEntry,
}

impl LarkProbe {
    /// Makes it.
    pub fn new() -> Self {
        let operations = [
            Operation::record::<ProbeInput, AppFields>("probe", "loom.lark_app/v1")
                .about("What the app is, and which reads it may make"),
            Operation::list::<ChatsInput, Chat>("chats", "loom.lark_chats/v1")
                .about("Groups the app is in")
                .paged(),
            Operation::list::<MembersInput, Member>("members", "loom.lark_members/v1")
                .about("People of a group")
                .paged()
                .resource("chat"),
            Operation::list::<MessagesInput, Message>("messages", "loom.lark_messages/v1")
                .about("Messages of a group or thread, oldest first")
                .paged()
                .resource("chat"),
            Operation::record::<MessageInput, Message>("message", "loom.lark_message/v1")
                .about("One message")
                .resource("chat"),
            Operation::record::<DocumentInput, DocumentFields>("document", "loom.lark_document/v1")
                .about("A document as plain text")
                .resource("doc"),
        ];
        let entry = CatalogEntry::connector("lark_probe", "Chats and documents of Feishu / Lark")
            .boundary(Boundary::PrivateRead)
            .host(client::FEISHU_HOST, &["GET", "POST"])
            .host(client::LARK_HOST, &["GET", "POST"])
            .credential(CREDENTIAL, &["app_id", "app_secret"], true)
            .api_url_variable("LOOM_LARK_API_URL")
            .stop_condition("a scope is missing")
            .examples(
                "value-connectors lark-probe chats --credential-ref vault:lark",
                "value-connectors lark-probe messages --chat oc_1 --limit 50 \\\n    --credential-ref vault:lark --brand lark",
            );
        let add =
            |entry: CatalogEntry, one: Operation| entry.operation(one.rate_scope(loom_transport::SCOPE_LARK));
        LarkProbe { entry: operations.into_iter().fold(entry, add) }
    }
}

impl Default for LarkProbe {
    fn default() -> Self {
        LarkProbe::new()
    }
}

#[async_trait]
impl Capability for LarkProbe {
    fn entry(&self) -> &CatalogEntry {
        &self.entry
    }

    async fn readiness(&self, cx: &Cx, _: Option<&str>) -> Readiness {
        let ready = Readiness::ready(&self.entry);
        match cx.names_credential(CREDENTIAL) {
            true => ready,
            false => ready.all_without(Status::CredentialMissing, "give --credential-ref REF"),
        }
    }

    fn plan(&self, request: &RunRequest) -> Result<RunPlan> {
        let task = Task::read(request)?;
        let base = client::base(request.settings.api_url.as_deref(), task.brand);
        let plan = RunPlan::of(&self.entry, request)?;
        let plan = match task.resource() {
            Some((key, value)) => plan.resource(key, value),
            None => plan,
        };
        Ok(plan
            .request("POST", format!("{base}{}", client::TOKEN_PATH))
            .request("GET", format!("{base}{}", task.path())))
    }

    async fn run(&self, cx: &Cx, request: RunRequest, out: &mut dyn Sink) -> Result<RunOutcome> {
        let task = Task::read(&request)?;
        let lark = Lark::open(cx, task.brand).await?;
        let source = SourceRef::new(task.source_kind(), task.name(), None, cx.now());
        let outcome = Box::pin(task.run(&lark, request.cursor.as_ref(), out)).await?;
        Ok(RunOutcome { source_refs: vec![source], ..outcome })
    }
}

#[cfg(test)]
mod tests;
