//! Which request a page needs and what its answer says, without sending anything.

use loom_domain::{Code, Error, Result};
use serde_json::Value;
use url::Url;

use super::cursor::{POSITION_BYTES_MAX, Position};
use super::{JqPath, Paging, link};
use crate::credential::Place;
use crate::egress::{denied, parse_url, without_query};
use crate::request::Spec;
use crate::response::Response;

/// A page as it was read.
pub(super) struct Page {
    pub(super) items: Vec<Value>,
    pub(super) next: Option<Position>,
}

/// The request for the page at a position.
pub(super) fn request(spec: &Spec, paging: &Paging, position: &Position) -> Result<Spec> {
    let mut request = spec.clone();
    match paging {
        Paging::Link | Paging::NextUrl { .. } => {}
        Paging::Cursor { param, .. } => {
            if let Position::Token(token) = position {
                set(&mut request, param, token)?;
            }
        }
        Paging::Page { param, start, size_param, size, .. } => {
            set(&mut request, param, &number_of(position, u64::from(*start)).to_string())?;
            if let Some(size_param) = size_param {
                set(&mut request, size_param, &size.to_string())?;
            }
        }
        Paging::Offset { param, size_param, size, .. } => {
            set(&mut request, param, &number_of(position, 0).to_string())?;
            set(&mut request, size_param, &size.to_string())?;
        }
    }
    if let Position::Url(url) = position {
        same_origin(spec, &parse_url(url)?)?;
        request.url.clone_from(url);
        request.query.clear();
    }
    Ok(request)
}

/// The URL of a request with its query.
pub(super) fn full_url(spec: &Spec) -> Result<Url> {
    let mut url = parse_url(&spec.url)?;
    if !spec.query.is_empty() {
        url.query_pairs_mut().extend_pairs(&spec.query);
    }
    Ok(url)
}

/// Reads the items of a page and where the next one is.
pub(super) fn read(spec: &Spec, paging: &Paging, position: &Position, response: &Response) -> Result<Page> {
    let document: Value = response.json()?;
    let (items, next) = match paging {
        Paging::Link => {
            let next = link::next(response.headers()).map(|target| next_url(spec, response, target));
            (whole(document), next.transpose()?)
        }
        Paging::Cursor { next, items, .. } => {
            let token = word(next, &document)?.map(Position::Token);
            (list(items, &document)?, token)
        }
        Paging::NextUrl { next, items } => {
            let url = word(next, &document)?.map(|target| next_url(spec, response, &target));
            (list(items, &document)?, url.transpose()?)
        }
        Paging::Page { start, size, items, .. } => {
            let items = list(items, &document)?;
            let next = number_of(position, u64::from(*start)).saturating_add(1);
            let more = is_full(items.len(), *size).then_some(Position::Number(next));
            (items, more)
        }
        Paging::Offset { size, items, .. } => {
            let items = list(items, &document)?;
            let next = number_of(position, 0).saturating_add(items.len() as u64);
            let more = is_full(items.len(), *size).then_some(Position::Number(next));
            (items, more)
        }
    };
    Ok(Page { items, next })
}

/// An answer that breaks the rules of its list.
pub(super) fn unreadable(message: &str) -> Error {
    Error::new(Code::ProviderProtocolError, message).with_detail("phase", "receive")
}

/// Sets a query parameter, wherever the request has it now.
fn set(spec: &mut Spec, name: &str, value: &str) -> Result<()> {
    let mut url = parse_url(&spec.url)?;
    if url.query_pairs().any(|(key, _)| key == name) {
        without_query(&mut url, name);
        spec.url = url.into();
    }
    spec.query.retain(|(key, _)| key != name);
    spec.query.push((name.to_owned(), value.to_owned()));
    Ok(())
}

fn number_of(position: &Position, first: u64) -> u64 {
    if let Position::Number(number) = position { *number } else { first }
}

fn is_full(items: usize, size: u32) -> bool {
    items > 0 && items as u64 >= u64::from(size)
}

fn whole(document: Value) -> Vec<Value> {
    match document {
        Value::Array(items) => items,
        other => vec![other],
    }
}

fn list(path: &JqPath, document: &Value) -> Result<Vec<Value>> {
    match path.find(document) {
        Some(Value::Array(items)) => Ok(items.clone()),
        Some(Value::Null) => Ok(Vec::new()),
        _ => Err(unreadable("the page has no list of items where it should stand")),
    }
}

/// A cursor or URL of an answer: text or a number, absent when empty.
fn word(path: &JqPath, document: &Value) -> Result<Option<String>> {
    let word = match path.find(document) {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        Some(_) => return Err(unreadable("the cursor of the next page is neither text nor a number")),
    };
    if word.len() > POSITION_BYTES_MAX {
        return Err(unreadable("the cursor of the next page is too long"));
    }
    Ok((!word.is_empty()).then_some(word))
}

fn next_url(spec: &Spec, response: &Response, target: &str) -> Result<Position> {
    let wrong = || unreadable("the link to the next page is not a URL");
    let base = parse_url(&response.meta().final_url).map_err(|_| wrong())?;
    let mut url = base.join(target).map_err(|_| wrong())?;
    same_origin(spec, &url)?;
    // Providers echo the query: a credential in it is added anew to each request, and stands in no cursor.
    if let Some(Place::Query(name)) = spec.credential.as_ref().map(|credential| &credential.place) {
        without_query(&mut url, name);
    }
    if url.as_str().len() > POSITION_BYTES_MAX {
        return Err(wrong());
    }
    Ok(Position::Url(url.into()))
}

fn same_origin(spec: &Spec, next: &Url) -> Result<()> {
    if parse_url(&spec.url)?.origin() == next.origin()
        && next.username().is_empty()
        && next.password().is_none()
    {
        return Ok(());
    }
    Err(denied("host_not_allowed", "the next page is of another origin than the list"))
}
