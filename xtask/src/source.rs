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

/// Every line that breaks a rule, in product code.
pub(crate) fn faults(files: &[File]) -> Vec<String> {
    files.iter().filter(|file| is_product(&file.path)).flat_map(in_file).collect()
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

    #[test]
    fn clients_are_built_in_the_transport_alone() {
        assert_eq!(judged("crates/hub/src/x.rs", "use hyper_util::client::legacy::Client;"), 1);
        assert_eq!(judged("crates/transport/src/x.rs", "use hyper_util::client::legacy::Client;"), 0);
        assert_eq!(judged("crates/server/src/tests/house.rs", "use hyper::client::conn::http1;"), 0);
    }

    #[test]
    fn the_domain_knows_no_file_and_no_clock() {
        assert_eq!(judged("crates/domain/src/x.rs", "std::fs::read(path)"), 1);
        assert_eq!(judged("crates/domain/src/x.rs", "SystemTime::now()"), 1);
        assert_eq!(judged("crates/store/src/x.rs", "std::fs::read(path)"), 0);
    }
}
