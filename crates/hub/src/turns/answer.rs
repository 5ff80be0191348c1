//! Makes a reply of a final answer: cleaned, cut into chunks that fit the platform, files stored.

use loom_domain::{
    Code, Error, Principal, ReplyPolicy, Result, TextFormat,
    admission::{CHUNKS_MAX, SendFile},
    agent::OnOversize,
    answer::clean,
    artifact::Direction,
};
use loom_runtimes::{OutFile, TurnOutcome};
use loom_store::ops::{
    outbox::{Draft, DraftFile},
    turns::{Claimed, Reply, TurnEnd},
};

use crate::hub::Hub;

/// Name of the file that holds an answer too long for messages.
const OVERSIZE_NAME: &str = "answer.md";

/// The end of a Turn that completed, with its reply ready to store.
pub(super) async fn completed(hub: &Hub, claimed: &Claimed, outcome: TurnOutcome) -> TurnEnd {
    let usage = outcome
        .usage
        .map_or(serde_json::Value::Null, |usage| serde_json::to_value(usage).unwrap_or_default());
    let raw = outcome.answer.map(|a| (a.text, a.files)).unwrap_or_default();
    let text = clean(&raw.0);
    let kept = Some(hub.stored_text(&raw.0)).filter(|t| !t.is_empty());
    let is_reply = claimed.attempt.effective_reply_policy == ReplyPolicy::FinalAnswer;
    if !is_reply || (text.is_empty() && raw.1.is_empty()) {
        return TurnEnd::Completed { answer: kept, reply: None, refused: None, usage };
    }
    match draft(hub, claimed, &text, raw.1).await {
        Ok(draft) => TurnEnd::Completed { answer: kept, reply: Some(Reply { draft }), refused: None, usage },
        Err(error) => TurnEnd::Completed { answer: kept, reply: None, refused: Some(error), usage },
    }
}

async fn draft(hub: &Hub, claimed: &Claimed, text: &str, out_files: Vec<OutFile>) -> Result<Draft> {
    // The whole text is looked at before it is cut, so that no secret hides across a border.
    let mut text = hub.outbound_text(text)?;
    let mut files = Vec::new();
    for file in out_files {
        let name = file.name.clone();
        files.push(store(hub, &name, bytes_of(file).await?).await?);
    }
    let chunks = match hub.split_for(claimed.connection.as_ref(), &text, TextFormat::Markdown, CHUNKS_MAX) {
        Ok(chunks) => chunks,
        Err(error) if error.code == Code::TextTooLong && claimed.agent.on_oversize == OnOversize::File => {
            files.push(store(hub, OVERSIZE_NAME, text.as_bytes().to_vec()).await?);
            let all = hub.split_for(claimed.connection.as_ref(), &text, TextFormat::Markdown, usize::MAX)?;
            text = all.into_iter().next().unwrap_or_default();
            vec![text.clone()]
        }
        Err(error) => return Err(error),
    };
    Ok(Draft { text, format: Some(TextFormat::Markdown), chunks, files, ..Draft::default() })
}

async fn bytes_of(file: OutFile) -> Result<Vec<u8>> {
    let read = tokio::task::spawn_blocking(move || file.read()).await.map_err(Error::internal)?;
    read.map_err(|cause| {
        Error::new(Code::FileRefused, format!("a file of the answer cannot be read: {cause}"))
    })
}

async fn store(hub: &Hub, name: &str, bytes: Vec<u8>) -> Result<DraftFile> {
    let artifact =
        hub.put_artifact(hub.act(Principal::Hub), name, None, Direction::Out, bytes.into()).await?;
    Ok(DraftFile {
        artifact_id: artifact.id,
        file: SendFile { name: artifact.name, size: artifact.size, sha256: artifact.sha256 },
        mime_type: artifact.mime_type,
    })
}
