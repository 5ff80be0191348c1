mod forms;
mod precision;
mod rules;
mod stream;

use crate::{Profile, Redactor, Secret};

/// Masks a text with the values registered.
fn masked(values: &[&str], text: &str) -> String {
    let redactor = Redactor::new();
    for value in values {
        redactor.register(&Secret::new(*value));
    }
    redactor.redact(text, Profile::Output).into_owned()
}

/// Rules that match the text in the profile of exports.
fn rules(text: &str) -> Vec<&'static str> {
    Redactor::new().scan(text, Profile::Export).iter().map(|hit| hit.rule.id()).collect()
}
