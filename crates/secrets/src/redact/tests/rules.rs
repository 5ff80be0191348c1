//! One vector or more for each rule.

use serde_json::json;

use super::{masked, rules};
use crate::{Profile, Redactor, Rule, Secret, find_secret_in_input, secret_key};

/// Texts that are one hit of the rule, between blanks.
fn vectors() -> Vec<(&'static str, String)> {
    let word = "a1B2c3D4e5".repeat(4);
    vec![
        ("github_token", format!("ghp_{}", &word[..36])),
        ("github_token", format!("github_pat_{word}_{word}")),
        ("gitlab_token", format!("glpat-{}", &word[..20])),
        ("slack_token", "xoxb-1234567890-abcdefghij".to_owned()),
        ("slack_token", "xapp-1-A012345-678901-abcdef".to_owned()),
        ("slack_token", "xwfp-1234567890-abcdef".to_owned()),
        ("lark_token", format!("t-{}", &word[..32])),
        ("lark_token", format!("u-{}", &word[..30])),
        ("model_key", format!("sk-{}", &word[..24])),
        ("model_key", format!("sk-ant-api03-{word}")),
        ("aws_key", "AKIAIOSFODNN7EXAMPLE".to_owned()),
        ("aws_key", "ASIAIOSFODNN7EXAMPLE".to_owned()),
        ("gcp_key", format!("AIza{}", &word[..35])),
        ("gcp_key", format!("ya29.{word}")),
        ("stripe_key", format!("sk_live_{}", &word[..24])),
        ("stripe_key", format!("rk_live_{}", &word[..24])),
        ("package_token", format!("npm_{}", &word[..36])),
        ("package_token", format!("pypi-AgEIcHlwaS5vcmc{word}")),
        ("webhook_secret", format!("whsec_{}", &word[..32])),
        ("webhook_secret", format!("whsk_{}", &word[..32])),
        ("loom_token", format!("loom_tok_{}", &word[..32])),
        ("loom_token", format!("lct_{}", &word[..32])),
        ("jwt", format!("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.{word}")),
        ("age_key", format!("AGE-SECRET-KEY-1{}", "QWERTY1234".repeat(6))),
        (
            "pem_block",
            "-----BEGIN RSA PRIVATE KEY-----\nMIIB\nAAAA\n-----END RSA PRIVATE KEY-----".to_owned(),
        ),
        ("pem_block", "-----BEGIN PRIVATE KEY-----\\nMIIB\\n-----END PRIVATE KEY-----".to_owned()),
        ("local_path", "/home/someone/notes.txt".to_owned()),
        ("local_path", "/var/lib/loom/db".to_owned()),
        ("local_path", "~/notes/x".to_owned()),
        ("local_path", "C:\\Users\\someone".to_owned()),
        ("local_path", "C:\\\\Users\\\\someone".to_owned()),
        ("local_path", "\\\\server\\share\\x".to_owned()),
        ("local_path", "file:///srv/data/x".to_owned()),
        ("private_address", "192.168.1.20".to_owned()),
        ("private_address", "10.0.0.1".to_owned()),
        ("private_address", "172.20.3.4".to_owned()),
        ("private_address", "169.254.169.254".to_owned()),
        ("private_address", "fe80::1".to_owned()),
        ("private_address", "fd12:3456:789a::1".to_owned()),
        ("private_address", "build.corp.internal".to_owned()),
        ("private_address", "printer.local".to_owned()),
        ("email", "first.last+tag@mail.example.org".to_owned()),
    ]
}

#[test]
fn every_rule_finds_its_vectors_whole() {
    for (rule, text) in vectors() {
        let hits = Redactor::new().scan(format!("a {text} b"), Profile::Export);
        let found: Vec<_> = hits.iter().map(|hit| (hit.rule.id(), hit.start, hit.end)).collect();
        assert_eq!(found, [(rule, 2, 2 + text.len())], "{text}");
        let escaped = format!(r"line\n{text}\nline");
        if !matches!(rule, "local_path" | "private_address" | "email") {
            assert!(rules(&escaped).contains(&rule), "{escaped}");
        }
    }
}

#[test]
fn private_facts_are_hidden_in_exports_only() {
    let text = "192.168.1.20 first@example.org printer.local";
    assert_eq!(masked(&[], text), text);
    assert_eq!(rules(text), ["private_address", "email", "private_address"]);
}

#[test]
fn values_are_masked_in_their_surroundings() {
    let cases = [
        ("https://me:pa55@example.org/x", "https://[redacted:url_userinfo]@example.org/x"),
        ("Authorization: Bearer abcdefgh1", "Authorization: Bearer [redacted:auth_header]"),
        ("authorization: abcd efgh ijkl\nnext", "authorization: [redacted:auth_header]\nnext"),
        (r#"{"Authorization":"Basic dXNlcjpwYXNz"}"#, r#"{"Authorization":"Basic [redacted:auth_header]"}"#),
        ("got Bearer abcDEF12345 there", "got Bearer [redacted:auth_header] there"),
        ("Cookie: a=b; session=c\nnext", "Cookie: [redacted:cookie]\nnext"),
        ("Set-Cookie: sid=1234567; Path=/", "Set-Cookie: [redacted:cookie]"),
        (r#"{"set-cookie": "sid=1; HttpOnly"}"#, r#"{"set-cookie": "[redacted:cookie]"}"#),
        ("AccountKey=abcdefghij0123456789==;x", "AccountKey=[redacted:azure_key];x"),
        (r#""db_password": "hunter2hunter2""#, r#""db_password": "[redacted:secret_key_name]""#),
        (r#""password": "a\"quote inside""#, r#""password": "[redacted:secret_key_name]""#),
        (r#"{\"password\":\"hunter2hunter2\"}"#, r#"{\"password\":\"[redacted:secret_key_name]\"}"#),
        ("?page=2&api_key=hunter2hunter2&x=1", "?page=2&api_key=[redacted:secret_key_name]&x=1"),
        ("API-KEY=hunter2hunter2 x", "API-KEY=[redacted:secret_key_name] x"),
        ("botToken='hunter2hunter2'", "botToken='[redacted:secret_key_name]'"),
        ("a: 1\npassword: correct horse battery\nb: 2", "a: 1\npassword: [redacted:secret_key_name]\nb: 2"),
        ("x\\npassword=hunter2hunter2\\ny", "x\\npassword=[redacted:secret_key_name]\\ny"),
        ("text -----BEGIN PRIVATE KEY-----\nMII", "text [redacted:pem_block]"),
    ];
    for (text, expected) in cases {
        assert_eq!(masked(&[], text), expected, "{text}");
        assert_eq!(masked(&[], expected), expected, "second run of {text}");
    }
}

#[test]
fn secret_keys_are_whole_words_at_either_end() {
    for key in ["password", "DB_PASSWORD", "apiKey", "api-key", "x_access_key", "tokenCount", "clientSecret"]
    {
        assert!(secret_key(key), "{key}");
    }
    for key in ["passwords", "max_tokens", "secretary", "my_token_list", "keyboard", "tokenizer", "cookies"] {
        assert!(!secret_key(key), "{key}");
    }
}

#[test]
fn id_18_overlapping_hits_become_one_marker() {
    let token = format!("ghp_{}", "a1B2c3D4e5".repeat(4));
    let text = format!("token={token} end");
    assert_eq!(masked(&[&token], &text), "token=[redacted:exact_secret] end");
}

#[test]
fn typed_paths_stay_readable() {
    let redactor = Redactor::new();
    redactor.allow_typed_path("/home/me/in.txt");
    let out = redactor.redact("/home/me/in.txt /home/me/other.txt", Profile::Output);
    assert_eq!(out, "/home/me/in.txt [redacted:local_path]");
}

/// CAP-064: paths of a machine are masked in every profile, written plainly and in JSON; what only looks like one is
/// not.
#[test]
fn cap_064_paths_of_a_machine_are_masked_and_others_are_not() {
    let paths = [
        "/home/ann/notes.txt",
        "/home/bo/.ssh/id",
        "/tmp/x1/run.sock",
        "/var/lib/loom/db",
        "/mnt/disk/a",
        "/etc/loom/loom.toml",
        "/opt/loom/bin",
        "~/notes/x",
        "C:\\Users\\ann\\x.txt",
        "C:\\\\Users\\\\ann\\\\x.txt",
        "\\\\server\\share\\x",
        "file:///srv/data/x",
    ];
    let others = [
        "https://example.org/home/ann/notes.txt?at=/tmp",
        "http://host:8080/var/x",
        "GET /etc HTTP/1.1",
        "9f2c4d1e6b7a8f90123456789abcdef012345678",
        "sha256:9f2c4d1e6b7a8f90123456789abcdef0123456789f2c4d1e6b7a8f9012345678",
        "agt_01arz3ndektsv4rrffq69g5fav",
        "owner/repo#12",
        "read/write and/or",
    ];
    let redactor = Redactor::new();
    for profile in [Profile::Store, Profile::Output, Profile::Export] {
        for path in paths {
            assert_eq!(
                redactor.redact(&format!("at {path} it is"), profile),
                "at [redacted:local_path] it is"
            );
            let mut document = json!({"note": [path]});
            redactor.redact_json(&mut document, profile);
            assert_eq!(document, json!({"note": ["[redacted:local_path]"]}), "{path}");
        }
        for text in others {
            assert_eq!(redactor.redact(text, profile), text);
        }
    }
}

/// CAP-065: a second pass over a document changes and counts nothing; a report holds no value and no neighbour.
#[test]
fn cap_065_a_second_pass_changes_nothing_and_reports_hold_no_value() {
    let redactor = Redactor::new();
    redactor.register(&Secret::new("registered-value"));
    let mut document = json!({
        "text": "near registered-value here", "token": "hunter2hunter2", "list": ["see /home/ann/x", "Bearer abcdEFGH1"],
    });
    let report = redactor.redact_json(&mut document, Profile::Output);
    let once = document.clone();
    let second = redactor.redact_json(&mut document, Profile::Output);
    assert_eq!((document, second.is_empty()), (once, true), "{second:?}");
    let counted: u64 = report.counts().map(|(_, count)| count).sum();
    assert_eq!((counted, report.pointers().len()), (4, 4));
    let told = format!("{report:?}");
    for word in ["registered-value", "hunter2", "/home/ann", "abcdEFGH1", "near", "here", "see"] {
        assert!(!told.contains(word), "{word} in {told}");
    }
}

#[test]
fn id_17_json_is_masked_by_rule_and_by_key() {
    let redactor = Redactor::new();
    redactor.register(&Secret::new("registered-value"));
    let mut document = json!({
        "token": "hunter2hunter2", "ref": "env:SLACK", "password": "vault:slack", "secret": ["abcdefghijk", "short"],
        "text": "has registered-value inside", "n": 5,
    });
    let report = redactor.redact_json(&mut document, Profile::Output);
    assert_eq!(
        document,
        json!({
            "token": "[redacted:secret_key_name]", "ref": "env:SLACK", "password": "vault:slack",
            "secret": ["[redacted:secret_key_name]", "short"],
            "text": "has [redacted:exact_secret] inside", "n": 5,
        })
    );
    assert_eq!(report.counts().collect::<Vec<_>>(), [(Rule::ExactSecret, 1), (Rule::SecretKeyName, 2)]);
    assert!(report.pointers().contains(&("/secret/0".to_owned(), Rule::SecretKeyName)));
}

#[test]
fn id_18_what_is_not_text_is_withheld() {
    assert_eq!(Redactor::new().redact_bytes(b"ab\xff\xfe", Profile::Store), "[withheld: 4 bytes]");
}

#[test]
fn an_export_with_a_secret_is_refused() {
    let error = Redactor::new().check_export("password=hunter2hunter2").unwrap_err();
    assert_eq!(error.code, loom_domain::Code::SecretInInput);
    assert!(Redactor::new().check_export("/home/me/x and me@example.org").is_ok());
}

#[test]
fn msg_024_tokens_in_arguments_are_named_by_rule() {
    let token = format!("ghp_{}", "a1B2c3D4e5".repeat(4));
    assert_eq!(find_secret_in_input(&format!("--note={token}")), Some(Rule::GithubToken));
    assert_eq!(find_secret_in_input(&format!("env:{token}")), Some(Rule::GithubToken));
    assert_eq!(find_secret_in_input("xoxb-1234567890-abcdefghij"), Some(Rule::SlackToken));
    for text in ["env:GITHUB_TOKEN", "vault:slack", "password=hunter2hunter2", "plain words", "/home/me/x"] {
        assert_eq!(find_secret_in_input(text), None, "{text}");
    }
}
