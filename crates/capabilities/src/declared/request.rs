//! From an operation and an input to the request it stands for. Pure.

use loom_domain::{Code, Error, Result};
use serde_json::{Map, Value, json};

use super::map::Operation;
use super::template::{Template, fill_body};

/// Headers that only a credential may fill.
pub(super) const SECRET_HEADERS: &[&str] = &["authorization", "cookie", "proxy-authorization", "x-api-key"];

/// A URL whose origin is constant and whose path has templates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct UrlTemplate {
    /// `https://host` or `https://host:port`.
    pub(super) origin: String,
    /// `host:port`.
    pub(super) authority: String,
    segments: Vec<Template>,
}

impl UrlTemplate {
    /// Reads one. The error says what is wrong.
    pub(super) fn parse(text: &str) -> std::result::Result<Self, String> {
        let Some(rest) = text.strip_prefix("https://") else {
            return Err("a URL begins with https://".to_owned());
        };
        let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        if host.contains(['{', '}']) {
            return Err("a template cannot stand in scheme, host or port".to_owned());
        }
        if host.contains('@') {
            return Err("user information cannot stand in a URL".to_owned());
        }
        if text.contains(['?', '#']) && !is_only_optional(path) {
            return Err("query parameters stand in `query`, and there are no fragments".to_owned());
        }
        let origin = format!("https://{host}");
        let authority = crate::plan::authority(&origin).ok_or("the host of the URL cannot be read")?;
        let written = authority.strip_suffix(":443").filter(|_| !host.contains(':')).unwrap_or(&authority);
        if written != host {
            return Err(format!("the host is written {written}"));
        }
        let segments = path.split('/').skip(1).map(|segment| {
            if matches!(segment, "." | "..") || segment.contains(['%', '\\']) || !is_printable(segment) {
                return Err("a segment of the path has characters that cannot stand there".to_owned());
            }
            Template::parse(segment)
        });
        let segments = segments.collect::<std::result::Result<_, _>>()?;
        Ok(UrlTemplate { origin, authority, segments })
    }

    /// Templates of the path.
    pub(super) fn names(&self) -> impl Iterator<Item = (&str, bool)> {
        self.segments.iter().flat_map(Template::names)
    }

    /// The URL for an input, at another base if the owner gave one.
    pub(super) fn fill(&self, input: &Map<String, Value>, base: Option<&str>) -> Result<String> {
        let mut url = base.unwrap_or(&self.origin).trim_end_matches('/').to_owned();
        for segment in &self.segments {
            let filled = segment.fill_segment(input).map_err(|name| unusable(&name))?;
            let missing = segment.names().next().map(|(name, _)| name).unwrap_or_default();
            url.push('/');
            url.push_str(&filled.ok_or_else(|| unusable(missing))?);
        }
        Ok(url)
    }
}

/// `?` inside of braces is read, and refused, as a template.
fn is_only_optional(path: &str) -> bool {
    !path.contains('#') && path.matches('?').count() == path.matches("?}").count()
}

fn is_printable(segment: &str) -> bool {
    segment.bytes().all(|byte| byte.is_ascii_graphic())
}

/// A request with everything filled in but the credential.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Filled {
    pub(super) url: String,
    pub(super) query: Vec<(String, String)>,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Option<Value>,
}

impl Filled {
    /// Fills the request of an operation.
    pub(super) fn of(operation: &Operation, input: &Value, base: Option<&str>) -> Result<Self> {
        let empty = Map::new();
        let input = input.as_object().unwrap_or(&empty);
        let request = &operation.request;
        let url = UrlTemplate::parse(&request.url).map_err(Error::internal)?.fill(input, base)?;
        let body = match (&request.json, &request.graphql) {
            (Some(body), _) => Some(fill_body(body, input)),
            (None, Some(graphql)) => {
                let variables = fill_body(&Value::Object(graphql.variables.clone()), input);
                Some(json!({"query": graphql.query, "variables": variables}))
            }
            (None, None) => None,
        };
        let query = filled(&request.query, input)?;
        let headers = filled(&request.headers, input)?;
        if let Some((name, _)) = headers.iter().find(|(_, value)| value.contains(['\r', '\n', '\0'])) {
            return Err(Error::new(Code::InvalidInput, format!("the header {name} cannot hold this value"))
                .with_detail("pointer", ""));
        }
        Ok(Filled { url, query, headers, body })
    }

    /// The URL with its query, as a plan shows it.
    pub(super) fn shown_url(&self) -> String {
        let Ok(mut url) = url::Url::parse(&self.url) else { return self.url.clone() };
        if !self.query.is_empty() {
            url.query_pairs_mut().extend_pairs(&self.query);
        }
        url.into()
    }
}

fn filled(
    templates: &std::collections::BTreeMap<String, String>,
    input: &Map<String, Value>,
) -> Result<Vec<(String, String)>> {
    let mut all = Vec::new();
    for (name, text) in templates {
        let template = Template::parse(text).map_err(Error::internal)?;
        if let Some(value) = template.fill(input).map_err(|name| unusable(&name))? {
            all.push((name.clone(), value));
        }
    }
    Ok(all)
}

fn unusable(name: &str) -> Error {
    Error::new(Code::InvalidInput, format!("{name} cannot stand in the request with this value"))
        .with_detail("pointer", format!("/{name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CAP-122: a template reaches no scheme, host, port or user information.
    #[test]
    fn cap_122_templates_stay_in_the_path() {
        for url in [
            "{scheme}://a.example/",
            "https://{host}/x",
            "https://a.example:{port}/x",
            "https://a.{tld}/x",
            "{url}",
            "https://{user}@a.example/",
            "https://u:p@a.example/",
            "http://a.example/",
            "https://a.example/x?y={z}",
            "https://a.example/x#{z}",
            "https://a.example/../x",
            "https://a.example/./x",
            "https://a.example/%2e%2e",
            "https://a.example/a b",
            "https://a.example\\x",
            "https://A.example/x",
            "https://",
            "https:///x",
            "//a.example",
            "https://a.example/{x",
            "https://a.example:443/x?",
            "https://1/x",
            "https://0x7f.1/",
        ] {
            assert!(UrlTemplate::parse(url).is_err(), "{url}");
        }
        let url = UrlTemplate::parse("https://a.example:8443/v1/{page}/items").unwrap();
        assert_eq!(url.authority, "a.example:8443");
        let input = json!({"page": "x/../../evil?@b.example"});
        let filled = url.fill(input.as_object().unwrap(), None).unwrap();
        assert_eq!(filled, "https://a.example:8443/v1/x%2F..%2F..%2Fevil%3F%40b.example/items");
        let elsewhere = url.fill(input.as_object().unwrap(), Some("http://127.0.0.1:9/api/")).unwrap();
        assert!(elsewhere.starts_with("http://127.0.0.1:9/api/v1/x%2F"));
        let error = url.fill(json!({"page": ".."}).as_object().unwrap(), None).unwrap_err();
        assert_eq!((error.code, error.detail["pointer"].as_str()), (Code::InvalidInput, Some("/page")));
        assert!(url.fill(&Map::new(), None).is_err());
    }
}
