//! Requests through the program's own door, the log they leave, and the look for secrets.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::sync::{Arc, Mutex};

use serde_json::json;

use super::{Ran, run_in};
use crate::environment::Environment;

const TOKEN: &str = "canary-0123456789";

/// A host that answers each connection once, in order.
struct Host {
    origin: String,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Host {
    fn start(answers: Vec<String>) -> Host {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let notes = Arc::clone(&seen);
        std::thread::spawn(move || {
            for answer in answers {
                let (mut stream, _) = listener.accept().unwrap();
                let (mut text, mut chunk) = (String::new(), [0; 4_096]);
                while !is_whole(&text) {
                    let read = stream.read(&mut chunk).unwrap();
                    text.push_str(&String::from_utf8_lossy(&chunk[..read]));
                }
                notes.lock().unwrap().push(text);
                stream.write_all(answer.as_bytes()).unwrap();
            }
        });
        Host { origin, seen }
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.origin)
    }

    fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }
}

fn is_whole(text: &str) -> bool {
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length =
        head.to_ascii_lowercase().lines().find_map(|l| l.strip_prefix("content-length: ")?.parse().ok());
    body.len() >= length.unwrap_or(0)
}

fn answer(status: &str, kind: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
}

fn ok(body: &str) -> String {
    answer("200 OK", "application/json", body)
}

fn environment(home: &Path, host: &Host) -> Environment {
    let mut env = Environment::empty();
    env.variables.insert("LOOM_HOME".into(), home.to_string_lossy().into_owned());
    env.variables.insert("LOOM_LOCAL_ORIGINS".into(), host.origin.clone());
    env.variables.insert("API_TOKEN".into(), TOKEN.into());
    env
}

fn run_at(home: &Path, host: &Host, stdin: &'static str, words: &[&str]) -> Ran {
    let mut env = environment(home, host);
    env.stdin.reader = Box::new(stdin.as_bytes());
    run_in(env, words)
}

/// CAP-059, CAP-060: a credential reference goes to the host, and its value comes back in no form.
#[test]
fn cap_059_a_skill_posts_json_with_a_credential_reference() {
    let (home, host) =
        (tempfile::tempdir().unwrap(), Host::start(vec![ok(&json!({"echo": TOKEN, "n": 1}).to_string())]));
    let words = [
        "http",
        "post",
        &host.url("/a"),
        "--json",
        "-",
        "--credential-ref",
        "env:API_TOKEN",
        "--format",
        "json",
    ];
    let ran = run_at(home.path(), &host, "{\"q\":[1]}", &words);
    assert_eq!(ran.exit, 0, "{}{}", ran.out, ran.err);
    assert_eq!((&ran.json()["status"], &ran.json()["json"]["n"]), (&json!(200), &json!(1)));
    assert!(!format!("{}{}", ran.out, ran.err).contains("canary"), "{}", ran.out);
    let request = host.seen().remove(0);
    assert!(request.contains(&format!("authorization: Bearer {TOKEN}\r\n")), "{request}");
    assert!(
        request.contains("content-type: application/json\r\n") && request.ends_with("\r\n\r\n{\"q\":[1]}"),
        "{request}"
    );
}

#[test]
fn a_get_prints_the_body_and_a_form_is_posted() {
    let home = tempfile::tempdir().unwrap();
    let host = Host::start(vec![answer("200 OK", "text/plain", "line 1\nline 2\n"), ok("{}")]);
    let ran = run_at(home.path(), &host, "", &["http", "get", &host.url("/t"), "--header", "x-a=b=c"]);
    assert_eq!((ran.exit, ran.out.as_str()), (0, "line 1\nline 2\n"));
    let ran = run_at(
        home.path(),
        &host,
        "",
        &["http", "post", &host.url("/f"), "--form", "k=a b", "--form=l=", "--json"],
    );
    assert_eq!((ran.exit, &ran.json()["json"]), (0, &json!({})));
    let seen = host.seen();
    assert!(seen[0].contains("x-a: b=c\r\n") && seen[1].ends_with("\r\n\r\nk=a+b&l="), "{seen:?}");
}

/// CAP-039, CAP-057: what the provider answers decides the exit status.
#[test]
fn cap_057_a_500_ends_with_status_4() {
    let home = tempfile::tempdir().unwrap();
    let host =
        Host::start(vec![answer("500 Broken", "text/plain", ""), answer("404 Gone", "text/plain", "")]);
    let ran = run_at(home.path(), &host, "1", &["http", "post", &host.url("/"), "--json=-", "--format=json"]);
    assert_eq!((ran.exit, ran.code().as_str()), (4, "provider_http_error"));
    let ran = run_at(home.path(), &host, "", &["http", "get", &host.url("/"), "--json"]);
    assert_eq!((ran.exit, &ran.json()["error"]["http_status"]), (4, &json!(404)));
}

/// CAP-042, CAP-018 and the rules of the door: nothing is sent.
#[test]
fn cap_042_what_is_refused_opens_no_socket() {
    let (home, host) = (tempfile::tempdir().unwrap(), Host::start(vec![ok("{}")]));
    let url = host.url("/");
    for seconds in ["nan", "inf", "0", "-1", "1e9", "soon"] {
        let ran =
            run_at(home.path(), &host, "", &["http", "get", &url, "--timeout-seconds", seconds, "--json"]);
        assert_eq!((ran.exit, ran.code().as_str()), (2, "usage"), "{seconds}");
    }
    let lines: [(&[&str], &str); 6] = [
        (&["http", "get", &url, "--header", "authorization=x"], "secret_in_input"),
        (&["http", "get", &url, "--credential-ref", "env:MISSING"], "credential_unavailable"),
        (&["http", "get", "http://192.0.2.1/"], "egress_denied"),
        (&["http", "get", "https://user:pass@h.example/"], "egress_denied"),
        (&["http", "post", &url], "missing_field"),
        (&["http", "post", &url, "--form", "broken"], "invalid_argument"),
    ];
    for (words, code) in lines {
        let words: Vec<&str> = words.iter().copied().chain(["--format", "json"]).collect();
        assert_eq!(run_at(home.path(), &host, "", &words).code(), code, "{words:?}");
    }
    let mut env = environment(home.path(), &host);
    env.variables.insert("LOOM_TURN_ID".into(), "trn_1".into());
    assert_eq!(run_in(env, &["http", "get", &url, "--json"]).code(), "forbidden");
    let plan = run_at(home.path(), &host, "{}", &["http", "post", &url, "--json", "-", "--dry-run"]);
    assert_eq!((plan.exit, &plan.json()["body_bytes"]), (0, &json!(2)));
    assert!(host.seen().is_empty());
}

/// CAP-058: what was recorded is played again without the host; a cassette of another host is refused.
#[test]
fn cap_058_a_cassette_replays_offline() {
    let (home, host) = (tempfile::tempdir().unwrap(), Host::start(vec![ok("{\"n\":1}")]));
    let tape = home.path().join("tape.ndjson").to_string_lossy().into_owned();
    let url = host.url("/a");
    let get = |url: &str, mode: &str| {
        let words = [
            "http",
            "get",
            url,
            "--cassette",
            &tape,
            "--cassette-mode",
            mode,
            "--credential-ref",
            "env:API_TOKEN",
        ];
        run_at(home.path(), &host, "", &words)
    };
    let recorded = get(&url, "record");
    assert_eq!((recorded.exit, recorded.out.as_str()), (0, "{\"n\":1}"), "{}", recorded.err);
    assert!(!std::fs::read_to_string(&tape).unwrap().contains("canary"));
    for mode in ["replay", "replay_strict"] {
        let played = get(&url, mode);
        assert_eq!((played.exit, &played.out), (0, &recorded.out), "{}", played.err);
    }
    assert_eq!(host.seen().len(), 1);
    let other = get("https://other.example/a", "replay");
    assert!(other.exit == 1 && other.err.contains("holds no answer"), "{}", other.err);
    assert_eq!(get(&host.url("/b"), "replay").exit, 4);
}

/// CAP-058: a run that was recorded is played again without the host, to the same facts; the cassette of another
/// repository is refused before the run.
#[test]
fn cap_058_a_run_is_played_again_offline() {
    let issue = json!({
        "title": "Parser fails", "state": "open", "state_reason": null, "number": 1, "draft": false, "locked": false,
        "labels": [], "comments": 0, "user": {"login": "kim", "id": 9, "type": "User"}, "closed_at": null,
        "author_association": "NONE", "created_at": "2026-09-01T08:00:00Z", "updated_at": "2026-09-02T08:00:00Z",
        "html_url": "https://github.com/owner/repo/issues/1",
    });
    let (home, host) = (tempfile::tempdir().unwrap(), Host::start(vec![ok(&issue.to_string())]));
    let tape = home.path().join("tape.ndjson").to_string_lossy().into_owned();
    let probe = |repo: &str, mode: &str| {
        let url = format!("https://github.com/{repo}/issues/1");
        let run = ["value-connectors", "github-public-probe", "--fetch-metadata", "--api-url", &host.origin];
        let more = ["--url", &url, "--cassette", &tape, "--cassette-mode", mode, "--format", "json"];
        run_at(home.path(), &host, "", &[&run[..], &more[..]].concat())
    };
    let recorded = probe("owner/repo", "record");
    assert_eq!(recorded.exit, 0, "{}{}", recorded.out, recorded.err);
    let facts = recorded.json();
    assert_eq!(facts["fields"]["metadata"]["title"], "Parser fails");
    for mode in ["replay", "replay_strict"] {
        let played = probe("owner/repo", mode);
        assert_eq!(played.exit, 0, "{}{}", played.out, played.err);
        assert_eq!(played.json()["content_digest"], facts["content_digest"]);
    }
    let other = probe("owner/other", "replay");
    assert_eq!((other.exit, other.code().as_str()), (1, "invalid_input"), "{}", other.out);
    assert_eq!(host.seen().len(), 1, "the host was asked once");
    assert_eq!(probe("owner/repo", "rewind").code(), "usage");
}

/// CAP-090: a repository that the configuration does not name is refused before a socket, in each capability that
/// reads repositories, in a plan too.
#[test]
fn cap_090_the_configuration_limits_repositories() {
    let (home, host) = (tempfile::tempdir().unwrap(), Host::start(vec![ok("[]")]));
    std::fs::write(home.path().join("loom.toml"), "[capabilities.pr_review]\nrepos = [\"acme/*\"]\n")
        .unwrap();
    let run = |words: &[&str]| {
        let words =
            [&["capability", "run"], words, &["--api-url", &host.origin, "--format", "json"]].concat();
        run_at(home.path(), &host, "", &words)
    };
    let lines: [&[&str]; 4] = [
        &["pr_review", "--repo", "umbrella/tool"],
        &["pr_review", "--repo", "umbrella/tool", "--dry-run"],
        &["pr_review", "--op", "checks", "--repo", "umbrella/tool", "--number", "1"],
        &["pr_program", "--pr", "umbrella/tool#1"],
    ];
    for words in lines {
        let refused = run(words);
        assert_eq!(
            (refused.exit, refused.code().as_str()),
            (1, "egress_denied"),
            "{words:?}: {}",
            refused.out
        );
        assert_eq!(refused.json()["error"]["detail"]["reason"], "resource_not_allowed");
    }
    assert!(host.seen().is_empty(), "no socket was opened");
    let allowed = run(&["pr_review", "--repo", "acme/tool"]);
    assert_eq!((allowed.exit, allowed.json()["complete"].clone()), (0, json!(true)), "{}", allowed.out);
}

/// CAP-056: each attempt has its line, without values.
#[test]
fn cap_056_requests_are_listed_and_shown() {
    let (home, host) = (tempfile::tempdir().unwrap(), Host::start(vec![ok("{}"), ok("{}")]));
    let empty = run_at(home.path(), &host, "", &["requests", "list", "--json"]);
    assert_eq!((empty.exit, &empty.json()["items"]), (0, &json!([])));
    for path in ["/one?key=canary-query", "/two"] {
        assert_eq!(run_at(home.path(), &host, "", &["http", "get", &host.url(path)]).exit, 0);
    }
    let list = run_at(home.path(), &host, "", &["requests", "list", "--host", "127.0.0.1", "--json"]);
    let items = list.json()["items"].clone();
    assert_eq!((&items[0]["path"], &items[1]["query_keys"]), (&json!("/two"), &json!(["key"])));
    assert!(!list.out.contains("canary"));
    let id = items[1]["request_id"].as_str().unwrap().to_owned();
    let shown = run_at(home.path(), &host, "", &["requests", "show", &id, "--json"]);
    assert_eq!(shown.json()["attempts"].as_array().unwrap().len(), 1);
    assert!(run_at(home.path(), &host, "", &["requests", "show", &id]).out.contains("GET 127.0.0.1/one"));
    assert_eq!(run_at(home.path(), &host, "", &["requests", "show", "evt_0", "--json"]).code(), "not_found");
    let none = run_at(home.path(), &host, "", &["requests", "list", "--turn", "trn_1", "--json"]);
    assert_eq!(none.json()["items"], json!([]));
}

/// CAP-066: files of any size and suffix are looked through, and those that cannot be read are named.
#[test]
fn cap_066_a_secret_is_found_in_every_file() {
    let (home, host) = (tempfile::tempdir().unwrap(), Host::start(Vec::new()));
    let dir = home.path().join("files");
    std::fs::create_dir_all(dir.join("sub")).unwrap();
    let check = |more: &[&str]| {
        let words: Vec<&str> =
            ["redact", "check", "--ref", "env:API_TOKEN", "--json"].iter().chain(more).copied().collect();
        run_at(home.path(), &host, "a\nhex 63616e6172792d30313233343536373839\n", &words)
    };
    let path = dir.to_string_lossy().into_owned();
    std::fs::write(dir.join("clean.txt"), "nothing here\n").unwrap();
    let clean = check(&[&path]);
    assert_eq!((clean.exit, &clean.json()["ok"]), (0, &json!(true)), "{}", clean.out);
    let mut big = vec![b'\n'; 2 * 1024 * 1024];
    big.extend_from_slice(TOKEN.as_bytes());
    std::fs::write(dir.join("sub/image.png"), &big).unwrap();
    let found = check(&[&path, "-", "/nonexistent-file"]);
    assert_eq!((found.exit, found.json()["hits"].as_array().unwrap().len()), (6, 2), "{}", found.out);
    assert_eq!(found.json()["hits"][0]["line"], 2 * 1024 * 1024 + 1);
    assert_eq!(found.json()["hits"][1], json!({"file": "-", "line": 2, "rule": "exact_secret"}));
    assert_eq!(found.json()["unreadable"], json!(["/nonexistent-file"]));
    assert!(!found.out.contains("canary") && !found.out.contains("63616e"));
    assert_eq!(check(&["/nonexistent-file"]).exit, 1);
}
