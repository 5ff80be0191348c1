//! Commands that need no network open no socket: the kernel ends whoever tries.

use std::path::Path;
use std::process::{Command, Output};

use nix::libc;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    apply_filter,
};

/// Every command line that needs no network, the hub's socket aside. Each is also a first start.
const OFFLINE: &[&str] = &[
    "--version",
    "--help",
    "commands --json",
    "explain provider_timeout",
    "schema --json",
    "skill print loom-integrations",
    "status",
    "value-connectors --json",
    "value-connectors list --json",
    "value-connectors show finance_probe --json",
    "value-connectors source-map --json",
    "value-connectors install-check --json",
    "value-connectors history --json",
    "value-connectors github-public-probe --url https://github.com/owner/repo/issues/1 --json",
    "value-connectors github-public-probe --url https://github.com/owner/repo/issues/1 --fetch-metadata --dry-run",
    "value-connectors probe lark_notify --json",
    "value-connectors probe lark_probe --json",
    "value-connectors finance-probe company --ticker AAPL --dry-run --json",
    "value-connectors plan --connector github_public_probe --op probe --json",
    "capability --json",
    "capability list --json",
    "capability show pr_review --json",
    "capability run pr_review --repo owner/repo --dry-run --json",
    "capability run nothing_here --json",
    "host-mode-plan --host codex --connector github_public_probe --json",
    "host-mode-plan --json",
    "integration-branch --json",
    "periodic-report --json",
    "periodic-report preview --json",
    "multi-agent --json",
    "turn --json",
    "turn run --connector github_public_probe --json",
    "turn list --json",
    "http get https://example.org/ --dry-run",
    "requests list --json",
    "redact check . --json",
    "completions bash",
    "doctor --json",
    "inbox list --json",
];

/// Runs a command line where a socket of any other family than the hub's ends the process with `SIGSYS`.
fn fenced(home: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_loom"));
    command.env_clear().env("PATH", "").env("LOOM_HOME", home.join("home")).current_dir(home).args(words);
    // The fence holds for the thread that raises it, and for what it starts.
    let fenced = std::thread::spawn(move || {
        apply_filter(&fence()).unwrap();
        command.output().unwrap()
    });
    fenced.join().unwrap()
}

fn fence() -> BpfProgram {
    let family = u64::from(libc::AF_UNIX.unsigned_abs());
    let other = SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, family).unwrap();
    let rules = [(libc::SYS_socket, vec![SeccompRule::new(vec![other]).unwrap()])];
    let (rest, hit) = (SeccompAction::Allow, SeccompAction::KillProcess);
    let architecture = std::env::consts::ARCH.try_into().unwrap();
    SeccompFilter::new(rules.into(), rest, hit, architecture).unwrap().try_into().unwrap()
}

fn was_ended(output: &Output) -> bool {
    use std::os::unix::process::ExitStatusExt as _;
    output.status.signal() == Some(libc::SIGSYS)
}

/// CAP-027: no command opens a socket that it was not asked for, at its first start either.
#[test]
fn cap_027_offline_commands_open_no_socket() {
    for line in OFFLINE {
        let room = tempfile::tempdir().unwrap();
        let words: Vec<&str> = line.split_whitespace().collect();
        for start in ["first", "second"] {
            let output = fenced(room.path(), &words);
            assert!(!was_ended(&output), "{start} start of `loom {line}` opened a socket");
            let code = output.status.code();
            assert!(code.is_some_and(|code| code != 2), "`loom {line}` is a command: {code:?} {output:?}");
        }
    }
    let room = tempfile::tempdir().unwrap();
    let asked = fenced(room.path(), &["http", "get", "https://192.0.2.1/"]);
    assert_eq!(asked.status.code(), Some(1), "a refused address needs no socket: {asked:?}");
    let asked = fenced(room.path(), &["http", "get", "https://example.org/"]);
    assert!(was_ended(&asked), "the fence holds: {asked:?}");
}
