//! What looks random but is no secret.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::rules;
use crate::{Profile, Redactor, Secret};

/// Deterministic bytes that look random.
fn noise(seed: u64, count: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[3]
    };
    (0..count).map(|_| next()).collect()
}

#[test]
fn id_18_ids_and_digests_are_no_hits() {
    let mut text = String::new();
    for n in 0..200 {
        let digest = hex::encode(noise(n, 32));
        let ulid: String = noise(n, 26)
            .iter()
            .map(|b| char::from(b"0123456789abcdefghjkmnpqrstvwxyz"[usize::from(b % 32)]))
            .collect();
        text += &format!(
            "commit {} agt_{ulid} {} sha256:{digest} {}-{}-4{}-8{}-{}\n",
            &digest[..40],
            ulid.to_uppercase(),
            &digest[..8],
            &digest[8..12],
            &digest[13..16],
            &digest[17..20],
            &digest[20..32],
        );
        text += &format!(
            "{{\"id\":\"con_{ulid}\",\"etag\":\"W/{digest}\",\"git\":\"{}..{}\"}}\n",
            &digest[..7],
            &digest[9..16]
        );
    }
    let redactor = Redactor::new();
    (0..100).for_each(|n| redactor.register(&Secret::new(hex::encode(noise(n + 10_000, 20)))));
    assert_eq!(redactor.scan(&text, Profile::Export), []);
}

#[test]
fn id_18_base64_images_are_no_hits() {
    let redactor = Redactor::new();
    (0..100).for_each(|n| redactor.register(&Secret::new(hex::encode(noise(n + 10_000, 20)))));
    let image = STANDARD.encode(noise(3, 600_000));
    let lines: Vec<&str> =
        image.as_bytes().chunks(76).map(|line| std::str::from_utf8(line).unwrap()).collect();
    for text in [format!("data:image/png;base64,{image}"), lines.join("\n")] {
        assert_eq!(redactor.scan(&text, Profile::Export), []);
    }
}

#[test]
fn ordinary_text_is_no_hit() {
    let texts = [
        "https://example.org/home/page?next=1 and http://host:8080/tmp/x",
        "GET /home/feed HTTP/1.1",
        "basic understanding of bearer tokens and a secret: short",
        "the token, the password and the cookie are kept in the vault",
        "max_tokens: 4096, token_count: 12345678",
        "let token = next_token(input); if token == other_token { }",
        "credential_ref: env:SLACK_TOKEN",
        "token: env:SLACK_TOKEN",
        "\"password\": \"file:/srv/keys/slack\"",
        "content-type: application/json, user-agent: loom",
        "Q:\\nWhat is it? A:\\nA string",
        "sk-learn-based-classifier-for-text t-shirt u-turn",
        "ssh://git@github.example/x.git",
        "127.0.0.1:4870 and 8.8.8.8, version 10.2 and 192.168",
        "pypi-server npm_config glpat-short ghp_short",
        "[redacted:exact_secret]: value, token: [redacted:secret_key_name]",
    ];
    for text in texts {
        assert_eq!(rules(text), [""; 0], "{text}");
    }
}
