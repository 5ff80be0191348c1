//! The codex runtime against a scripted app-server, for what the real one does not do on demand.

use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use loom_domain::AgentId;
use tokio::time::{Instant, sleep};

use super::CodexRuntime;
use crate::conformance::{Cases, check, end, key, request, start};
use crate::*;

/// Answers like codex, by the words of the input. It writes what it is sent to `$HOME/log`.
const SCRIPT: &str = r#"#!/bin/bash
say() { printf '%s\n' "$1"; }
turn=0
complete() { say '{"method":"turn/completed","params":{"threadId":"th","turn":{"id":"tu'$turn'","itemsView":"summary","status":"'$1'","items":['$2']}}}'; }
started() { turn=$((turn+1)); say '{"id":'$id',"result":{"turn":{"id":"tu'$turn'"}}}'; say '{"method":"turn/started","params":{"threadId":"th","turn":{"id":"tu'$turn'"}}}'; }
while IFS= read -r line; do
  printf '%s\n' "$line" >> "$HOME/log"
  id=${line#*\"id\":}; id=${id%%[,\}]*}
  case $line in
    *'"initialize"'*) [ -e "$HOME/mute" ] || say '{"id":'$id',"result":{"userAgent":"loom/9.9.9 (fake)"}}' ;;
    *'"thread/start"'*) say '{"id":'$id',"result":{"thread":{"id":"th"}}}' ;;
    *'"thread/resume"'*)
      if [ -e "$HOME/locked" ]; then rm "$HOME/locked"; say '{"id":'$id',"error":{"code":-32600,"message":"thread th already has an active writer"}}'
      elif [ -e "$HOME/lost" ]; then say '{"id":'$id',"error":{"code":-32600,"message":"no rollout found for thread id th"}}'
      else say '{"id":'$id',"result":{"thread":{"id":"th"}}}'; fi ;;
    *'"thread/turns/list"'*) say '{"id":'$id',"result":{"data":[],"nextCursor":null}}' ;;
    *'"turn/interrupt"'*) say '{"id":'$id',"result":{}}'; [ -e "$HOME/deaf" ] || complete interrupted ;;
    *'"turn/start"'*SILENT*) : ;;
    *'"turn/start"'*SLOW*) started ;;
    *'"turn/start"'*STRANGE*) started
      say '{"id":0,"method":"item/tool/requestUserInput","params":{"threadId":"th"}}'
      read -r reply; printf '%s\n' "$reply" >> "$HOME/log"
      complete completed '{"type":"agentMessage","text":"after"}' ;;
    *'"turn/start"'*ASK*) started
      say '{"id":0,"method":"mcpServer/elicitation/request","params":{"threadId":"th","serverName":"loom","message":"call?","_meta":{"codex_approval_kind":"mcp_tool_call"}}}'
      read -r reply; printf '%s\n' "$reply" >> "$HOME/log"
      complete completed '{"type":"agentMessage","text":"asked"}' ;;
    *'"turn/start"'*LONG*) started; head -c 100000 /dev/zero | tr '\0' x; sleep 60 ;;
    *'"turn/start"'*) started; complete completed '{"type":"agentMessage","text":"pong"}' ;;
  esac
done
"#;

struct Room {
    _folder: tempfile::TempDir,
    host: HostCtx,
    agent: AgentSpec,
}

impl Room {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("fake-codex");
        std::fs::write(&program, SCRIPT).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let mut host = HostCtx::new(folder.path().join("private"), "/usr/bin:/bin");
        std::fs::create_dir(&host.private_dir).unwrap();
        host.limits.line_bytes_max = 64 * 1024;
        let mut runtime = RuntimeSettings::new(RuntimeKind::Codex);
        runtime.argv = vec![program.to_string_lossy().into_owned()];
        let cwd = folder.path().to_owned();
        let agent = AgentSpec { id: AgentId::new(0, 1), name: "docs".into(), runtime, cwd, profile: None };
        Room { _folder: folder, host, agent }
    }

    fn runtime(&self) -> CodexRuntime {
        CodexRuntime::new("fake", &self.agent.runtime, self.host.clone())
    }

    async fn open(&self, runtime: &CodexRuntime, thread: Option<&str>) -> Opened {
        let binding = thread.map(|id| Binding {
            kind: RuntimeKind::Codex,
            thread_id: id.into(),
            instance: "fake".into(),
        });
        runtime.open(&self.agent, binding.as_ref(), &self.host).await.unwrap()
    }

    fn flag(&self, name: &str) {
        std::fs::write(self.host.private_dir.join(name), "").unwrap();
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.host.private_dir.join("log")).unwrap_or_default()
    }
}

#[tokio::test]
async fn rt_1_rt_6_the_codex_adapter_conforms() {
    let room = Room::new();
    let cases = Cases { quick: "ping".into(), answer: "pong".into(), slow: "SLOW".into() };
    check(&room.runtime(), &room.agent, &room.host, &cases).await.unwrap();
    assert_eq!(room.log().matches("turn/start").count(), 5, "a busy thread is sent nothing");
}

#[tokio::test]
async fn rt_13_another_version_is_told() {
    let room = Room::new();
    let probe = room.runtime().probe().await.unwrap();
    assert_eq!((probe.version.as_str(), probe.tested), ("9.9.9", false));
}

#[tokio::test]
async fn rt_2_a_locked_thread_is_tried_again_and_a_lost_one_is_new() {
    let room = Room::new();
    let runtime = room.runtime();
    room.flag("locked");
    assert_eq!(room.open(&runtime, Some("th")).await.how, OpenedHow::Resumed);
    assert_eq!(room.log().matches("thread/resume").count(), 2);
    room.flag("lost");
    let how = room.open(&runtime, Some("th")).await.how;
    assert!(matches!(how, OpenedHow::FreshAfterLoss { reason } if reason.contains("no rollout found")));
}

#[tokio::test]
async fn an_unknown_request_of_the_server_is_refused_by_its_code() {
    let room = Room::new();
    let runtime = room.runtime();
    let opened = room.open(&runtime, None).await;
    let (handle, ..) = start(opened.session.as_ref(), request(1, "STRANGE")).await.unwrap();
    assert_eq!(end(handle).await.unwrap().answer.unwrap().text, "after");
    assert!(room.log().contains("-32601"));
}

#[tokio::test]
async fn rt_12_a_question_without_a_listener_is_denied_and_an_answered_one_is_single_use() {
    let room = Room::new();
    let runtime = room.runtime();
    let opened = room.open(&runtime, None).await;
    let session = opened.session.as_ref();
    let (handle, _, mut events) = start(session, request(1, "ASK")).await.unwrap();
    let Some(TurnEvent::Permission(asked)) = events.recv().await else { panic!("no question") };
    assert_eq!(asked.text, "server: loom\nmessage: call?\ncall: {\"codex_approval_kind\":\"mcp_tool_call\"}");
    session.answer(asked.id.clone(), Decision::AllowOnce).await.unwrap();
    assert!(session.answer(asked.id, Decision::AllowOnce).await.is_err());
    end(handle).await.unwrap();
    assert!(room.log().contains("\"action\":\"accept\""));
    let (handle, _, events) = start(session, request(2, "ASK")).await.unwrap();
    drop(events);
    end(handle).await.unwrap();
    let answers = room.log().matches("\"action\":").count();
    assert_eq!(answers, 2, "the second question has an answer too");
}

#[tokio::test]
async fn rt_8_a_line_over_the_limit_ends_the_process_and_the_turn_is_lost() {
    let room = Room::new();
    let runtime = room.runtime();
    let opened = room.open(&runtime, None).await;
    let (handle, ..) = start(opened.session.as_ref(), request(1, "LONG")).await.unwrap();
    assert_eq!(end(handle).await.unwrap().status, TurnStatus::Lost);
    let fate = opened.session.reconcile(&key(1)).await.unwrap();
    assert_eq!(fate, TurnFate::Interrupted { partial: false }, "accepted once is not never");
}

#[tokio::test]
async fn rt_6_a_turn_that_ignores_the_interrupt_is_killed_and_the_thread_is_loaded_again() {
    let room = Room::new();
    let runtime = room.runtime();
    room.flag("deaf");
    let opened = room.open(&runtime, None).await;
    let session = opened.session.as_ref();
    let (handle, native, _events) = start(session, request(1, "SLOW")).await.unwrap();
    let how = session.interrupt(&native, Duration::from_millis(200)).await.unwrap();
    assert_eq!(how, InterruptOutcome::Killed);
    assert_eq!(end(handle).await.unwrap().status, TurnStatus::Interrupted);
    let (handle, ..) = start(session, request(2, "ping")).await.unwrap();
    assert_eq!(end(handle).await.unwrap().status, TurnStatus::Completed);
    assert!(room.log().contains("thread/resume"));
}

#[tokio::test]
async fn rt_4_a_start_without_an_answer_is_indeterminate_and_the_process_is_gone_before_the_verdict() {
    let mut room = Room::new();
    room.host.limits.request_wait = Duration::from_millis(300);
    let runtime = room.runtime();
    let opened = room.open(&runtime, None).await;
    let old = runtime.process_id().await.unwrap();
    let error = start(opened.session.as_ref(), request(1, "SILENT")).await.unwrap_err();
    assert!(error.contains("indeterminate"), "{error}");
    assert_eq!(opened.session.reconcile(&key(1)).await.unwrap(), TurnFate::NeverAccepted);
    assert_ne!(runtime.process_id().await, Some(old));
    assert!(!std::path::Path::new(&format!("/proc/{old}")).exists());
}

#[tokio::test]
async fn a_peer_that_does_not_shake_hands_is_ended() {
    let mut room = Room::new();
    room.host.limits.probe_wait = Duration::from_millis(300);
    room.flag("mute");
    assert_eq!(room.runtime().probe().await.unwrap_err().class, ErrClass::Handshake);
    room.agent.runtime.argv = vec!["no-such-codex".into()];
    assert_eq!(room.runtime().probe().await.unwrap_err().class, ErrClass::Spawn);
}

#[tokio::test]
async fn atk_42_a_leftover_process_is_ended_before_the_next_one_starts() {
    let room = Room::new();
    let first = room.runtime();
    first.probe().await.unwrap();
    let old = first.process_id().await.unwrap();
    let second = room.runtime();
    second.probe().await.unwrap();
    let give_up_at = Instant::now() + Duration::from_secs(10);
    while first.process_id().await.is_some() {
        assert!(Instant::now() < give_up_at, "the old process lives");
        sleep(Duration::from_millis(10)).await;
    }
    assert_ne!(second.process_id().await, Some(old));
}
