//! Connectors against a service that does not behave.

use std::process::Stdio;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpListener;
use tokio::process::{Child, Command};
use tokio::time::{Instant, timeout};

/// Longest end of a run that was told to stop.
const STOP: Duration = Duration::from_secs(2);
/// Longest start of the program on a busy machine.
const START: Duration = Duration::from_secs(30);

/// Reads an issue of a service on loopback, in a home of its own.
fn reads(home: &std::path::Path, address: &str, more: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_loom"));
    command
        .env_clear()
        .env("LOOM_HOME", home)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    command.args(["value-connectors", "github-public-probe", "--fetch-metadata", "--format", "ndjson"]);
    command.args([
        "--url",
        "https://github.com/owner/repo/issues/1",
        "--api-url",
        &format!("http://{address}"),
    ]);
    command.args(more).kill_on_drop(true);
    command
}

async fn service() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    (listener, address)
}

fn interrupt(child: &Child) {
    let id = i32::try_from(child.id().unwrap()).unwrap();
    kill(Pid::from_raw(id), Signal::SIGINT).unwrap();
}

/// CAP-032: an interrupted run ends within two seconds, says so, and leaves with 130.
#[tokio::test]
async fn cap_032_an_interrupt_ends_a_run_in_order() {
    let home = tempfile::tempdir().unwrap();
    let (listener, address) = service().await;
    let mut child = reads(home.path(), &address, &[]).spawn().unwrap();
    let (_held, _) = timeout(START, listener.accept()).await.unwrap().unwrap();
    let began = Instant::now();
    interrupt(&child);
    let mut said = String::new();
    child.stdout.take().unwrap().read_to_string(&mut said).await.unwrap();
    let status = timeout(STOP, child.wait()).await.unwrap().unwrap();
    assert!(began.elapsed() <= STOP && status.code() == Some(130), "{status} {said}");
    let end: Value = serde_json::from_str(said.lines().last().unwrap()).unwrap();
    assert_eq!((&end["type"], &end["stop_reason"]), (&"end".into(), &"cancelled".into()), "{said}");
    assert_eq!(end["error"]["code"], "cancelled");
}

/// CAP-057, CAP-034: a failing service reaches the exit status, and nothing counts as read.
#[tokio::test]
async fn cap_057_a_refused_answer_is_exit_4() {
    let home = tempfile::tempdir().unwrap();
    let (listener, address) = service().await;
    let child = reads(home.path(), &address, &[]).spawn().unwrap();
    let (mut socket, _) = timeout(START, listener.accept()).await.unwrap().unwrap();
    let mut head = String::new();
    let (read, mut write) = socket.split();
    let mut lines = BufReader::new(read);
    while lines.read_line(&mut head).await.unwrap() > 2 {}
    assert!(head.starts_with("GET /repos/owner/repo/issues/1 HTTP/1.1"), "{head}");
    let body = r#"{"message":"Not Found"}"#;
    let answer = format!(
        "HTTP/1.1 404 Not Found\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    write.write_all(answer.as_bytes()).await.unwrap();
    let output = timeout(START, child.wait_with_output()).await.unwrap().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(4), "{said}");
    let end: Value = serde_json::from_str(said.lines().last().unwrap()).unwrap();
    assert_eq!(
        (&end["error"]["code"], &end["error"]["detail"]["kind"]),
        (&"provider_http_error".into(), &"not_found".into())
    );
    assert_eq!((&end["effects"]["requests_sent"], &end["effects"]["external_reads"]), (&1.into(), &0.into()));
}

/// A reader that went away ends the run quietly.
#[tokio::test]
async fn a_closed_stdout_ends_the_run_with_0() {
    let home = tempfile::tempdir().unwrap();
    let (listener, address) = service().await;
    let mut child = reads(home.path(), &address, &["--no-save"]).spawn().unwrap();
    // The first line cannot be written any more, or the last one cannot.
    drop(child.stdout.take());
    let accepted = timeout(START, async {
        tokio::select! {
            accepted = listener.accept() => Some(accepted.unwrap()),
            _ = child.wait() => None,
        }
    });
    drop(accepted.await.unwrap());
    let status = timeout(START, child.wait()).await.unwrap().unwrap();
    assert_eq!(status.code(), Some(0));
}
