//! Arguments of a Web API call, whatever encoding they came in.

use std::collections::BTreeMap;

use serde_json::Value;
use url::form_urlencoded;

/// Named arguments.
#[derive(Debug, Clone, Default)]
pub(super) struct Params(pub(super) BTreeMap<String, Value>);

impl Params {
    /// Reads the query string and the body.
    pub(super) fn read(query: &str, content_type: &str, body: &[u8]) -> Result<Self, &'static str> {
        let mut params = Self::default();
        params.read_form(query.as_bytes());
        let kind = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        match kind.as_str() {
            _ if body.is_empty() => {}
            "application/json" => params.read_json(body)?,
            "multipart/form-data" => {
                for part in super::multipart::parts(content_type, body) {
                    let text = String::from_utf8_lossy(part.bytes).into_owned();
                    params.0.insert(part.name, Value::String(text));
                }
            }
            _ => params.read_form(body),
        }
        Ok(params)
    }

    fn read_form(&mut self, form: &[u8]) {
        for (key, value) in form_urlencoded::parse(form) {
            self.0.insert(key.into_owned(), Value::String(value.into_owned()));
        }
    }

    fn read_json(&mut self, body: &[u8]) -> Result<(), &'static str> {
        match serde_json::from_slice(body) {
            Ok(Value::Object(object)) => self.0.extend(object),
            Ok(_) => return Err("json_not_object"),
            Err(_) => return Err("invalid_json"),
        }
        Ok(())
    }

    /// A text argument; an empty one counts as absent.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).and_then(Value::as_str).filter(|s| !s.is_empty())
    }

    /// A yes-or-no argument in any of the spellings Slack takes.
    pub(super) fn flag(&self, name: &str) -> bool {
        match self.0.get(name) {
            Some(Value::Bool(flag)) => *flag,
            Some(Value::String(text)) => matches!(text.as_str(), "true" | "1"),
            Some(Value::Number(number)) => number.as_u64() == Some(1),
            _ => false,
        }
    }

    /// A whole number.
    pub(super) fn number(&self, name: &str) -> Option<usize> {
        match self.0.get(name)? {
            Value::Number(number) => number.as_u64().and_then(|n| usize::try_from(n).ok()),
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        }
    }

    /// A structured argument: itself, or JSON inside a form field.
    pub(super) fn json(&self, name: &str) -> Option<Result<Value, ()>> {
        match self.0.get(name)? {
            Value::Null => None,
            Value::String(text) if text.is_empty() => None,
            Value::String(text) => Some(serde_json::from_str(text).map_err(|_| ())),
            other => Some(Ok(other.clone())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_json_and_multipart_give_the_same_arguments() {
        let form =
            Params::read("limit=2", "application/x-www-form-urlencoded", b"channel=C1&x=%7B%22a%22%3A1%7D");
        let json =
            Params::read("", "application/json; charset=utf-8", br#"{"channel":"C1","limit":2,"x":{"a":1}}"#);
        let body = b"--b\r\nContent-Disposition: form-data; name=\"channel\"\r\n\r\nC1\r\n--b\r\nContent-Disposition: form-data; name=\"limit\"\r\n\r\n2\r\n--b\r\nContent-Disposition: form-data; name=\"x\"\r\n\r\n{\"a\":1}\r\n--b--\r\n";
        let multipart = Params::read("", "multipart/form-data; boundary=b", body);
        for params in [form.unwrap(), json.unwrap(), multipart.unwrap()] {
            assert_eq!(params.text("channel"), Some("C1"));
            assert_eq!(params.number("limit"), Some(2));
            assert_eq!(params.json("x").unwrap().unwrap()["a"], 1);
        }
        assert!(Params::read("", "application/json", b"[]").is_err());
    }
}
