//! Flags from a JSON Schema, and the input from their values.

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches};
use loom_domain::{Code, Error, Result};
use serde_json::{Map, Number, Value};

/// The flags of a schema's properties.
pub(super) fn of(schema: &Value) -> Vec<Arg> {
    properties(schema).map(|(name, property)| flag(name, property)).collect()
}

/// Form of a file that becomes part of the input (`x-cli` of the property).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileKind {
    /// JSON.
    Json,
    /// Text.
    Text,
}

/// What the flags say: values, and files that hold values.
pub(super) type Given = (Map<String, Value>, Vec<(String, String, FileKind)>);

/// The properties that were given.
pub(super) fn read(schema: &Value, matches: &ArgMatches) -> Result<Given> {
    let (mut input, mut files) = (Map::new(), Vec::new());
    for (name, property) in properties(schema) {
        if kind(property) == "boolean" {
            if matches.get_flag(name) {
                input.insert(name.clone(), Value::Bool(!is_on(property)));
            }
            continue;
        }
        let Some(texts) = matches.get_many::<String>(name) else { continue };
        let texts: Vec<&String> = texts.collect();
        if let (Some(form), Some(path)) = (file_kind(property), texts.last()) {
            files.push((name.clone(), (*path).clone(), form));
            continue;
        }
        let value = match (kind(property), texts.last()) {
            ("array", _) => {
                let item = property.get("items").unwrap_or(&Value::Null);
                Value::Array(texts.iter().map(|text| value(name, item, text)).collect::<Result<_>>()?)
            }
            (_, Some(text)) => value(name, property, text)?,
            (_, None) => continue,
        };
        input.insert(name.clone(), value);
    }
    Ok((input, files))
}

fn file_kind(property: &Value) -> Option<FileKind> {
    match property.get("x-cli")?.as_str()? {
        "json-file" => Some(FileKind::Json),
        "text-file" => Some(FileKind::Text),
        _ => None,
    }
}

fn properties(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema.get("properties").and_then(Value::as_object).into_iter().flatten()
}

fn flag(name: &str, property: &Value) -> Arg {
    let long = name.replace('_', "-");
    let about = property.get("description").and_then(Value::as_str).unwrap_or_default().replace('\n', " ");
    let about = match property.get("default").filter(|default| default.is_number() || default.is_string()) {
        Some(default) => format!("{about} [default: {}]", default.to_string().trim_matches('"')),
        None => about,
    };
    let arg = Arg::new(name.to_owned()).help(about);
    if file_kind(property).is_some() {
        return arg.long(long).value_name("FILE").allow_hyphen_values(true);
    }
    match kind(property) {
        "boolean" if is_on(property) => arg.long(format!("no-{long}")).action(ArgAction::SetTrue),
        "boolean" => arg.long(long).action(ArgAction::SetTrue),
        kind => {
            let of = if kind == "array" { property.get("items").unwrap_or(property) } else { property };
            let action = if kind == "array" { ArgAction::Append } else { ArgAction::Set };
            let arg = arg.long(long).action(action).value_name(placeholder(of)).allow_hyphen_values(true);
            match words(of) {
                Some(words) => arg.value_parser(PossibleValuesParser::new(words)),
                None => arg,
            }
        }
    }
}

fn kind(property: &Value) -> &str {
    match property.get("type") {
        Some(Value::String(kind)) => kind,
        Some(Value::Array(kinds)) => {
            kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null").unwrap_or("string")
        }
        _ if property.get("properties").is_some() => "object",
        _ => "string",
    }
}

fn is_on(property: &Value) -> bool {
    property.get("default").and_then(Value::as_bool).unwrap_or(false)
}

fn words(property: &Value) -> Option<Vec<String>> {
    let words = property.get("enum")?.as_array()?;
    Some(words.iter().filter_map(Value::as_str).map(str::to_owned).collect())
}

fn placeholder(property: &Value) -> &'static str {
    match (kind(property), property.get("format").and_then(Value::as_str)) {
        ("integer" | "number", _) => "N",
        ("object", _) => "JSON",
        (_, Some("uri")) => "URL",
        (_, Some("date")) => "DATE",
        _ => "TEXT",
    }
}

fn value(name: &str, property: &Value, text: &str) -> Result<Value> {
    let wrong =
        |what: &str| Error::new(Code::Usage, format!("--{}: expected {what}", name.replace('_', "-")));
    match kind(property) {
        "integer" => {
            let number = text.parse::<i64>().map_err(|_| wrong("a whole number"))?;
            #[expect(clippy::cast_precision_loss, reason = "limits of flags are small")]
            in_range(property, number as f64).map_err(|range| wrong(&range))?;
            Ok(number.into())
        }
        "number" => {
            let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
            let number = number.ok_or_else(|| wrong("a number"))?;
            in_range(property, number).map_err(|range| wrong(&range))?;
            Ok(Number::from_f64(number).map_or(Value::Null, Value::Number))
        }
        "object" => serde_json::from_str(text).map_err(|_| wrong("a JSON object")),
        _ => Ok(Value::String(text.to_owned())),
    }
}

fn in_range(property: &Value, number: f64) -> Result<(), String> {
    let bound = |key: &str| property.get(key).and_then(Value::as_f64);
    let (least, most) = (bound("minimum"), bound("maximum"));
    let fits = least.is_none_or(|least| number >= least) && most.is_none_or(|most| number <= most);
    let shown = |bound: Option<f64>| bound.map_or_else(String::new, |bound| bound.to_string());
    if fits { Ok(()) } else { Err(format!("a number from {} to {}", shown(least), shown(most))) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parse(words: &[&str]) -> Result<Value> {
        let schema = json!({"properties": {
            "after_comment_url": {"type": "string"}, "fetch": {"type": "boolean", "default": false},
            "amendments": {"type": "boolean", "default": true}, "limit": {"type": "integer", "minimum": 1, "maximum": 9},
            "form": {"type": "array", "items": {"type": "string"}}, "extra": {"type": "object"}, "ratio": {"type": "number"},
        }});
        let command = clap::Command::new("x").args(of(&schema));
        let matches = command.try_get_matches_from(std::iter::once(&"x").chain(words)).unwrap();
        read(&schema, &matches).map(|(input, _)| Value::Object(input))
    }

    #[test]
    fn properties_are_flags() {
        let words = [
            "--after-comment-url",
            "u",
            "--fetch",
            "--no-amendments",
            "--limit",
            "3",
            "--form",
            "a",
            "--form=b",
        ];
        let expected = json!({"after_comment_url": "u", "fetch": true, "amendments": false, "limit": 3, "form": ["a", "b"]});
        assert_eq!(parse(&words).unwrap(), expected);
        assert_eq!(parse(&[]).unwrap(), json!({}));
        assert_eq!(parse(&["--extra", "{\"a\":1}"]).unwrap()["extra"]["a"], 1);
    }

    /// CAP-042: no number, or one out of range, is a usage error.
    #[test]
    fn cap_042_numbers_are_checked() {
        for words in [
            ["--limit", "0"],
            ["--limit", "10"],
            ["--limit", "x"],
            ["--ratio", "nan"],
            ["--ratio", "inf"],
            ["--extra", "x"],
        ] {
            assert_eq!(parse(&words).unwrap_err().code, Code::Usage, "{words:?}");
        }
    }
}
