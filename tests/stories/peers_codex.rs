//! The real Codex against the model twin: what the adapter relies on, and what becomes of a Turn when the
//! app-server is killed at each of its events.

use std::path::{Path, PathBuf};
use std::time::Duration;

use loom_domain::AgentId;
use loom_runtimes::conformance::{Cases, check, end, key, request, start};
use loom_runtimes::{
    AgentRuntime, AgentSession, AgentSpec, AnswerSource, Approval, CodexRuntime, Decision, ErrClass, HostCtx,
    InterruptOutcome, OpenedHow, PermissionRequest, RuntimeKind, RuntimeSettings, Shutdown, StartError,
    ToolState, TurnEvent, TurnFate, TurnOutcome, TurnStatus,
};
use loom_twins::model::ModelTwin;
use tokio::sync::mpsc;
use tokio::time::timeout;

/// The native program of the pinned package, below `peers/codex`.
const PROGRAM: &str = "node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex";
/// Wait for one event of the real program.
const SOON: Duration = Duration::from_secs(30);

pub(crate) fn program() -> PathBuf {
    let here = std::env::var_os("CARGO_MANIFEST_DIR").unwrap();
    let found = Path::new(&here)
        .ancestors()
        .map(|folder| folder.join("peers/codex").join(PROGRAM))
        .find(|path| path.exists());
    found.expect(
        "the real codex is not installed; run scripts/test, which installs it (npm ci in peers/codex)",
    )
}

/// A private instance, its Agent and the model it talks to.
struct Room {
    folder: tempfile::TempDir,
    host: HostCtx,
    agent: AgentSpec,
    model: ModelTwin,
}

impl Room {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let model = ModelTwin::start(0).await.unwrap();
        let host = HostCtx::new(folder.path().join("private"), "/usr/bin:/bin");
        let mut runtime = RuntimeSettings::new(RuntimeKind::Codex);
        runtime.argv = vec![program().to_string_lossy().into_owned()];
        runtime.endpoint = Some(model.v1_url());
        runtime.model = Some("fake-model".to_owned());
        let cwd = folder.path().join("work");
        std::fs::create_dir(&cwd).unwrap();
        let agent = AgentSpec { id: AgentId::new(0, 1), name: "docs".into(), runtime, cwd, profile: None };
        Room { folder, host, agent, model }
    }

    fn runtime(&self) -> CodexRuntime {
        CodexRuntime::new("codex-main", &self.agent.runtime, self.host.clone())
    }

    async fn turn(&self, session: &dyn AgentSession, number: u128, text: &str) -> TurnOutcome {
        let (handle, ..) = start(session, request(number, text)).await.unwrap();
        end(handle).await.unwrap()
    }
}

fn said(outcome: &TurnOutcome) -> &str {
    outcome.answer.as_ref().map(|answer| answer.text.as_str()).unwrap_or_default()
}

async fn kill(runtime: &CodexRuntime) {
    let pid = runtime.process_id().await.unwrap();
    let pid = nix::unistd::Pid::from_raw(i32::try_from(pid).unwrap());
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL).unwrap();
}

#[tokio::test]
async fn rt_1_rt_6_the_real_codex_conforms() {
    let room = Room::new().await;
    let cases = Cases { quick: "hello".into(), answer: "echo: hello".into(), slow: "SLOW:60".into() };
    check(&room.runtime(), &room.agent, &room.host, &cases).await.unwrap();
    // A Turn that is stopped at once may end before its model call.
    assert_eq!(room.model.calls_with("hello"), 3, "nothing was run for the refused Turn, and nothing twice");
    assert!(room.model.calls_with("SLOW") <= 2);
}

#[tokio::test]
async fn rt_13_the_real_codex_has_the_tested_version() {
    let room = Room::new().await;
    let runtime = room.runtime();
    let probe = runtime.probe().await.unwrap();
    assert_eq!((probe.version.as_str(), probe.tested), (loom_runtimes::codex::TESTED_VERSION, true));
    assert_eq!(room.model.calls(), 0, "a probe spends no tokens");
    runtime.shutdown(Shutdown::Drain(Duration::ZERO)).await.unwrap();
    assert_eq!(runtime.process_id().await, None);
}

#[tokio::test]
async fn rt_2_rt_3_a_thread_is_resumed_in_a_new_process_with_its_history_and_the_policies_of_now() {
    let mut room = Room::new().await;
    room.agent.profile = Some("always be brief".to_owned());
    let first = room.runtime();
    let opened = first.open(&room.agent, None, &room.host).await.unwrap();
    assert_eq!(said(&room.turn(opened.session.as_ref(), 1, "hello").await), "echo: hello");
    let before = first.process_id().await;
    first.shutdown(Shutdown::Drain(SOON)).await.unwrap();
    room.agent.runtime.approval = Approval::Strict;
    let second = room.runtime();
    let again = second.open(&room.agent, Some(&opened.binding), &room.host).await.unwrap();
    assert_eq!((&again.how, &again.binding), (&OpenedHow::Resumed, &opened.binding));
    assert_ne!(second.process_id().await, before);
    let session = again.session.as_ref();
    assert_eq!(said(&room.turn(session, 2, "COUNT").await), "users=2");
    let last = room.model.log().last().unwrap().body.to_string();
    assert!(last.contains("always be brief"), "the profile of the start is part of the history");
    let (handle, native, mut events) = start(session, request(3, "TOOL:touch x")).await.unwrap();
    question(&mut events).await;
    session.interrupt(&native, SOON).await.unwrap();
    assert_eq!(end(handle).await.unwrap().status, TurnStatus::Interrupted);
}

async fn question(events: &mut mpsc::Receiver<TurnEvent>) -> PermissionRequest {
    loop {
        if let TurnEvent::Permission(asked) = timeout(SOON, events.recv()).await.unwrap().unwrap() {
            return asked;
        }
    }
}

#[tokio::test]
async fn a_thread_that_is_gone_is_replaced_and_the_loss_is_told() {
    let room = Room::new().await;
    let runtime = room.runtime();
    let opened = runtime.open(&room.agent, None, &room.host).await.unwrap();
    let mut lost = opened.binding.clone();
    lost.thread_id = "00000000-0000-7000-8000-000000000000".to_owned();
    let again = runtime.open(&room.agent, Some(&lost), &room.host).await.unwrap();
    assert!(
        matches!(&again.how, OpenedHow::FreshAfterLoss { reason } if reason.contains("no rollout found"))
    );
    assert_ne!(again.binding.thread_id, lost.thread_id);
}

#[tokio::test]
async fn rt_10_rt_11_answers_events_and_usage_of_a_turn_with_a_tool() {
    let room = Room::new().await;
    let runtime = room.runtime();
    let session = runtime.open(&room.agent, None, &room.host).await.unwrap().session;
    let (handle, _native, mut events) = start(session.as_ref(), request(1, "TOOL:echo hi")).await.unwrap();
    let outcome = end(handle).await.unwrap();
    assert!(said(&outcome).starts_with("tool said:") && said(&outcome).ends_with("hi"), "{outcome:?}");
    assert_eq!(outcome.answer.as_ref().unwrap().source, AnswerSource::Declared);
    let usage = outcome.usage.unwrap();
    assert_eq!((usage.input_tokens, usage.output_tokens), (22, 14), "two model calls");
    let mut states = Vec::new();
    while let Some(event) = events.recv().await {
        if let TurnEvent::Tool { name, state, .. } = event {
            assert!(name.contains("echo hi"));
            states.push(state);
        }
    }
    assert_eq!(states, [ToolState::Started, ToolState::Completed]);
    let outcome = room.turn(session.as_ref(), 2, "PHASES").await;
    assert_eq!(said(&outcome), "the answer");
    assert_eq!(outcome.usage.unwrap().input_tokens, 11, "counters of the thread are differenced");
    let enveloped = "loom-envelope/1 K\nK untrusted message msg=m sender=U1\n\n| hello\n\nK end";
    assert_eq!(said(&room.turn(session.as_ref(), 3, enveloped).await), "echo: hello");
}

#[tokio::test]
async fn rt_15_model_errors_are_classed_and_the_next_turn_works() {
    let room = Room::new().await;
    let runtime = room.runtime();
    let session = runtime.open(&room.agent, None, &room.host).await.unwrap().session;
    let cases = [
        ("FAIL:500", ErrClass::Overloaded, true),
        ("FAIL:503", ErrClass::Overloaded, true),
        ("FAIL:429", ErrClass::RateLimit, true),
        ("FAIL:401", ErrClass::Auth, false),
        ("FAIL:400", ErrClass::BadRequest, false),
        ("FAIL:404", ErrClass::BadRequest, false),
        ("DROP", ErrClass::ModelStream, true),
    ];
    for (number, (text, class, retryable)) in (1..).zip(cases) {
        let outcome = room.turn(session.as_ref(), number, text).await;
        assert_eq!((outcome.status, &outcome.answer), (TurnStatus::Failed, &None), "{text}");
        let error = outcome.error.unwrap();
        assert_eq!((error.class, error.retryable), (class, retryable), "{text}: {error:?}");
    }
    assert_eq!(said(&room.turn(session.as_ref(), 50, "hello").await), "echo: hello");
    assert_eq!(room.model.calls(), cases.len() + 1, "no hidden retries");
}

#[tokio::test]
async fn rt_12_the_owner_allows_denies_or_cancels_one_act() {
    let mut room = Room::new().await;
    room.agent.runtime.approval = Approval::Strict;
    let runtime = room.runtime();
    let session = runtime.open(&room.agent, None, &room.host).await.unwrap().session;
    let cases = [
        (Decision::AllowOnce, TurnStatus::Completed, 0),
        (Decision::Deny, TurnStatus::Completed, 1),
        (Decision::Cancel, TurnStatus::Interrupted, 1),
    ];
    for (number, (decision, status, denials)) in (1..).zip(cases) {
        let text = format!("TOOL:touch {}", room.folder.path().join(number.to_string()).display());
        let (handle, _native, mut events) = start(session.as_ref(), request(number, &text)).await.unwrap();
        let asked = question(&mut events).await;
        assert!(asked.text.contains("touch"), "{asked:?}");
        session.answer(asked.id.clone(), decision).await.unwrap();
        assert!(session.answer(asked.id, decision).await.is_err(), "an answer is single use");
        let outcome = end(handle).await.unwrap();
        assert_eq!((outcome.status, outcome.denials.len()), (status, denials), "{decision:?}: {outcome:?}");
    }
}

#[tokio::test]
async fn rt_7_a_tool_of_codex_sees_nothing_of_our_environment() {
    let mut room = Room::new().await;
    room.host.env.insert("MY_KEY".to_owned(), "value".to_owned());
    let runtime = room.runtime();
    let session = runtime.open(&room.agent, None, &room.host).await.unwrap().session;
    let outcome = room.turn(session.as_ref(), 1, "TOOL:/usr/bin/env").await;
    assert!(said(&outcome).contains("TERM=dumb"), "{}", said(&outcome));
    assert!(!said(&outcome).contains("CARGO_"), "{}", said(&outcome));
}

#[tokio::test]
async fn an_interrupt_right_after_the_start_still_stops_the_turn() {
    let room = Room::new().await;
    let runtime = room.runtime();
    let session = runtime.open(&room.agent, None, &room.host).await.unwrap().session;
    let (handle, native, _events) = start(session.as_ref(), request(1, "SLOW:60")).await.unwrap();
    let how = session.interrupt(&native, Duration::from_secs(10)).await.unwrap();
    assert_eq!(how, InterruptOutcome::Clean);
    assert_eq!(end(handle).await.unwrap().status, TurnStatus::Interrupted);
}

#[tokio::test]
async fn two_agents_share_one_process_and_one_is_not_the_other() {
    let room = Room::new().await;
    let runtime = room.runtime();
    let one = runtime.open(&room.agent, None, &room.host).await.unwrap();
    let other = runtime.open(&room.agent, None, &room.host).await.unwrap();
    assert_ne!(one.binding.thread_id, other.binding.thread_id);
    let (slow, native, _events) = start(one.session.as_ref(), request(1, "SLOW:60")).await.unwrap();
    assert_eq!(said(&room.turn(other.session.as_ref(), 2, "COUNT").await), "users=1");
    one.session.interrupt(&native, Duration::from_secs(10)).await.unwrap();
    assert_eq!(end(slow).await.unwrap().status, TurnStatus::Interrupted);
}

#[tokio::test]
async fn rt_5_a_finished_turn_is_found_by_its_key_in_a_new_process_without_a_model_call() {
    let room = Room::new().await;
    let first = room.runtime();
    let opened = first.open(&room.agent, None, &room.host).await.unwrap();
    room.turn(opened.session.as_ref(), 1, "hello").await;
    room.turn(opened.session.as_ref(), 2, "FAIL:400").await;
    for number in 3..15 {
        room.turn(opened.session.as_ref(), number, "later").await;
    }
    kill(&first).await;
    let calls = room.model.calls();
    let second = room.runtime();
    let session = second.open(&room.agent, Some(&opened.binding), &room.host).await.unwrap().session;
    let TurnFate::Done(outcome) = session.reconcile(&key(1)).await.unwrap() else { panic!("not done") };
    assert_eq!((outcome.status, said(&outcome)), (TurnStatus::Completed, "echo: hello"));
    let TurnFate::Done(outcome) = session.reconcile(&key(2)).await.unwrap() else { panic!("not done") };
    assert_eq!(outcome.error.unwrap().class, ErrClass::BadRequest);
    assert_eq!(session.reconcile(&key(99)).await.unwrap(), TurnFate::NeverAccepted);
    assert_eq!(room.model.calls(), calls, "reconcile reads and never runs");
}

#[tokio::test]
async fn rt_5_a_running_turn_is_running_and_a_killed_one_is_interrupted() {
    let room = Room::new().await;
    let runtime = room.runtime();
    let session = runtime.open(&room.agent, None, &room.host).await.unwrap().session;
    let (handle, native, _events) = start(session.as_ref(), request(1, "SLOW:60")).await.unwrap();
    room.model.wait_calls(1).await;
    assert_eq!(session.reconcile(&key(1)).await.unwrap(), TurnFate::Running(native));
    kill(&runtime).await;
    let outcome = end(handle).await.unwrap();
    assert_eq!((outcome.status, outcome.error.unwrap().class), (TurnStatus::Lost, ErrClass::Exited));
    assert_eq!(session.reconcile(&key(1)).await.unwrap(), TurnFate::Interrupted { partial: false });
    assert_eq!(room.model.calls(), 1);
    // The session finds its way to a new process by itself.
    assert_eq!(said(&room.turn(session.as_ref(), 2, "COUNT").await), "users=2");
}

/// Moments of a Turn at which the app-server is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Moment {
    Accepted,
    ModelCalled,
    FirstText,
    ToolStarted,
    ToolCompleted,
    Usage,
    Completed,
}

#[tokio::test]
async fn p_6_a_turn_killed_at_any_event_is_never_run_again_and_its_fate_is_honest() {
    let moments = [
        (Moment::Accepted, "SLOW:60"),
        (Moment::ModelCalled, "SLOW:60"),
        (Moment::FirstText, "SLOW:60"),
        (Moment::ToolStarted, "TOOL:sleep 60"),
        (Moment::ToolCompleted, "TOOL:true"),
        (Moment::Usage, "TOOL:true"),
        (Moment::Completed, "hello"),
    ];
    for (moment, text) in moments {
        let room = Room::new().await;
        let runtime = room.runtime();
        let opened = runtime.open(&room.agent, None, &room.host).await.unwrap();
        let (handle, _native, mut events) = start(opened.session.as_ref(), request(1, text)).await.unwrap();
        reach(moment, &room, &mut events).await;
        kill(&runtime).await;
        let seen = end(handle).await.unwrap();
        let calls = room.model.calls();
        // A new hub: only the private directory and the binding are left.
        let later = room.runtime();
        let again = later.open(&room.agent, Some(&opened.binding), &room.host).await.unwrap();
        match again.session.reconcile(&key(1)).await.unwrap() {
            TurnFate::Interrupted { .. } => assert_ne!(seen.status, TurnStatus::Completed, "{moment:?}"),
            TurnFate::Done(outcome) => assert_eq!(outcome.status, TurnStatus::Completed, "{moment:?}"),
            other => panic!("{moment:?}: {other:?}"),
        }
        assert_eq!(room.model.calls(), calls, "{moment:?}: nothing ran again");
        assert_eq!(said(&room.turn(again.session.as_ref(), 2, "hello").await), "echo: hello", "{moment:?}");
        let first = text.split(':').next().unwrap();
        let repeats = room.model.log().iter().filter(|call| call.text.starts_with(first)).count();
        assert!(repeats <= 2, "{moment:?}: at most the call and its tool result, or the two greetings");
    }
}

async fn reach(moment: Moment, room: &Room, events: &mut mpsc::Receiver<TurnEvent>) {
    match moment {
        Moment::Accepted => return,
        Moment::ModelCalled => return room.model.wait_calls(1).await,
        _ => {}
    }
    loop {
        let event = timeout(SOON, events.recv()).await.unwrap_or_else(|_| panic!("{moment:?} never came"));
        let there = match event {
            None => moment == Moment::Completed,
            Some(TurnEvent::Text { .. }) => moment == Moment::FirstText,
            Some(TurnEvent::Tool { state: ToolState::Started, .. }) => moment == Moment::ToolStarted,
            Some(TurnEvent::Tool { .. }) => moment == Moment::ToolCompleted,
            Some(TurnEvent::Usage(_)) => moment == Moment::Usage,
            Some(_) => false,
        };
        if there {
            return;
        }
    }
}

#[tokio::test]
async fn p_6_a_start_that_the_kill_overtakes_is_never_accepted_only_if_no_model_call_was_made() {
    // The kill races the start; whatever wins, the verdict must fit the model's own count.
    for round in 0..12_u32 {
        let room = Room::new().await;
        let runtime = room.runtime();
        let opened = runtime.open(&room.agent, None, &room.host).await.unwrap();
        room.turn(opened.session.as_ref(), 1, "warm").await;
        let (sender, _events) = mpsc::channel(64);
        let pause = Duration::from_millis(u64::from(round) * 8);
        let killed = async {
            tokio::time::sleep(pause).await;
            kill(&runtime).await;
        };
        let (started, ()) = tokio::join!(opened.session.start_turn(request(2, "SLOW:60"), sender), killed);
        if let Ok(handle) = started {
            assert_eq!(end(handle).await.unwrap().status, TurnStatus::Lost);
        } else if let Err(StartError::Refused(error)) = started {
            panic!("a killed server refuses nothing: {error}");
        }
        let calls = room.model.calls_with("SLOW");
        let fate = opened.session.reconcile(&key(2)).await.unwrap();
        match fate {
            TurnFate::NeverAccepted => assert_eq!(calls, 0, "round {round}"),
            TurnFate::Interrupted { .. } => {}
            other => panic!("round {round}: {other:?}"),
        }
        assert_eq!(room.model.calls_with("SLOW"), calls);
    }
}
