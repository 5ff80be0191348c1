//! Addresses of issues, pull requests and discussions: one spelling, nothing else.

use loom_domain::{Code, Error, Result};
use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};

const OWNER_CHARS_MAX: usize = 39;
const REPO_CHARS_MAX: usize = 100;
const COMMENT_DIGITS_MAX: usize = 19;
const NUMBER_MAX: u64 = 2_147_483_647;

/// What a number counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An issue.
    Issue,
    /// A pull request.
    Pull,
    /// A discussion.
    Discussion,
}

impl Kind {
    const ALL: [Kind; 3] = [Kind::Issue, Kind::Pull, Kind::Discussion];

    /// The word in the path.
    pub(crate) const fn segment(self) -> &'static str {
        match self {
            Kind::Issue => "issues",
            Kind::Pull => "pull",
            Kind::Discussion => "discussions",
        }
    }

    /// The word in results.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Kind::Issue => "issue",
            Kind::Pull => "pull",
            Kind::Discussion => "discussion",
        }
    }

    /// The kind of a source reference.
    pub(crate) const fn source_kind(self) -> &'static str {
        match self {
            Kind::Issue => "github_issue",
            Kind::Pull => "github_pull",
            Kind::Discussion => "github_discussion",
        }
    }
}

/// The address of one of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IssueUrl {
    /// Host of the site.
    pub(crate) host: String,
    /// Owner.
    pub(crate) owner: String,
    /// Repository.
    pub(crate) repo: String,
    /// Kind.
    pub(crate) kind: Kind,
    /// Number.
    pub(crate) number: u64,
}

impl Serialize for IssueUrl {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_struct("Ref", 5)?;
        out.serialize_field("owner", &self.owner)?;
        out.serialize_field("repo", &self.repo)?;
        out.serialize_field("kind", self.kind.word())?;
        out.serialize_field("number", &self.number)?;
        out.serialize_field("url", &self.url())?;
        out.end()
    }
}

impl IssueUrl {
    /// Reads `https://SITE/OWNER/REPO/KIND/N` and nothing else.
    pub(crate) fn parse(text: &str, site: &str) -> Result<Self> {
        let rest =
            text.strip_prefix("https://").ok_or_else(|| broken("scheme", "the scheme must be https"))?;
        check_characters(text)?;
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        check_authority(authority, site)?;
        let wrong = || broken("path", "the path must be /OWNER/REPO/issues|pull|discussions/NUMBER");
        let [owner, repo, kind, number] =
            path.split('/').collect::<Vec<_>>().try_into().map_err(|_| wrong())?;
        let kind = Kind::ALL.into_iter().find(|one| one.segment() == kind).ok_or_else(wrong)?;
        check_repo(owner, repo)?;
        let number = parse_number(number, NUMBER_MAX).ok_or_else(|| {
            broken("number", "the number must be 1 to 2147483647, without sign or zeros before it")
        })?;
        Ok(IssueUrl { host: site.to_owned(), owner: owner.to_owned(), repo: repo.to_owned(), kind, number })
    }

    /// The address itself.
    pub(crate) fn url(&self) -> String {
        let (host, owner, repo) = (&self.host, &self.owner, &self.repo);
        format!("https://{host}/{owner}/{repo}/{}/{}", self.kind.segment(), self.number)
    }

    /// The path of an issue or pull request in the REST API.
    pub(crate) fn api_path(&self) -> String {
        format!("/repos/{}/{}/issues/{}", self.owner, self.repo, self.number)
    }

    /// `HOST/OWNER/REPO#N`.
    pub(crate) fn name(&self) -> String {
        format!("{}/{}/{}#{}", self.host, self.owner, self.repo, self.number)
    }

    /// `OWNER/REPO` in lower case, as grants spell it.
    pub(crate) fn repo_key(&self) -> String {
        format!("{}/{}", self.owner, self.repo).to_ascii_lowercase()
    }
}

/// The address of a comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Comment {
    /// The issue or pull request that it stands below.
    pub(crate) issue: IssueUrl,
    /// Its id.
    pub(crate) id: u64,
}

impl Comment {
    /// Reads the address of an issue or pull request and `#issuecomment-ID`.
    pub(crate) fn parse(text: &str, site: &str) -> Result<Self> {
        let wrong = || broken("fragment", "the URL must end with #issuecomment-ID");
        let (issue, id) = text.split_once("#issuecomment-").ok_or_else(wrong)?;
        let id = parse_number(id, u64::MAX).filter(|_| id.len() <= COMMENT_DIGITS_MAX).ok_or_else(wrong)?;
        Ok(Comment { issue: IssueUrl::parse(issue, site)?, id })
    }
}

/// Host of the public site.
pub(super) const SITE: &str = "github.com";
/// End of the base URL of an enterprise server.
const ENTERPRISE_PATH: &str = "/api/v3";

/// Host of the site whose API has this base URL. A base on this machine stands in for the public site, unless it is
/// that of an enterprise server.
pub(crate) fn site(api_url: Option<&str>) -> String {
    let base = api_url.and_then(|base| ::url::Url::parse(base).ok());
    let own = base.filter(|base| !is_public(base)).and_then(|base| base.host_str().map(str::to_owned));
    own.unwrap_or_else(|| SITE.to_owned())
}

fn is_public(base: &::url::Url) -> bool {
    let here = match base.host() {
        Some(::url::Host::Domain(name)) => name == "localhost",
        Some(::url::Host::Ipv4(address)) => address.is_loopback(),
        Some(::url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    base.host_str() == Some("api.github.com")
        || (here && !base.path().trim_end_matches('/').ends_with(ENTERPRISE_PATH))
}

/// A whole number without sign, leading zeros or other spellings.
pub(crate) fn parse_number(text: &str, most: u64) -> Option<u64> {
    let plain = text.bytes().all(|b| b.is_ascii_digit()) && !text.starts_with('0') && !text.is_empty();
    text.parse().ok().filter(|number| plain && *number <= most)
}

pub(super) fn check_characters(text: &str) -> Result<()> {
    for (character, rule) in [('?', "query"), ('#', "fragment"), ('%', "encoding"), ('\\', "encoding")] {
        if text.contains(character) {
            return Err(broken(rule, &format!("`{character}` may not stand in the URL")));
        }
    }
    if text.chars().any(|c| c.is_whitespace() || c.is_control() || !c.is_ascii()) {
        return Err(broken("encoding", "the URL may hold visible ASCII only"));
    }
    Ok(())
}

pub(super) fn check_authority(authority: &str, site: &str) -> Result<()> {
    if authority.contains('@') {
        return Err(broken("userinfo", "user-info may not stand in the URL"));
    }
    let (host, port) = authority.split_once(':').map_or((authority, None), |(host, port)| (host, Some(port)));
    if host != site {
        return Err(broken("host", &format!("the host must be {site}")));
    }
    if port.is_some() {
        return Err(broken("port", "a port may not stand in the URL"));
    }
    Ok(())
}

pub(super) fn check_repo(owner: &str, repo: &str) -> Result<()> {
    let word = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
    let good_owner = (1..=OWNER_CHARS_MAX).contains(&owner.len())
        && owner.bytes().all(word)
        && !owner.starts_with('-')
        && !owner.ends_with('-');
    if !good_owner {
        return Err(broken("owner", "the owner is not a GitHub name"));
    }
    let is_clone_url = repo.to_ascii_lowercase().strip_suffix(".git").is_some();
    let good_repo = (1..=REPO_CHARS_MAX).contains(&repo.len())
        && repo.bytes().all(|b| word(b) || b == b'.')
        && repo != "."
        && repo != ".."
        && !is_clone_url;
    if good_repo { Ok(()) } else { Err(broken("repo", "the repository is not a GitHub name")) }
}

/// An `invalid_url` that names the broken rule.
pub(crate) fn broken(rule: &str, why: &str) -> Error {
    Error::new(Code::InvalidUrl, why).with_detail("rule", rule)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(text: &str) -> String {
        match IssueUrl::parse(text, "github.com") {
            Ok(url) => format!("accepted {url:?}"),
            Err(error) => {
                assert_eq!(error.code, Code::InvalidUrl);
                error.detail["rule"].as_str().unwrap().to_owned()
            }
        }
    }

    /// CAP-086: an enterprise server is its own site; a base on this machine stands in for the public one.
    #[test]
    fn cap_086_each_base_has_its_site() {
        for (base, expected) in [
            (None, "github.com"),
            (Some("https://api.github.com"), "github.com"),
            (Some("https://git.example.com/api/v3"), "git.example.com"),
            (Some("http://127.0.0.1:8080"), "github.com"),
            (Some("http://[::1]:8080/"), "github.com"),
            (Some("http://127.0.0.1:8080/api/v3"), "127.0.0.1"),
            (Some("https://10.0.0.1"), "10.0.0.1"),
        ] {
            assert_eq!(site(base), expected, "{base:?}");
        }
    }

    /// CAP-075: every other spelling of an address is refused, with the rule it breaks.
    #[test]
    fn cap_075_each_broken_rule_is_named() {
        let good = "https://github.com/owner/repo/issues/123";
        assert_eq!(IssueUrl::parse(good, "github.com").unwrap().url(), good);
        for (text, expected) in [
            ("http://github.com/o/r/issues/1", "scheme"),
            ("HTTPS://github.com/o/r/issues/1", "scheme"),
            ("github.com/o/r/issues/1", "scheme"),
            ("https://user@github.com/o/r/issues/1", "userinfo"),
            ("https://user:x@github.com/o/r/issues/1", "userinfo"),
            ("https://github.com:443/o/r/issues/1", "port"),
            ("https://github.com:/o/r/issues/1", "port"),
            ("https://github.com/o/r/issues/1?x=1", "query"),
            ("https://github.com/o/r/issues/1#issuecomment-1", "fragment"),
            ("https://github.com/o/%2e%2e/issues/1", "encoding"),
            ("https://github.com/o\\r/issues/1", "encoding"),
            ("https://github.com/o/r/issues/1 ", "encoding"),
            ("https://github.com/o/r/issues/ 1", "encoding"),
            ("https://github.com/o/r/issues/\u{661}", "encoding"),
            ("https://evil.example/o/r/issues/1", "host"),
            ("https://github.com.evil.example/o/r/issues/1", "host"),
            ("https://GitHub.com/o/r/issues/1", "host"),
            ("https://github.com/o/r/issues/1/", "path"),
            ("https://github.com//o/r/issues/1", "path"),
            ("https://github.com/o/r/pulls/1", "path"),
            ("https://github.com/o/r/issues", "path"),
            ("https://github.com", "path"),
            ("https://github.com/o/../issues/1", "repo"),
            ("https://github.com/o/r.git/issues/1", "repo"),
            ("https://github.com/-o/r/issues/1", "owner"),
            ("https://github.com/o.o/r/issues/1", "owner"),
            ("https://github.com/o/r/issues/0", "number"),
            ("https://github.com/o/r/issues/01", "number"),
            ("https://github.com/o/r/issues/+5", "number"),
            ("https://github.com/o/r/issues/1_0", "number"),
            ("https://github.com/o/r/issues/2147483648", "number"),
            ("https://github.com/o/r/issues/", "number"),
        ] {
            assert_eq!(rule(text), expected, "{text}");
        }
    }

    #[test]
    fn the_site_follows_the_base_url() {
        assert_eq!(site(None), "github.com");
        assert_eq!(site(Some("https://api.github.com")), "github.com");
        assert_eq!(site(Some("https://git.example/api/v3")), "git.example");
    }
}
