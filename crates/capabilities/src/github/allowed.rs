//! Which repositories the owner lets be read, whoever asks.

use loom_domain::{Code, Error, Result};

use super::RepoName;

/// Longest list.
const ENTRIES_MAX: usize = 1_000;
/// What stands behind an owner for every repository of theirs.
const EVERY: &str = "/*";

/// All repositories, or those of a list.
#[derive(Debug, Clone, Default)]
pub(crate) struct Allowed(Option<Vec<String>>);

impl Allowed {
    /// These alone: `OWNER/REPO` or `OWNER/*`.
    pub(crate) fn only(repos: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Allowed(Some(repos.into_iter().map(|repo| repo.into().to_ascii_lowercase()).collect()))
    }

    /// Refuses a repository that is not on the list.
    pub(crate) fn check(&self, repo: &RepoName) -> Result<()> {
        let key = repo.key();
        let of_owner = format!("{}{EVERY}", repo.owner.to_ascii_lowercase());
        let is_allowed =
            self.0.as_ref().is_none_or(|allowed| allowed.iter().any(|one| *one == key || *one == of_owner));
        if is_allowed {
            return Ok(());
        }
        Err(Error::new(Code::EgressDenied, format!("{key} is not among the repositories that may be read"))
            .with_hint("the owner names them in capabilities.pr_review.repos of loom.toml")
            .with_detail("reason", "resource_not_allowed")
            .with_detail("repo", key))
    }
}

/// Refuses a list with what can be no repository, and one that is too long.
pub fn check_repos(repos: &[String]) -> Result<()> {
    if repos.len() > ENTRIES_MAX {
        return Err(Error::new(Code::TooMany, format!("at most {ENTRIES_MAX} repositories")));
    }
    repos.iter().try_for_each(|entry| {
        let whole = entry.strip_suffix(EVERY).map_or_else(|| entry.clone(), |owner| format!("{owner}/any"));
        let is_name = !entry.contains("://") && RepoName::parse(&whole, "").is_ok();
        let wrong =
            || Error::new(Code::InvalidInput, format!("expected OWNER/REPO or OWNER/*, not {entry:?}"));
        is_name.then_some(()).ok_or_else(wrong)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_repositories_and_owners_are_entries() {
        let check = |entry: &str| check_repos(&[entry.to_owned()]).is_ok();
        for entry in ["acme/tool", "Acme/Tool.js", "acme/*"] {
            assert!(check(entry), "{entry}");
        }
        for entry in
            ["", "acme", "*", "*/*", "acme/to*", "acme/tool/x", "https://github.com/acme/tool", "../*"]
        {
            assert!(!check(entry), "{entry}");
        }
        assert_eq!(check_repos(&vec!["a/b".to_owned(); ENTRIES_MAX + 1]).unwrap_err().code, Code::TooMany);
    }
}
