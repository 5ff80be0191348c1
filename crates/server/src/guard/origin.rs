//! Guard 4: a web page of another origin can read nothing and do nothing.

use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, header};
use loom_domain::{Code, Error};

use super::host::{Names, authority_of};
use crate::{ListenConfig, Problem};

/// Origins that may call, and those of them that may read answers from another site.
#[derive(Debug, Clone, Default)]
pub(crate) struct Origins {
    own: Vec<String>,
    listed: Vec<String>,
}

/// What guard 4 decided.
#[derive(Debug, Default)]
pub(super) struct Decision {
    /// An origin of `listen.cors_origins`, to be named in the answer.
    pub(super) cors: Option<HeaderValue>,
    /// Whether the request is a preflight of that origin.
    pub(super) preflight: bool,
}

impl Origins {
    /// Derives the hub's own origins from its names and adds the listed ones.
    pub(crate) fn new(config: &ListenConfig, names: &Names) -> Result<Self, Error> {
        let scheme = if config.tls.is_some() { "https" } else { "http" };
        let mut own: Vec<String> = names.hosts().iter().map(|host| format!("{scheme}://{host}")).collect();
        if let Some(url) = &config.public_url {
            let scheme = url.split_once("://").map_or("https", |(scheme, _)| scheme);
            let authority = authority_of(url)?;
            own.retain(|other| *other != format!("http://{authority}"));
            own.push(format!("{scheme}://{authority}"));
        }
        let listed = config.cors_origins.iter().map(|origin| origin.to_ascii_lowercase()).collect();
        Ok(Origins { own, listed })
    }

    pub(super) fn check(&self, parts: &Parts) -> Result<Decision, Problem> {
        let Some(origin) = single_origin(&parts.headers)? else { return Ok(Decision::default()) };
        let text = origin.to_str().unwrap_or_default();
        if self.listed.iter().any(|listed| listed == text) {
            let preflight = parts.method == Method::OPTIONS
                && parts.headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
            return Ok(Decision { cors: Some(origin.clone()), preflight });
        }
        if self.own.iter().any(|own| own == text) { Ok(Decision::default()) } else { Err(refused()) }
    }
}

fn single_origin(headers: &HeaderMap) -> Result<Option<&HeaderValue>, Problem> {
    let mut values = headers.get_all(header::ORIGIN).iter();
    match (values.next(), values.next()) {
        (_, Some(_)) => Err(refused()),
        (first, None) => Ok(first),
    }
}

fn refused() -> Problem {
    Problem::new(Code::OriginNotAllowed, "the request comes from another origin")
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::Request;

    fn decide(origins: &[&str]) -> Result<Decision, Problem> {
        let config = ListenConfig {
            public_url: Some("https://loom.example".into()),
            cors_origins: vec!["https://desk.example".into()],
            ..ListenConfig::default()
        };
        let names = Names::new(&config, "127.0.0.1:4870".parse().ok())?;
        let mut request = Request::builder().uri("/");
        for origin in origins {
            request = request.header(header::ORIGIN, *origin);
        }
        Origins::new(&config, &names)?.check(&request.body(()).unwrap().into_parts().0)
    }

    /// ATK-01: scheme, host and port are equal to an allowed origin, or the request is refused.
    #[test]
    fn atk_01_origin_variants() {
        for own in ["http://127.0.0.1:4870", "http://localhost:4870", "https://loom.example"] {
            assert!(decide(&[own]).unwrap().cors.is_none(), "{own}");
        }
        assert!(decide(&["https://desk.example"]).unwrap().cors.is_some());
        assert!(decide(&[]).unwrap().cors.is_none());
        for bad in [
            "null",
            "",
            "http://evil.example",
            "https://127.0.0.1:4870",
            "http://127.0.0.1",
            "http://127.0.0.1:4871",
            "http://loom.example",
            "https://loom.example.evil.example",
            "https://desk.example:443",
            "https://desk.example/",
        ] {
            assert!(decide(&[bad]).is_err(), "{bad}");
        }
        assert!(decide(&["http://127.0.0.1:4870", "http://127.0.0.1:4870"]).is_err());
    }
}
