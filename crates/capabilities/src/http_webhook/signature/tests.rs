use super::*;

const ID: &str = "msg_p5jXN8AQM9LWM0D4loKWxJek";
const NOW: i64 = 1_700_000_000;
const BODY: &str = r#"{"type":"message.created","data":{"text":"你好"}}"#;

fn shared() -> Secret {
    Secret::new(["whsec_", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLjSw"].concat())
}

fn pair() -> Secret {
    Secret::new(format!("whsk_{}", STANDARD.encode([7_u8; 32])))
}

fn headers(signature: &str) -> Vec<(String, String)> {
    [("webhook-id", ID), ("Webhook-Timestamp", "1700000000"), ("webhook-signature", signature)]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into()
}

/// CAP-110: the vector of the specification is reproduced.
#[test]
fn cap_110_the_vector_is_reproduced() {
    let key = SigningKey::parse(&shared()).unwrap();
    let signature = key.sign(ID, NOW, BODY.as_bytes());
    assert_eq!(signature, "v1,pYLQMD8OSGoKXzHfD9WgAGDX/sL1hIdJfU7HOKSVpoc=");
    verify(Scheme::Standard, &headers(&signature), BODY.as_bytes(), &[shared()], NOW).unwrap();
}

/// CAP-110: while one key replaces another both sign, and either verifies.
#[test]
fn cap_110_two_keys_verify_during_rotation() {
    let old = Secret::new(format!("whsec_{}", STANDARD.encode([9_u8; 24])));
    for new in [shared(), pair()] {
        let keys = [SigningKey::parse(&old).unwrap(), SigningKey::parse(&new).unwrap()];
        let both = signatures(&keys, ID, NOW, BODY.as_bytes()).unwrap();
        for secrets in [vec![old.clone()], vec![new.clone()], vec![pair(), old.clone()]] {
            verify(Scheme::Standard, &headers(&both), BODY.as_bytes(), &secrets, NOW + 299).unwrap();
        }
    }
}

/// CAP-112: what is missing, repeated, stale or changed is refused with its reason.
#[test]
fn cap_112_wrong_deliveries_are_refused() {
    let good = SigningKey::parse(&shared()).unwrap().sign(ID, NOW, BODY.as_bytes());
    let check = |headers: &[(String, String)], body: &str, now: i64| {
        verify(Scheme::Standard, headers, body.as_bytes(), &[shared()], now).unwrap_err()
    };
    assert_eq!(check(&headers(&good), &BODY.replace(':', ": "), NOW), Refusal::SignatureInvalid);
    assert_eq!(check(&headers(&good), BODY, NOW + 301), Refusal::Stale);
    assert_eq!(check(&headers(&good), BODY, NOW - 301), Refusal::Stale);
    assert_eq!(check(&headers(&good)[1..], BODY, NOW), Refusal::HeaderMissing);
    let mut twice = headers(&good);
    twice.push(("WEBHOOK-ID".to_owned(), ID.to_owned()));
    assert_eq!(check(&twice, BODY, NOW), Refusal::HeaderRepeated);
    for signature in ["", "v1,", "v1", "v2,AAAA", "v1,!!!!", &good.replace("v1,", "v1a,")] {
        assert_eq!(check(&headers(signature), BODY, NOW), Refusal::SignatureInvalid, "{signature}");
    }
    assert!(verify(Scheme::Standard, &headers(&good), BODY.as_bytes(), &[], NOW).is_err());
}

#[test]
fn keys_of_another_form_are_refused_without_being_repeated() {
    for text in ["", "whsec_", "whsec_AAAA", "plain-secret-value", "whsk_AAAA", "whsec_not base64 at all, no"]
    {
        let error = SigningKey::parse(&Secret::new(text)).unwrap_err();
        assert_eq!(error.code, Code::CredentialUnavailable);
        assert!(text.len() < 8 || !error.message.contains(text));
    }
    assert!(signatures(&[], "bad id", NOW, b"").is_err());
}

#[test]
fn signatures_of_platforms_are_verified() {
    // GitHub's own example.
    let github = [(
        "X-Hub-Signature-256".to_owned(),
        "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17".to_owned(),
    )];
    let secret = Secret::new("It's a Secret to Everybody");
    verify(Scheme::Github, &github, b"Hello, World!", std::slice::from_ref(&secret), NOW).unwrap();
    assert!(verify(Scheme::Github, &github, b"Hello, World?", std::slice::from_ref(&secret), NOW).is_err());
    assert!(verify(Scheme::Github, &github, b"Hello, World!", &[Secret::new("")], NOW).is_err());

    let header = |name: &str, value: String| (name.to_owned(), value);
    let signed = hex::encode(mac(b"slack-secret", &[b"v0:1700000000:", b"a=b"]).finalize().into_bytes());
    let slack = [
        header("x-slack-request-timestamp", NOW.to_string()),
        header("x-slack-signature", format!("v0={signed}")),
    ];
    verify(Scheme::Slack, &slack, b"a=b", &[Secret::new("slack-secret")], NOW).unwrap();
    assert_eq!(
        verify(Scheme::Slack, &slack, b"a=b", &[Secret::new("slack-secret")], NOW + 400),
        Err(Refusal::Stale)
    );

    let signed = hex::encode(Sha256::digest(b"1700000000nonceencrypt-key{}"));
    let feishu = [
        header("X-Lark-Request-Timestamp", NOW.to_string()),
        header("X-Lark-Request-Nonce", "nonce".to_owned()),
        header("X-Lark-Signature", signed),
    ];
    verify(Scheme::Feishu, &feishu, b"{}", &[Secret::new("encrypt-key")], NOW).unwrap();
    assert!(verify(Scheme::Feishu, &feishu, b"{ }", &[Secret::new("encrypt-key")], NOW).is_err());
}
