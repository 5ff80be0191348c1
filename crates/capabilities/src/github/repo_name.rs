//! Names of repositories: `OWNER/REPO`, or the address of its page.

use loom_domain::Result;

use super::url::{broken, check_authority, check_characters, check_repo};

/// A repository of one site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RepoName {
    /// Host of the site.
    pub(crate) host: String,
    /// Owner.
    pub(crate) owner: String,
    /// Repository.
    pub(crate) repo: String,
}

impl RepoName {
    /// Reads `OWNER/REPO` or `https://SITE/OWNER/REPO` and nothing else.
    pub(crate) fn parse(text: &str, site: &str) -> Result<Self> {
        check_characters(text)?;
        let path = match text.split_once("://") {
            None => text,
            Some(("https", rest)) => {
                let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
                check_authority(authority, site)?;
                path
            }
            Some(_) => return Err(broken("scheme", "the scheme must be https")),
        };
        let wrong = || broken("path", "expected OWNER/REPO or https://HOST/OWNER/REPO");
        let (owner, repo) = path.split_once('/').ok_or_else(wrong)?;
        if repo.contains('/') {
            return Err(wrong());
        }
        check_repo(owner, repo)?;
        Ok(RepoName { host: site.to_owned(), owner: owner.to_owned(), repo: repo.to_owned() })
    }

    /// `OWNER/REPO`.
    pub(crate) fn full_name(&self) -> String {
        format!("{}/{}", self.owner, self.repo)
    }

    /// `OWNER/REPO` in lower case, as grants spell it.
    pub(crate) fn key(&self) -> String {
        self.full_name().to_ascii_lowercase()
    }

    /// `HOST/OWNER/REPO`.
    pub(crate) fn name(&self) -> String {
        format!("{}/{}/{}", self.host, self.owner, self.repo)
    }

    /// Its page.
    pub(crate) fn url(&self) -> String {
        format!("https://{}", self.name())
    }

    /// Its path in the REST API.
    pub(crate) fn api_path(&self) -> String {
        format!("/repos/{}/{}", self.owner, self.repo)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_spellings_mean_the_same_and_others_are_refused() {
        let name = RepoName::parse("acme/tool", "github.com").unwrap();
        assert_eq!(RepoName::parse("https://github.com/acme/tool", "github.com").unwrap(), name);
        assert_eq!((name.name(), name.key()), ("github.com/acme/tool".into(), "acme/tool".into()));
        for (text, rule) in [
            ("tool", "path"),
            ("acme/tool/pulls", "path"),
            ("http://github.com/acme/tool", "scheme"),
            ("https://evil.example/acme/tool", "host"),
            ("https://u@github.com/acme/tool", "userinfo"),
            ("https://github.com/acme/tool/", "path"),
            ("acme/..", "repo"),
            ("-acme/tool", "owner"),
            ("acme/tool?x=1", "query"),
            ("acme/%2e", "encoding"),
        ] {
            let error = RepoName::parse(text, "github.com").unwrap_err();
            assert_eq!(error.detail["rule"], rule, "{text}");
        }
    }
}
