//! Answers of each format as one document.

use loom_domain::{Code, Error, Result};
use loom_transport::Response;
use serde_json::{Map, Value};

use super::map::Format;

/// Rows of an answer.
const ROWS_MAX: usize = 100_000;

/// The document of an answer. Lines and rows become a list.
pub(super) fn document(response: &Response, format: Format) -> Result<Value> {
    match format {
        Format::Json => response.json(),
        Format::Text => Ok(response.text()?.into()),
        Format::Yaml => yaml(response.text()?),
        Format::Ndjson => ndjson(response.text()?),
        Format::Csv => csv(response.text()?),
    }
}

fn unreadable(why: &str) -> Error {
    Error::new(Code::ProviderProtocolError, why).with_detail("phase", "receive")
}

pub(crate) fn yaml(text: &str) -> Result<Value> {
    crate::read_document(text).map_err(|error| unreadable(&format!("the answer as YAML: {}", error.message)))
}

fn ndjson(text: &str) -> Result<Value> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let mut all = Vec::new();
    for line in lines {
        if all.len() >= ROWS_MAX {
            return Err(unreadable("the answer has too many lines"));
        }
        all.push(serde_json::from_str(line).map_err(|_| unreadable("a line of the answer is not JSON"))?);
    }
    Ok(Value::Array(all))
}

/// RFC 4180 with a header row: each further row is a record of texts.
fn csv(text: &str) -> Result<Value> {
    let mut rows = rows(text.strip_prefix('\u{feff}').unwrap_or(text))?.into_iter();
    let Some(names) = rows.next() else { return Ok(Value::Array(Vec::new())) };
    let records = rows.filter(|row| row.iter().any(|cell| !cell.is_empty())).map(|row| {
        if row.len() != names.len() {
            return Err(unreadable("a row of the answer has another number of cells than its header"));
        }
        let members = names.iter().cloned().zip(row.into_iter().map(Value::String));
        Ok(Value::Object(members.collect::<Map<_, _>>()))
    });
    records.collect::<Result<Vec<_>>>().map(Value::Array)
}

fn rows(text: &str) -> Result<Vec<Vec<String>>> {
    let (mut all, mut row, mut cell) = (Vec::new(), Vec::new(), String::new());
    let (mut quoted, mut begun) = (false, false);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, quoted) {
            ('"', true) if chars.peek() == Some(&'"') => {
                chars.next();
                cell.push('"');
            }
            ('"', true) => quoted = false,
            ('"', false) if cell.is_empty() => (quoted, begun) = (true, true),
            (',', false) => {
                row.push(std::mem::take(&mut cell));
                begun = true;
            }
            ('\r', false) if chars.peek() == Some(&'\n') => {}
            ('\n', false) => {
                row.push(std::mem::take(&mut cell));
                all.push(std::mem::take(&mut row));
                begun = false;
                if all.len() > ROWS_MAX {
                    return Err(unreadable("the answer has too many rows"));
                }
            }
            (c, _) => {
                cell.push(c);
                begun = true;
            }
        }
    }
    if quoted {
        return Err(unreadable("a quote of the answer is not closed"));
    }
    if begun {
        row.push(cell);
        all.push(row);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// CAP-114: the same facts read alike from each format.
    #[test]
    fn cap_114_formats_read_alike() {
        let facts = json!([{"id": "1", "name": "a, \"b\"\nc"}, {"id": "2", "name": ""}]);
        assert_eq!(csv("id,name\r\n1,\"a, \"\"b\"\"\nc\"\r\n2,\r\n").unwrap(), facts);
        assert_eq!(yaml("- {id: '1', name: \"a, \\\"b\\\"\\nc\"}\n- {id: '2', name: ''}\n").unwrap(), facts);
        let lines: Vec<String> = facts.as_array().unwrap().iter().map(Value::to_string).collect();
        let lines = lines.join("\n");
        assert_eq!(ndjson(&lines).unwrap(), facts);
    }

    #[test]
    fn broken_answers_are_refused() {
        assert!(csv("a,b\n1\n").is_err() && csv("a\n\"x").is_err());
        assert!(ndjson("{}\n{").is_err());
        assert!(yaml("a: &x 1\nb: *x\n").is_err());
        assert_eq!(csv("").unwrap(), json!([]));
    }
}
