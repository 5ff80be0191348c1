//! ATK-27 and the rules of the policy, without a socket.

use super::*;

fn policy(origins: &[&str]) -> Policy {
    Policy { local_origins: origins.iter().map(|o| o.parse().unwrap()).collect(), ..Policy::default() }
}

fn reason(policy: &Policy, url: &str) -> String {
    let url = parse_url(url).unwrap();
    let judged = policy.check_url(&url, &Hosts::AnyPublic).and_then(|target| match target.literal {
        Some(ip) => policy.check_addresses(&target, &[ip]),
        None => Ok(()),
    });
    match judged {
        Ok(()) => "allowed".to_owned(),
        Err(error) => error.detail["reason"].as_str().unwrap().to_owned(),
    }
}

/// ATK-27, CAP-048: every spelling of an address that is not public.
#[test]
fn atk_27_every_spelling_is_refused() {
    let spellings = [
        "127.0.0.1",
        "127.1",
        "0x7f.1",
        "0x7f000001",
        "2130706433",
        "0177.0.0.1",
        "127.0.0.1.",
        "0.0.0.0",
        "0",
        "10.0.0.1",
        "100.64.0.1",
        "169.254.169.254",
        "0xa9fea9fe",
        "172.16.0.1",
        "172.31.255.255",
        "192.0.0.1",
        "192.0.2.1",
        "192.88.99.1",
        "192.168.1.1",
        "198.18.0.1",
        "198.19.255.255",
        "198.51.100.1",
        "203.0.113.1",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "[::]",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:a00:1]",
        "[64:ff9b::7f00:1]",
        "[64:ff9b::10.0.0.1]",
        "[64:ff9b:1::a00:1]",
        "[64:ff9b:1:7f00:0:100:808:808]",
        "[2002:7f00:1::]",
        "[2002:a9fe:a9fe::1]",
        "[100::1]",
        "[2001::1]",
        "[2001:db8::1]",
        "[3fff::1]",
        "[5f00::1]",
        "[fc00::1]",
        "[fd12::1]",
        "[fe80::1]",
        "[ff02::1]",
        "[::127.0.0.1]",
        "１２７.0.0.1",
        "127。0。0。1",
    ];
    for spelling in spellings {
        assert_eq!(reason(&policy(&[]), &format!("https://{spelling}/")), "private_address", "{spelling}");
    }
}

#[test]
fn public_addresses_and_names_pass() {
    for host in [
        "93.184.216.34",
        "[2606:4700::1111]",
        "172.32.0.1",
        "100.128.0.1",
        "[64:ff9b::808:808]",
        "example.com",
    ] {
        assert_eq!(reason(&policy(&[]), &format!("https://{host}/")), "allowed", "{host}");
    }
}

#[test]
fn scheme_userinfo_and_port_have_their_reasons() {
    let policy = policy(&[]);
    assert_eq!(reason(&policy, "http://example.com/"), "scheme");
    assert_eq!(reason(&policy, "ftp://example.com/"), "scheme");
    assert_eq!(reason(&policy, "file:///etc/passwd"), "scheme");
    assert_eq!(reason(&policy, "https://user@example.com/"), "userinfo");
    assert_eq!(reason(&policy, "https://:secret@example.com/"), "userinfo");
    assert_eq!(reason(&policy, "https://example.com:8443/"), "port");
}

#[test]
fn a_host_list_is_exact() {
    let hosts = Hosts::Only(vec!["api.github.com".to_owned(), "git.example:8443".to_owned()]);
    let judge = |url: &str| match policy(&[]).check_url(&parse_url(url).unwrap(), &hosts) {
        Ok(_) => "allowed".to_owned(),
        Err(error) => error.detail["reason"].as_str().unwrap().to_owned(),
    };
    assert_eq!(judge("https://api.github.com/x"), "allowed");
    assert_eq!(judge("https://API.GITHUB.COM./x"), "allowed");
    assert_eq!(judge("https://git.example:8443/"), "allowed");
    assert_eq!(judge("https://git.example/"), "port");
    for host in ["api.github.com.evil.example", "evil-api.github.com", "github.com", "x.api.github.com"] {
        assert_eq!(judge(&format!("https://{host}/")), "host_not_allowed", "{host}");
    }
}

#[test]
fn a_local_origin_is_exactly_scheme_host_and_port() {
    let policy = policy(&["http://127.0.0.1:4000"]);
    assert_eq!(reason(&policy, "http://127.0.0.1:4000/x"), "allowed");
    assert_eq!(reason(&policy, "ws://127.0.0.1:4000/x"), "allowed");
    assert_eq!(reason(&policy, "http://127.0.0.1:4001/x"), "scheme");
    assert_eq!(reason(&policy, "https://127.0.0.1:4000/x"), "port");
    assert_eq!(reason(&policy, "http://localhost:4000/x"), "scheme");
}

#[test]
fn a_private_origin_needs_https_and_a_listed_range() {
    let mut policy = policy(&["https://10.1.2.3", "http://10.1.2.3"]);
    assert_eq!(reason(&policy, "https://10.1.2.3/"), "private_address");
    policy.allow_private = vec!["10.0.0.0/8".parse().unwrap()];
    assert_eq!(reason(&policy, "https://10.1.2.3/"), "allowed");
    assert_eq!(reason(&policy, "http://10.1.2.3/"), "scheme");
    assert_eq!(reason(&policy, "https://10.1.2.4/"), "private_address");
}

/// CAP-048: one bad address among good ones refuses the request.
#[test]
fn cap_048_one_private_address_refuses_all() {
    let policy = policy(&[]);
    let target = policy.check_url(&parse_url("https://example.com/").unwrap(), &Hosts::AnyPublic).unwrap();
    let mixed = ["93.184.216.34".parse().unwrap(), "10.0.0.1".parse().unwrap()];
    let error = policy.check_addresses(&target, &mixed).unwrap_err();
    assert_eq!((error.code, error.detail["reason"].as_str()), (Code::EgressDenied, Some("private_address")));
}

#[test]
fn long_and_broken_urls_are_invalid() {
    let long = format!("https://example.com/{}", "a".repeat(URL_BYTES_MAX));
    assert_eq!(parse_url(&long).unwrap_err().detail["rule"], "length");
    assert_eq!(parse_url("not a url").unwrap_err().code, Code::InvalidUrl);
}
