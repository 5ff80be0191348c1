//! What the source of a room must not say, beyond what its manifest can show.

use std::path::Path;

use crate::tree::File;

/// A word, the folders where it may stand, and why it may stand nowhere else.
struct Rule {
    words: &'static [&'static str],
    /// Below this folder the rule holds.
    within: &'static str,
    except: &'static [&'static str],
    why: &'static str,
}

const RULES: &[Rule] = &[
    Rule {
        words: &["hyper::client", "hyper_util::client", "reqwest::", "tokio_tungstenite::connect_async"],
        within: "crates/",
        // The API's client speaks to the hub alone; twins are no part of the hub.
        except: &["crates/transport/", "crates/api/", "crates/twins/"],
        why: "crates/transport is the one door out",
    },
    Rule {
        words: &["TcpStream::connect", "TcpSocket", "UdpSocket", "lookup_host", "to_socket_addrs"],
        within: "",
        // Sockets to the hub itself; twins, stories and measurements are no part of the hub.
        except: &["crates/transport/", "crates/api/", "crates/twins/", "tests/", "bench/", "xtask/"],
        why: "crates/transport alone opens sockets to services",
    },
    Rule {
        words: &[
            "std::env",
            "std::fs",
            "std::net",
            "std::process",
            "SystemTime",
            "Instant::now",
            "Timestamp::now(",
        ],
        within: "crates/domain/src/",
        except: &[],
        why: "the domain knows no clock, file, socket or environment",
    },
    Rule {
        words: &["GateBook for "],
        within: "",
        except: &["crates/hub/src/calls/book.rs", "xtask/"],
        why: "approvals are made in the store of the hub alone",
    },
    Rule {
        words: &["loom_hub::", "loom_store::"],
        within: "crates/channels/",
        except: &[],
        why: "a channel knows neither the store nor the hub",
    },
];

/// The one place for words in other languages than English.
const WORDS: &str = "crates/report/src/words.rs";

/// Every line that breaks a rule, in product code.
pub(crate) fn faults(files: &[File]) -> Vec<String> {
    let product = || files.iter().filter(|file| is_product(&file.path));
    product().flat_map(in_file).chain(product().flat_map(other_languages)).collect()
}

/// Lines with Chinese text in what the program can say. Tests at the end of a file may hold any.
fn other_languages(file: &File) -> Vec<String> {
    let says = ["crates/", "loom/"].iter().any(|folder| file.path.starts_with(folder)) && file.path != WORDS;
    let product = file.text.split("#[cfg(test)]").next().filter(|_| says).unwrap_or_default();
    let is_chinese = |c: char| ('\u{4e00}'..='\u{9fff}').contains(&c);
    let lines = (1_usize..).zip(product.lines()).filter(|(_, line)| line.chars().any(is_chinese));
    lines.map(|(number, _)| format!("{}:{number}: Chinese text outside {WORDS}", file.path)).collect()
}

fn is_product(path: &str) -> bool {
    let is_test = path.contains("/tests/") || path.ends_with("/tests.rs");
    Path::new(path).extension().is_some_and(|end| end == "rs") && !is_test
}

fn in_file(file: &File) -> Vec<String> {
    let mut found = Vec::new();
    for rule in RULES.iter().filter(|rule| holds(rule, &file.path)) {
        for (number, line) in (1_usize..).zip(file.text.lines()) {
            if let Some(word) = rule.words.iter().find(|word| line.contains(**word)) {
                found.push(format!("{}:{number}: {word} ({})", file.path, rule.why));
            }
        }
    }
    found
}

fn holds(rule: &Rule, path: &str) -> bool {
    path.starts_with(rule.within) && !rule.except.iter().any(|folder| path.starts_with(folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(path: &str, text: &str) -> usize {
        faults(&[File { path: path.to_owned(), text: text.to_owned() }]).len()
    }

    /// CAP-037: whoever else opens a socket to a service is found.
    #[test]
    fn cap_037_clients_are_built_in_the_transport_alone() {
        assert_eq!(judged("crates/hub/src/x.rs", "use hyper_util::client::legacy::Client;"), 1);
        assert_eq!(judged("crates/transport/src/x.rs", "use hyper_util::client::legacy::Client;"), 0);
        assert_eq!(judged("crates/server/src/tests/house.rs", "use hyper::client::conn::http1;"), 0);
        for socket in ["TcpStream::connect(address)", "std::net::UdpSocket", "tokio::net::lookup_host(name)"]
        {
            assert_eq!(judged("crates/capabilities/src/x.rs", socket), 1, "{socket}");
            assert_eq!(judged("loom/src/x.rs", socket), 1, "{socket}");
            assert_eq!(judged("crates/transport/src/dial.rs", socket), 0, "{socket}");
        }
    }

    /// CAP-024: the program says nothing in Chinese but by the words of the reports.
    #[test]
    fn cap_024_other_languages_stand_in_one_place() {
        let line = "let title = \"\u{62a5}\u{544a}\";";
        assert_eq!(judged("loom/src/output/x.rs", line), 1);
        assert_eq!(judged(WORDS, line), 0);
        assert_eq!(judged("crates/x/src/y.rs", &format!("#[cfg(test)]\nmod tests {{ {line} }}")), 0);
    }

    #[test]
    fn the_domain_knows_no_file_and_no_clock() {
        assert_eq!(judged("crates/domain/src/x.rs", "std::fs::read(path)"), 1);
        assert_eq!(judged("crates/domain/src/x.rs", "SystemTime::now()"), 1);
        assert_eq!(judged("crates/store/src/x.rs", "std::fs::read(path)"), 0);
    }
}
