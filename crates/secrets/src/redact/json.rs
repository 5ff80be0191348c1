//! Redaction of JSON documents: strings by the rules, and values by the names of their keys.

use std::borrow::Cow;

use serde_json::Value;

use super::patterns::content_bytes;
use super::{Redactor, Report, secret_key};
use crate::{CredentialRef, Profile, Rule, SECRET_BYTES_MIN};

impl Redactor {
    /// Masks every string of the document in place, keys included.
    pub fn redact_json(&self, value: &mut Value, profile: Profile) -> Report {
        let mut walk = Walk { redactor: self, profile, pointer: String::new(), report: Report::default() };
        walk.value(value, false);
        walk.report
    }
}

struct Walk<'a> {
    redactor: &'a Redactor,
    profile: Profile,
    pointer: String,
    report: Report,
}

impl Walk<'_> {
    fn value(&mut self, value: &mut Value, under_secret_key: bool) {
        match value {
            Value::String(text) if under_secret_key && is_secret_text(text) => {
                self.report.count(Rule::SecretKeyName);
                self.report.point(&self.pointer, Rule::SecretKeyName);
                Rule::SecretKeyName.marker().clone_into(text);
            }
            Value::String(text) => self.text(text),
            Value::Array(items) => {
                for (at, item) in items.iter_mut().enumerate() {
                    self.below(&at.to_string(), |walk| walk.value(item, under_secret_key));
                }
            }
            Value::Object(members) => {
                for (key, member) in std::mem::take(members) {
                    let (key, member) = self.member(key, member);
                    members.insert(key, member);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn member(&mut self, mut key: String, mut member: Value) -> (String, Value) {
        let secret = secret_key(&key);
        self.text(&mut key);
        let step = key.replace('~', "~0").replace('/', "~1");
        self.below(&step, |walk| walk.value(&mut member, secret));
        (key, member)
    }

    fn below(&mut self, step: &str, act: impl FnOnce(&mut Self)) {
        let length = self.pointer.len();
        self.pointer.push('/');
        self.pointer.push_str(step);
        act(self);
        self.pointer.truncate(length);
    }

    fn text(&mut self, text: &mut String) {
        let mut report = Report::default();
        if let Cow::Owned(masked) = self.redactor.redact_reported(text, self.profile, &mut report) {
            *text = masked;
        }
        for (rule, count) in report.counts() {
            (0..count).for_each(|_| self.report.count(rule));
            self.report.point(&self.pointer, rule);
        }
    }
}

fn is_secret_text(text: &str) -> bool {
    content_bytes(text.as_bytes()) >= SECRET_BYTES_MIN && CredentialRef::parse(text).is_err()
}
