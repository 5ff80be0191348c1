//! Texts with `{name}` and `{name?}` in them. Values fill them as data: nothing in a value is read as a template or URL.

use serde_json::{Map, Value};

/// Longest text that a template gives.
const FILLED_BYTES_MAX: usize = 8_192;

/// A part of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    /// Text as it stands.
    Text(String),
    /// A property of the input.
    Name {
        /// Its name.
        name: String,
        /// Whether it may be absent.
        optional: bool,
    },
}

/// A parsed template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Template(Vec<Part>);

impl Template {
    /// Reads a template. The error says what is wrong.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            if before.contains('}') {
                return Err("a } without its {".to_owned());
            }
            if !before.is_empty() {
                parts.push(Part::Text(before.to_owned()));
            }
            let Some((inner, after)) = after.split_once('}') else {
                return Err("a { without its }".to_owned());
            };
            let (name, optional) = inner.strip_suffix('?').map_or((inner, false), |name| (name, true));
            if !is_name(name) {
                return Err(format!("{{{}}} is not a name of an input", short(inner)));
            }
            parts.push(Part::Name { name: name.to_owned(), optional });
            rest = after;
        }
        if rest.contains('}') {
            return Err("a } without its {".to_owned());
        }
        if !rest.is_empty() {
            parts.push(Part::Text(rest.to_owned()));
        }
        Ok(Template(parts))
    }

    /// The names in it, with whether they may be absent.
    pub(super) fn names(&self) -> impl Iterator<Item = (&str, bool)> {
        self.0.iter().filter_map(|part| match part {
            Part::Name { name, optional } => Some((name.as_str(), *optional)),
            Part::Text(_) => None,
        })
    }

    /// The one name that is the whole template.
    pub(super) fn whole(&self) -> Option<(&str, bool)> {
        match self.0.as_slice() {
            [Part::Name { name, optional }] => Some((name, *optional)),
            _ => None,
        }
    }

    /// Fills it; `None` when something in it is absent. The error names the input.
    pub(super) fn fill(&self, input: &Map<String, Value>) -> Result<Option<String>, String> {
        self.filled(input, |text| text)
    }

    /// Fills the segment of a path: values are encoded, and no value or segment is empty, `.` or `..`.
    pub(super) fn fill_segment(&self, input: &Map<String, Value>) -> Result<Option<String>, String> {
        let Some((name, _)) = self.names().next() else { return self.fill(input) };
        for (name, _) in self.names() {
            let value = input.get(name).map(text_of).transpose().map_err(|()| name.to_owned())?;
            if value.is_some_and(|value| matches!(value.as_str(), "" | "." | "..")) {
                return Err(name.to_owned());
            }
        }
        let segment = self.filled(input, |text| encoded(&text))?;
        match segment.as_deref() {
            Some("." | ".." | "") => Err(name.to_owned()),
            _ => Ok(segment),
        }
    }

    fn filled(
        &self,
        input: &Map<String, Value>,
        each: impl Fn(String) -> String,
    ) -> Result<Option<String>, String> {
        let mut text = String::new();
        for part in &self.0 {
            match part {
                Part::Text(part) => text.push_str(part),
                Part::Name { name, .. } => {
                    let Some(value) = input.get(name).filter(|value| !value.is_null()) else {
                        return Ok(None);
                    };
                    text.push_str(&each(text_of(value).map_err(|()| name.clone())?));
                }
            }
            if text.len() > FILLED_BYTES_MAX {
                return Err(self.names().next().map(|(name, _)| name.to_owned()).unwrap_or_default());
            }
        }
        Ok(Some(text))
    }
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

fn short(text: &str) -> String {
    text.chars().take(20).collect()
}

fn text_of(value: &Value) -> Result<String, ()> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        Value::Bool(flag) => Ok(flag.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => Err(()),
    }
}

/// Percent-encodes everything but the unreserved characters of RFC 3986.
fn encoded(text: &str) -> String {
    text.bytes().fold(String::with_capacity(text.len()), |mut done, byte| {
        match byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            true => done.push(char::from(byte)),
            false => done.push_str(&format!("%{byte:02X}")),
        }
        done
    })
}

/// Fills the string leaves of a body that are a template as a whole, with the value as it is.
pub(super) fn fill_body(body: &Value, input: &Map<String, Value>) -> Value {
    match body {
        Value::String(text) => match Template::parse(text).ok().as_ref().and_then(Template::whole) {
            Some((name, _)) => input.get(name).cloned().unwrap_or_default(),
            None => body.clone(),
        },
        Value::Array(items) => items.iter().map(|item| fill_body(item, input)).collect(),
        Value::Object(members) => {
            let kept = members.iter().filter(|(_, member)| !is_absent(member, input));
            Value::Object(kept.map(|(key, member)| (key.clone(), fill_body(member, input))).collect())
        }
        other => other.clone(),
    }
}

fn is_absent(member: &Value, input: &Map<String, Value>) -> bool {
    let template = member.as_str().and_then(|text| Template::parse(text).ok());
    matches!(template.as_ref().and_then(Template::whole), Some((name, true)) if !input.contains_key(name))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[expect(clippy::needless_pass_by_value, reason = "tests read better with literals")]
    fn segment(template: &str, value: Value) -> Result<Option<String>, String> {
        let input = json!({"page": value});
        Template::parse(template).unwrap().fill_segment(input.as_object().unwrap())
    }

    /// CAP-122: a value stays one encoded segment, and none is `.` or `..`.
    #[test]
    fn cap_122_a_value_stays_one_segment() {
        for (value, expected) in [
            ("a/b", "a%2Fb"),
            ("%2f", "%252f"),
            ("a?b#c", "a%3Fb%23c"),
            ("a\r\nb", "a%0D%0Ab"),
            ("%2e%2e", "%252e%252e"),
            ("a\\b", "a%5Cb"),
            ("é", "%C3%A9"),
            ("{page}", "%7Bpage%7D"),
            ("...", "..."),
        ] {
            assert_eq!(segment("{page}", json!(value)), Ok(Some(expected.to_owned())), "{value}");
        }
        for (template, value) in
            [("{page}", "."), ("{page}", ".."), ("{page}", ""), (".{page}", "."), ("{page}{page}", ".")]
        {
            assert_eq!(segment(template, json!(value)), Err("page".to_owned()), "{template} {value}");
        }
        assert_eq!(segment("{page}.json", json!(7)), Ok(Some("7.json".to_owned())));
        assert!(segment("{page}", json!(["a"])).is_err() && segment("{page}", json!({"a": 1})).is_err());
    }

    #[test]
    fn templates_are_read_strictly() {
        for text in ["{", "}", "{}", "{a b}", "{A}", "{a", "a}", "{a}}", "{{a}}", "{a??}", "{.a}"] {
            assert!(Template::parse(text).is_err(), "{text}");
        }
        let template = Template::parse("x-{since?}").unwrap();
        assert_eq!(template.fill(&Map::new()), Ok(None));
        assert_eq!(template.names().collect::<Vec<_>>(), [("since", true)]);
    }

    #[test]
    fn bodies_take_whole_leaves_with_their_type() {
        let input = json!({"n": 3, "list": [1, 2], "text": "{n}"});
        let body = json!({"a": "{n}", "b": ["{list}"], "c": "n is {n}", "d": "{gone?}", "e": "{text}"});
        let filled = fill_body(&body, input.as_object().unwrap());
        assert_eq!(filled, json!({"a": 3, "b": [[1, 2]], "c": "n is {n}", "e": "{n}"}));
    }
}
