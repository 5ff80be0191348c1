//! Which scope a request counts against, and the pace of that scope (capabilities specification, 2.4).

use std::time::Duration;

use http::Method;

use crate::egress::Target;

/// Scope of all SEC hosts together.
pub const SCOPE_SEC: &str = "sec";
/// Scope of GitHub's APIs.
pub const SCOPE_GITHUB: &str = "github";
/// Scope of Lark's and Feishu's APIs.
pub const SCOPE_LARK: &str = "lark";

/// Requests of the SEC in any 1,000 ms: below its published limit of ten a second. No setting raises it.
pub(crate) const SEC_PER_SECOND: u32 = 8;
const SEC_CONCURRENCY: u32 = 4;
const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);

/// Rate, burst and concurrency of a scope.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    /// Permits per second.
    pub per_second: f64,
    /// Permits that may be taken at once after a rest.
    pub burst: u32,
    /// Requests in flight.
    pub concurrency: u32,
}

impl Rate {
    /// Any host without a scope of its own.
    pub const HOST: Rate = Rate { per_second: 10.0, burst: 20, concurrency: 8 };
    /// Loopback local origins.
    pub const LOCAL: Rate = Rate { per_second: 500.0, burst: 500, concurrency: 64 };
}

/// The rates of the known scopes. The SEC's is not among them: it is never raised.
#[derive(Debug, Clone, PartialEq)]
pub struct Rates {
    /// Any host without a scope of its own.
    pub host: Rate,
    /// Loopback local origins, whatever their scope; not the SEC's.
    pub local: Rate,
    /// REST requests to GitHub per second.
    pub github_rest: u32,
    /// GraphQL requests to GitHub per second.
    pub github_graphql: u32,
    /// Writes to GitHub per second.
    pub github_writes: u32,
    /// Writes to GitHub per minute.
    pub github_writes_per_minute: u32,
    /// Requests to GitHub in flight, 1 to 32.
    pub github_concurrency: u32,
    /// Requests of GitHub's own limit that are left for others, 0 to 1,000.
    pub github_reserve: u32,
    /// Requests to one endpoint of Lark per second.
    pub lark_endpoint: u32,
    /// Requests to one endpoint of Lark per minute.
    pub lark_endpoint_per_minute: u32,
    /// Requests to one chat of Lark per second.
    pub lark_chat: u32,
    /// Requests to Lark in flight.
    pub lark_concurrency: u32,
}

impl Default for Rates {
    fn default() -> Self {
        Rates {
            host: Rate::HOST,
            local: Rate::LOCAL,
            github_rest: 12,
            github_graphql: 4,
            github_writes: 1,
            github_writes_per_minute: 60,
            github_concurrency: 8,
            github_reserve: 50,
            lark_endpoint: 50,
            lark_endpoint_per_minute: 1_000,
            lark_chat: 5,
            lark_concurrency: 8,
        }
    }
}

/// The scopes with rules of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Profile {
    Host,
    Sec,
    Github,
    Lark,
}

impl Profile {
    /// The profile of a scope that was named, else that of the host.
    pub(crate) fn of(scope: Option<&str>, target: &Target) -> Self {
        match scope {
            Some(SCOPE_SEC) => Profile::Sec,
            _ if target.host == "sec.gov" || target.host.ends_with(".sec.gov") => Profile::Sec,
            Some(SCOPE_GITHUB) => Profile::Github,
            Some(SCOPE_LARK) => Profile::Lark,
            Some(_) => Profile::Host,
            None => match target.host.as_str() {
                "api.github.com" | "uploads.github.com" => Profile::Github,
                "open.larksuite.com" | "open.feishu.cn" => Profile::Lark,
                _ => Profile::Host,
            },
        }
    }

    /// The name of the scope, where the profile has one.
    pub(crate) const fn scope(self) -> Option<&'static str> {
        match self {
            Profile::Host => None,
            Profile::Sec => Some(SCOPE_SEC),
            Profile::Github => Some(SCOPE_GITHUB),
            Profile::Lark => Some(SCOPE_LARK),
        }
    }
}

/// At most so many permits in any span of that length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) name: String,
    pub(crate) most: u32,
    pub(crate) within: Duration,
}

/// Everything a permit has to satisfy.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Pace {
    pub(crate) bucket: Option<Rate>,
    pub(crate) windows: Vec<Window>,
    pub(crate) concurrency: u32,
    /// Which of the provider's own limits the request counts against.
    pub(crate) resource: &'static str,
}

impl Pace {
    pub(crate) fn of_rate(rate: Rate) -> Self {
        Pace { bucket: Some(rate), windows: Vec::new(), concurrency: rate.concurrency, resource: "core" }
    }
}

/// What a request is, as far as its pace is concerned.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) method: &'a Method,
    pub(crate) path: &'a str,
    /// A visible write, also over GraphQL.
    pub(crate) publishes: bool,
    pub(crate) chat: Option<&'a str>,
    /// What the caller set for its own scope.
    pub(crate) rate: Option<Rate>,
}

/// The pace of a request.
pub(crate) fn pace(profile: Profile, rates: &Rates, local: bool, asked: Asked<'_>) -> Pace {
    let usual = if local { rates.local } else { rates.host };
    let mut pace = match profile {
        Profile::Sec => {
            // The limiter keeps the window itself, for all processes.
            return Pace {
                bucket: None,
                windows: Vec::new(),
                concurrency: SEC_CONCURRENCY,
                resource: "core",
            };
        }
        Profile::Host => Pace::of_rate(asked.rate.unwrap_or(usual)),
        Profile::Github if local => Pace { concurrency: rates.github_concurrency, ..Pace::of_rate(usual) },
        Profile::Lark if local => Pace { concurrency: rates.lark_concurrency, ..Pace::of_rate(usual) },
        Profile::Github => {
            let windows = github(rates, asked);
            Pace { bucket: None, windows, concurrency: rates.github_concurrency, resource: "core" }
        }
        Profile::Lark => {
            let windows = lark(rates, asked);
            Pace { bucket: None, windows, concurrency: rates.lark_concurrency, resource: "core" }
        }
    };
    if profile == Profile::Github {
        pace.resource = resource(asked.path);
    }
    pace
}

/// GitHub counts its limits per resource and names it in `x-ratelimit-resource`.
fn resource(path: &str) -> &'static str {
    // Enterprise servers have the same API below a folder.
    let path = path.strip_prefix("/api/v3").unwrap_or(path);
    match path {
        _ if path.ends_with("/graphql") => "graphql",
        "/search/code" => "code_search",
        _ if path.starts_with("/search/") => "search",
        _ => "core",
    }
}

fn github(rates: &Rates, asked: Asked<'_>) -> Vec<Window> {
    let graphql = resource(asked.path) == "graphql";
    let reads = [Method::GET, Method::HEAD, Method::OPTIONS].contains(asked.method);
    let mut windows = if graphql {
        vec![window("graphql", rates.github_graphql, SECOND)]
    } else {
        vec![window("rest", rates.github_rest, SECOND)]
    };
    if asked.publishes || !(reads || graphql) {
        windows.push(window("writes", rates.github_writes, SECOND));
        windows.push(window("writes of a minute", rates.github_writes_per_minute, MINUTE));
    }
    windows
}

fn lark(rates: &Rates, asked: Asked<'_>) -> Vec<Window> {
    let endpoint = endpoint(asked.path);
    let mut windows = vec![
        window(&format!("endpoint {endpoint}"), rates.lark_endpoint, SECOND),
        window(&format!("minute {endpoint}"), rates.lark_endpoint_per_minute, MINUTE),
    ];
    if let Some(chat) = asked.chat {
        windows.push(window(&format!("chat {chat}"), rates.lark_chat, SECOND));
    }
    windows
}

/// A path without the ids in it, so that one endpoint is one window.
fn endpoint(path: &str) -> String {
    let is_id = |segment: &str| segment.bytes().any(|byte| byte.is_ascii_digit()) && segment.len() > 3;
    path.split('/').map(|segment| if is_id(segment) { "*" } else { segment }).collect::<Vec<_>>().join("/")
}

fn window(name: &str, most: u32, within: Duration) -> Window {
    Window { name: name.to_owned(), most: most.max(1), within }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(host: &str) -> Target {
        Target { host: host.to_owned(), port: 443, tls: true, literal: None, local: false }
    }

    fn asked<'a>(method: &'a Method, path: &'a str) -> Asked<'a> {
        Asked { method, path, publishes: false, chat: None, rate: Some(Rate::LOCAL) }
    }

    fn windows(profile: Profile, local: bool, asked: Asked<'_>) -> Vec<(u32, u64)> {
        let pace = pace(profile, &Rates::default(), local, asked);
        pace.windows.iter().map(|w| (w.most, w.within.as_secs())).collect()
    }

    #[test]
    fn hosts_and_names_find_their_profile() {
        for (scope, host, profile) in [
            (None, "www.sec.gov", Profile::Sec),
            (None, "data.sec.gov", Profile::Sec),
            (Some("mine"), "efts.sec.gov", Profile::Sec),
            (Some("sec"), "127.0.0.1", Profile::Sec),
            (None, "notsec.gov", Profile::Host),
            (None, "sec.gov.example", Profile::Host),
            (None, "api.github.com", Profile::Github),
            (Some("github"), "ghe.example", Profile::Github),
            (None, "open.feishu.cn", Profile::Lark),
            (Some("lark"), "localhost", Profile::Lark),
            (Some("mine"), "api.github.com", Profile::Host),
        ] {
            assert_eq!(Profile::of(scope, &target(host)), profile, "{scope:?} {host}");
        }
    }

    #[test]
    fn github_has_windows_for_rest_graphql_and_writes() {
        let of = |method, path| windows(Profile::Github, false, asked(&method, path));
        assert_eq!(of(Method::GET, "/repos/a/b"), [(12, 1)]);
        assert_eq!(of(Method::POST, "/graphql"), [(4, 1)]);
        assert_eq!(of(Method::POST, "/repos/a/b/issues"), [(12, 1), (1, 1), (60, 60)]);
        let mutation = Asked { publishes: true, ..asked(&Method::POST, "/api/graphql") };
        assert_eq!(windows(Profile::Github, false, mutation), [(4, 1), (1, 1), (60, 60)]);
        assert_eq!(windows(Profile::Github, true, asked(&Method::POST, "/x")), []);
        assert_eq!((resource("/search/issues"), resource("/api/v3/search/code")), ("search", "code_search"));
    }

    #[test]
    fn lark_has_windows_for_endpoint_and_chat() {
        let chat =
            Asked { chat: Some("oc_1"), ..asked(&Method::POST, "/open-apis/im/v1/messages/om_123456/reply") };
        assert_eq!(windows(Profile::Lark, false, chat), [(50, 1), (1_000, 60), (5, 1)]);
        assert_eq!(endpoint(chat.path), "/open-apis/im/v1/messages/*/reply");
    }
}
