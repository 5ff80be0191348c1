//! Documents that people write: JSON or YAML 1.2, without the parts of YAML that act behind one's back.

use loom_domain::{Code, Error, Result};
use serde_json::Value;
use serde_saphyr::granit_parser::{Event, Parser};
use serde_saphyr::{DuplicateKeyPolicy, MergeKeyPolicy};

/// Largest document.
pub const DOCUMENT_BYTES_MAX: usize = 256 * 1024;
/// Deepest nesting.
const DEPTH_MAX: usize = 64;

/// Reads one document. Anchors, aliases, tags and duplicate keys are refused with their line.
pub fn read_document(text: &str) -> Result<Value> {
    if text.len() > DOCUMENT_BYTES_MAX {
        let message = format!("the document is over {DOCUMENT_BYTES_MAX} bytes");
        return Err(Error::new(Code::InvalidInput, message).with_detail("pointer", ""));
    }
    if text.trim_start().starts_with(['{', '[']) {
        // What is JSON by its first character is judged as JSON where it is, and as YAML's flow style where not.
        check_depth(text)?;
    }
    check_events(text)?;
    let options = serde_saphyr::options! {
        duplicate_keys: DuplicateKeyPolicy::Error,
        merge_keys: MergeKeyPolicy::Error,
        with_snippet: false,
        strict_booleans: true,
    };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| {
        let place = error.location().map(|at| (at.line(), at.column()));
        // The text of the parser may repeat a value; a key that stands twice is the one thing worth naming.
        let twice = error.to_string().to_ascii_lowercase().contains("duplicate");
        refused(if twice { "a key stands twice" } else { "not a JSON or YAML document" }, place)
    })
}

fn check_events(text: &str) -> Result<()> {
    let (mut depth, mut documents) = (0_usize, 0_usize);
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|_| refused("not a JSON or YAML document", None))?;
        let place = (span.start.line() as u64, span.start.col() as u64 + 1);
        let (anchored, tagged) = match &event {
            Event::Alias(_) | Event::UnresolvedAlias(..) => {
                return Err(refused("aliases are not taken", Some(place)));
            }
            Event::Anchor(..) => (true, false),
            Event::Scalar(_, _, anchor, tag) => (*anchor > 0, tag.is_some()),
            Event::SequenceStart(_, anchor, tag) | Event::MappingStart(_, anchor, tag) => {
                depth += 1;
                (*anchor > 0, tag.is_some())
            }
            Event::SequenceEnd | Event::MappingEnd => {
                depth = depth.saturating_sub(1);
                (false, false)
            }
            Event::DocumentStart(..) => {
                documents += 1;
                (false, false)
            }
            _ => (false, false),
        };
        match () {
            () if anchored => return Err(refused("anchors are not taken", Some(place))),
            () if tagged => return Err(refused("tags are not taken", Some(place))),
            () if depth > DEPTH_MAX => return Err(refused("the document is too deep", Some(place))),
            () if documents > 1 => return Err(refused("one document is taken, not several", Some(place))),
            () => {}
        }
    }
    Ok(())
}

/// Brackets, before any parser builds something of them.
fn check_depth(text: &str) -> Result<()> {
    let open = text.bytes().filter(|b| matches!(b, b'{' | b'[')).take(DOCUMENT_BYTES_MAX / 4).count();
    if open < DOCUMENT_BYTES_MAX / 4 { Ok(()) } else { Err(refused("the document is too deep", None)) }
}

fn refused(why: &str, place: Option<(u64, u64)>) -> Error {
    match place {
        None => Error::new(Code::InvalidInput, why).with_detail("pointer", ""),
        Some((line, column)) => Error::new(Code::InvalidInput, format!("line {line}: {why}"))
            .with_detail("pointer", "")
            .with_detail("line", line)
            .with_detail("column", column),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn json_and_yaml_read_alike() {
        let expected =
            json!({"connector": "x", "input": {"fetch": true, "n": 3, "list": ["a", 1.5], "none": null}});
        let yaml = "connector: x\ninput:\n  fetch: true\n  n: 3\n  list: [a, 1.5]\n  none: null\n";
        assert_eq!(read_document(yaml).unwrap(), expected);
        assert_eq!(read_document(&expected.to_string()).unwrap(), expected);
        assert_eq!(read_document("a: no\nb: 012\n").unwrap()["a"], "no");
    }

    /// CAP-018: what acts behind one's back is refused with its line.
    #[test]
    fn cap_018_anchors_aliases_tags_duplicates_and_size() {
        for (text, line) in [
            ("a: &x 1\n", Some(1)),
            ("a: 1\nb: *a\n", None),
            ("a: 1\nb: !!str 2\n", Some(2)),
            ("a: !custom 1\n", Some(1)),
            ("a: 1\nb: 2\na: 3\n", Some(3)),
            ("{\"a\": 1, \"a\": 2}", Some(1)),
            ("a: 1\n---\nb: 2\n", None),
            ("a: [", None),
        ] {
            let error = read_document(text).unwrap_err();
            assert_eq!(error.code, Code::InvalidInput, "{text}");
            if let Some(line) = line {
                assert_eq!(error.detail["line"], line, "{text}");
            }
        }
        let error = read_document(&format!("a: {}", "x".repeat(257 * 1024))).unwrap_err();
        assert_eq!(error.code, Code::InvalidInput);
        assert!(read_document(&"[".repeat(200_000)).is_err());
    }
}
