//! A desk without a hub, behind servers that only watch and in tests of the routes: every call is answered with `not_found`, the method's name and its arguments.

use loom_domain::{Code, Error};

pub(crate) struct Silent;

pub(super) fn reached(method: &str, arguments: &[&String]) -> Error {
    let arguments: Vec<&str> = arguments.iter().map(|text| text.as_str()).collect();
    Error::new(Code::NotFound, format!("reached {method}")).with_detail("arguments", arguments.join(" "))
}
