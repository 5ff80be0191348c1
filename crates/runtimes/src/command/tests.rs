//! The command runtime with real shell programs.

use std::path::Path;
use std::time::Duration;

use loom_domain::AgentId;
use tokio::time::{Instant, sleep};

use super::CommandRuntime;
use crate::conformance::{Cases, check, end, key, request, start};
use crate::process::ChildRecord;
use crate::turn_dir::TurnDir;
use crate::*;

struct Room {
    folder: tempfile::TempDir,
    host: HostCtx,
}

impl Room {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let host = HostCtx::new(folder.path().join("private"), "/usr/bin:/bin");
        Room { folder, host }
    }

    /// An Agent whose program is a shell script.
    fn agent(&self, script: &str) -> AgentSpec {
        let mut runtime = RuntimeSettings::new(RuntimeKind::Command);
        runtime.argv = ["/bin/sh", "-c", script].map(str::to_owned).to_vec();
        let cwd = self.folder.path().to_owned();
        AgentSpec { id: AgentId::new(0, 1), name: "docs".into(), runtime, cwd, profile: None }
    }

    fn json(&self, script: &str) -> AgentSpec {
        let mut agent = self.agent(script);
        agent.runtime.output = OutputForm::Json;
        agent
    }

    fn runtime(&self, agent: &AgentSpec) -> CommandRuntime {
        CommandRuntime::new("shell", &agent.runtime, self.host.clone())
    }

    async fn session(&self, agent: &AgentSpec, thread: Option<&str>) -> Box<dyn AgentSession> {
        let binding = thread.map(|thread| Binding {
            kind: RuntimeKind::Command,
            thread_id: thread.into(),
            instance: "shell".into(),
        });
        self.runtime(agent).open(agent, binding.as_ref(), &self.host).await.unwrap().session
    }

    async fn run(&self, agent: &AgentSpec, text: &str) -> TurnOutcome {
        let session = self.session(agent, None).await;
        let (handle, ..) = start(session.as_ref(), request(1, text)).await.unwrap();
        end(handle).await.unwrap()
    }
}

fn class(outcome: &TurnOutcome) -> Option<(ErrClass, bool)> {
    outcome.error.as_ref().map(|error| (error.class, error.retryable))
}

async fn until(mut holds: impl FnMut() -> bool) {
    let give_up_at = Instant::now() + Duration::from_secs(10);
    while !holds() {
        assert!(Instant::now() < give_up_at, "it never came true");
        sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn rt_1_rt_6_the_command_adapter_conforms() {
    let room = Room::new();
    let agent = room.agent("read word; case $word in slow) exec sleep 60;; *) echo \"got $word\";; esac");
    let cases = Cases { quick: "hello\n".into(), answer: "got hello".into(), slow: "slow\n".into() };
    check(&room.runtime(&agent), &agent, &room.host, &cases).await.unwrap();
}

#[tokio::test]
async fn rt_7_a_program_sees_the_allow_list_and_the_loom_variables_only() {
    let mut room = Room::new();
    room.host.token_file = Some("/t/token".into());
    room.host.socket_path = Some("/t/sock".into());
    room.host.env.insert("MY_KEY".into(), "value".into());
    let outcome = room.run(&room.agent("exec /usr/bin/env"), "").await;
    let text = outcome.answer.unwrap().text;
    let mut names: Vec<&str> = text.lines().filter_map(|line| line.split('=').next()).collect();
    names.sort_unstable();
    let wanted = "HOME LANG LC_ALL LOOM_AGENT_ID LOOM_SOCKET LOOM_TOKEN_FILE LOOM_TURN_DIR LOOM_TURN_ID MY_KEY PATH \
                  PWD TERM TMPDIR";
    // The shell itself may add PWD, OLDPWD, SHLVL and `_`.
    names.retain(|name| !["OLDPWD", "SHLVL", "_"].contains(name));
    assert_eq!(names.join(" "), wanted);
}

#[tokio::test]
async fn exit_statuses_have_their_meaning_and_stderr_is_kept_redacted_for_the_owner() {
    let mut room = Room::new();
    room.host.redact = std::sync::Arc::new(|text: &str| text.replace("s3cret", "[redacted]"));
    let outcome = room.run(&room.agent("echo s3cret >&2; exit 75"), "").await;
    assert_eq!((outcome.status, class(&outcome)), (TurnStatus::Failed, Some((ErrClass::Exited, true))));
    assert_eq!(outcome.stderr_tail.as_deref(), Some("[redacted]\n"));
    let outcome = room.run(&room.agent("exit 3"), "").await;
    assert_eq!((outcome.status, class(&outcome)), (TurnStatus::Failed, Some((ErrClass::Exited, false))));
    let outcome = room.run(&room.agent("kill -9 $$"), "").await;
    assert_eq!(outcome.status, TurnStatus::Interrupted);
    let outcome = room.run(&room.agent("printf 'two\\nlines\\n\\n'"), "").await;
    let answer = outcome.answer.unwrap();
    assert_eq!((answer.text.as_str(), answer.source), ("two\nlines", AnswerSource::Stdout));
}

#[tokio::test]
async fn rt_8_output_and_stderr_have_limits() {
    let room = Room::new();
    let outcome = room.run(&room.agent("head -c 1048576 /dev/zero"), "").await;
    assert_eq!(outcome.status, TurnStatus::Completed);
    let outcome = room.run(&room.agent("head -c 1048577 /dev/zero; sleep 60"), "").await;
    assert_eq!((outcome.status, class(&outcome)), (TurnStatus::Failed, Some((ErrClass::Protocol, false))));
    assert!(outcome.error.unwrap().message.starts_with("response_too_large"));
    let outcome = room.run(&room.agent("yes | head -c 100000 >&2; echo end >&2"), "").await;
    let tail = outcome.stderr_tail.unwrap();
    assert!(tail.len() == 8192 && tail.ends_with("end\n"));
}

#[tokio::test]
async fn json_input_and_output_with_attachments_and_files() {
    let room = Room::new();
    let source = room.folder.path().join("source");
    std::fs::write(&source, "bytes").unwrap();
    let script = "cat > $LOOM_TURN_DIR/seen.json; cp $LOOM_TURN_DIR/in/1-a_b.txt $LOOM_TURN_DIR/out/copy; \
                  test -w $LOOM_TURN_DIR/in/1-a_b.txt && test $(id -u) != 0 && exit 9; \
                  echo '{\"answer\":null,\"thread\":\"t1\",\"files\":[\"copy\"],\"usage\":{\"input_tokens\":5}}'";
    let mut agent = room.json(script);
    agent.runtime.input = InputForm::Json;
    let session = room.session(&agent, None).await;
    let mut turn = request(1, "the envelope");
    let artifact = ArtifactRef {
        path: source,
        name: "../a b.txt".into(),
        mime: "text/plain".into(),
        sha256: "00".into(),
    };
    turn.input.push(Input::File(artifact));
    turn.facts = serde_json::json!({"item": {"id": "inb_x"}, "message": {"text": "hi"}, "other": 1});
    let (handle, ..) = start(session.as_ref(), turn).await.unwrap();
    let outcome = end(handle).await.unwrap();
    assert_eq!(outcome.status, TurnStatus::Completed, "{outcome:?}");
    let answer = outcome.answer.unwrap();
    assert_eq!((answer.text.as_str(), answer.files[0].bytes, answer.files[0].name.as_str()), ("", 5, "copy"));
    assert_eq!((outcome.thread.as_deref(), outcome.usage.unwrap().input_tokens), (Some("t1"), 5));
    let seen = std::fs::read(TurnDir::of(&room.host, &key(1)).path().join("seen.json")).unwrap();
    let seen: serde_json::Value = serde_json::from_slice(&seen).unwrap();
    assert_eq!(seen["schema_version"], "loom_turn_input_v1");
    assert_eq!(
        (&seen["item"]["id"], &seen["attachments"][0]["path"]),
        (&"inb_x".into(), &"1-a_b.txt".into())
    );
    assert_eq!((&seen["membership"], seen.get("other")), (&serde_json::Value::Null, None));
}

#[tokio::test]
async fn atk_28_files_outside_of_the_out_directory_are_refused() {
    let room = Room::new();
    let files = ["../seen", "/etc/passwd", "link", "folder", "missing", "linked/passwd", ""];
    for file in files {
        let script = format!(
            "cd $LOOM_TURN_DIR/out; ln -sf /etc/passwd link; ln -sfn /etc linked; mkdir -p folder; \
             echo '{{\"answer\":\"x\",\"files\":[\"{file}\"]}}'"
        );
        let outcome = room.run(&room.json(&script), "").await;
        assert_eq!(class(&outcome), Some((ErrClass::Protocol, false)), "{file}");
        assert_eq!(outcome.answer, None);
    }
}

/// A file that `out` holds, and the Turn that hands it out.
fn handed_out(room: &Room, name: &str, bytes: &[u8]) -> (TurnDir, std::path::PathBuf) {
    let dir = TurnDir::of(&room.host, &key(1));
    dir.stage(&[]).unwrap();
    let path = dir.path().join("out").join(name);
    std::fs::write(&path, bytes).unwrap();
    (dir, path)
}

fn pipe(path: &std::path::Path) {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    mknodat(CWD, path, FileType::Fifo, Mode::RWXU, 0).unwrap();
}

/// What takes the place of a file between its name and its look is refused, and nothing waits for it.
#[test]
fn atk_28_a_pipe_a_link_or_a_second_link_in_place_of_a_file_is_refused() {
    let room = Room::new();
    let (dir, path) = handed_out(&room, "a.txt", b"mine");
    let secret = room.folder.path().join("secret");
    std::fs::write(&secret, "not mine").unwrap();
    let places: [&dyn Fn(); 3] =
        [&|| pipe(&path), &|| std::os::unix::fs::symlink("/dev/zero", &path).unwrap(), &|| {
            std::fs::hard_link(&secret, &path).unwrap();
        }];
    for (n, place) in places.iter().enumerate() {
        std::fs::remove_file(&path).unwrap();
        place();
        let refused = dir.collect(&["a.txt".to_owned()], &room.host).unwrap_err();
        assert_eq!(refused.class, ErrClass::Protocol, "{n}");
    }
    let out = dir.path().join("out");
    std::fs::remove_dir_all(&out).unwrap();
    std::os::unix::fs::symlink(room.folder.path(), &out).unwrap();
    assert!(dir.collect(&["secret".to_owned()], &room.host).is_err(), "out itself became a link");
}

/// Once it was looked at, only the file that was looked at is read.
#[test]
fn atk_28_a_file_swapped_after_the_look_gives_the_bytes_that_were_looked_at() {
    let room = Room::new();
    let (dir, path) = handed_out(&room, "a.txt", b"mine");
    let places: [&dyn Fn(); 2] =
        [&|| pipe(&path), &|| std::os::unix::fs::symlink("/dev/zero", &path).unwrap()];
    for place in places {
        let files = dir.collect(&["a.txt".to_owned()], &room.host).unwrap();
        std::fs::remove_file(&path).unwrap();
        place();
        assert_eq!(files[0].read().unwrap(), b"mine");
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, b"mine").unwrap();
    }
}

#[test]
fn atk_28_a_file_that_grows_after_the_look_is_read_to_its_limit_only() {
    let mut room = Room::new();
    room.host.limits.out_file_bytes_max = 4;
    let (dir, path) = handed_out(&room, "a.txt", b"mine");
    let files = dir.collect(&["a.txt".to_owned()], &room.host).unwrap();
    assert_eq!(files[0].read().unwrap(), b"mine");
    std::fs::write(&path, b"mine and more").unwrap();
    assert_eq!(files[0].read().unwrap_err().kind(), std::io::ErrorKind::FileTooLarge);
    assert!(dir.collect(&["a.txt".to_owned()], &room.host).is_err());
}

#[tokio::test]
async fn a_result_is_exactly_one_known_object() {
    let room = Room::new();
    for text in
        ["", "no", "{}{}", "{\"answer\":\"x\",\"more\":1}", "{\"answer\":\"x\",\"thread\":\"--option\"}"]
    {
        let outcome = room.run(&room.json(&format!("echo '{text}'")), "").await;
        assert_eq!(class(&outcome), Some((ErrClass::Protocol, false)), "{text}");
    }
    let outcome =
        room.run(&room.json("echo '{\"answer\":null,\"no_reply\":{\"reason\":\"spam\"}}'"), "").await;
    assert_eq!((outcome.status, outcome.no_reply.as_deref()), (TurnStatus::Completed, Some("spam")));
}

#[tokio::test]
async fn a_known_thread_is_resumed_by_its_own_argument_list() {
    let room = Room::new();
    let mut agent = room.json("echo '{\"answer\":\"first\",\"thread\":\"t9\"}'");
    agent.runtime.resume_argv =
        ["/bin/sh", "-c", "echo '{\"answer\":\"'$1'\"}'", "sh", "id={thread};x"].map(str::to_owned).to_vec();
    let session = room.session(&agent, None).await;
    for (number, wanted) in [(1, "first"), (2, "id=t9;x")] {
        let (handle, ..) = start(session.as_ref(), request(number, "")).await.unwrap();
        assert_eq!(end(handle).await.unwrap().answer.unwrap().text, wanted);
    }
    let session = room.session(&agent, Some("t5")).await;
    let (handle, ..) = start(session.as_ref(), request(3, "")).await.unwrap();
    assert_eq!(end(handle).await.unwrap().answer.unwrap().text, "id=t5;x");
}

#[tokio::test]
async fn rt_4_a_program_that_cannot_start_was_not_sent() {
    let room = Room::new();
    let mut agent = room.agent("");
    agent.runtime.argv = vec!["/no/such/program".into()];
    assert_eq!(room.runtime(&agent).probe().await.unwrap_err().class, ErrClass::Spawn);
    let session = room.session(&agent, None).await;
    let error = start(session.as_ref(), request(1, "")).await.unwrap_err();
    assert!(error.contains("not sent"), "{error}");
    assert_eq!(session.reconcile(&key(1)).await.unwrap(), TurnFate::NeverAccepted);
}

#[tokio::test]
async fn rt_8_an_interrupt_reaches_the_whole_group_and_kills_after_the_grace() {
    let room = Room::new();
    let agent = room.agent("trap '' TERM; sleep 60 & echo $! > inner; wait; sleep 60");
    let session = room.session(&agent, None).await;
    let (handle, native, _events) = start(session.as_ref(), request(1, "")).await.unwrap();
    let inner = room.folder.path().join("inner");
    until(|| std::fs::read_to_string(&inner).is_ok_and(|text| text.ends_with('\n'))).await;
    let pid = std::fs::read_to_string(&inner).unwrap().trim().to_owned();
    let how = session.interrupt(&native, Duration::from_millis(100)).await.unwrap();
    assert_eq!(how, InterruptOutcome::Killed);
    assert_eq!(end(handle).await.unwrap().status, TurnStatus::Interrupted);
    until(|| !lives(&pid)).await;
}

#[tokio::test]
async fn rt_8_a_dropped_session_leaves_no_program_behind() {
    let room = Room::new();
    let session = room.session(&room.agent("sleep 60 & echo $! > inner; wait"), None).await;
    let (_handle, _native, _events) = start(session.as_ref(), request(1, "")).await.unwrap();
    let inner = room.folder.path().join("inner");
    until(|| std::fs::read_to_string(&inner).is_ok_and(|text| text.ends_with('\n'))).await;
    drop(session);
    let pid = std::fs::read_to_string(&inner).unwrap().trim().to_owned();
    until(|| !lives(&pid)).await;
}

#[tokio::test]
async fn rt_5_p_6_reconcile_kills_what_lives_and_never_runs_it_again() {
    let room = Room::new();
    let agent = room.agent("echo run >> runs; sleep 60");
    let runs = room.folder.path().join("runs");
    let session = room.session(&agent, None).await;
    let (_handle, native, _events) = start(session.as_ref(), request(1, "")).await.unwrap();
    until(|| runs.exists()).await;
    assert_eq!(session.reconcile(&key(1)).await.unwrap(), TurnFate::Running(native));
    // Another hub finds the record of a child that lives, then of one that does not.
    let later = room.session(&agent, None).await;
    assert_eq!(later.reconcile(&key(1)).await.unwrap(), TurnFate::Interrupted { partial: true });
    let record = ChildRecord::read(&TurnDir::of(&room.host, &key(1)).child()).unwrap().unwrap();
    until(|| record.liveness() != crate::process::Liveness::Alive).await;
    assert_eq!(later.reconcile(&key(1)).await.unwrap(), TurnFate::Unknown);
    assert_eq!(std::fs::read_to_string(&runs).unwrap(), "run\n");
}

#[tokio::test]
async fn p_6_a_record_without_a_process_id_is_unknown_not_never() {
    let room = Room::new();
    let session = room.session(&room.agent("true"), None).await;
    let dir = TurnDir::of(&room.host, &key(1));
    dir.stage(&[]).unwrap();
    ChildRecord::intention().write(&dir.child()).unwrap();
    assert_eq!(session.reconcile(&key(1)).await.unwrap(), TurnFate::Unknown);
}

#[tokio::test]
async fn shutdown_drains_and_then_kills() {
    let room = Room::new();
    let agent = room.agent("sleep 0.2; echo done");
    let runtime = room.runtime(&agent);
    let session = runtime.open(&agent, None, &room.host).await.unwrap().session;
    let (handle, ..) = start(session.as_ref(), request(1, "")).await.unwrap();
    runtime.shutdown(Shutdown::Drain(Duration::from_secs(20))).await.unwrap();
    assert_eq!(end(handle).await.unwrap().status, TurnStatus::Completed);
    let agent = room.agent("sleep 60");
    let runtime = room.runtime(&agent);
    let session = runtime.open(&agent, None, &room.host).await.unwrap().session;
    let (handle, ..) = start(session.as_ref(), request(2, "")).await.unwrap();
    runtime.shutdown(Shutdown::Kill).await.unwrap();
    assert_eq!(end(handle).await.unwrap().status, TurnStatus::Interrupted);
}

fn lives(pid: &str) -> bool {
    let stat = std::fs::read_to_string(Path::new("/proc").join(pid).join("stat"));
    stat.is_ok_and(|stat| !stat.contains(") Z "))
}
