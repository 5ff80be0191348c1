//! Pages of a REST list, along the `Link` header.

use loom_domain::{Code, Error, Result};
use serde_json::Value;

use super::Github;
use crate::plan::authority;

/// How a walk over pages ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PageEnd {
    /// The last page was read.
    Complete,
    /// As many pages as allowed were read, and there are more.
    MaxPages,
}

/// Reads pages from a URL on; each is given in order.
pub(crate) async fn pages(
    github: &Github<'_>,
    first: String,
    max_pages: u32,
    mut each: impl FnMut(Vec<Value>) + Send,
) -> Result<PageEnd> {
    let mut url = first;
    for page in 1..=max_pages {
        let response = github.get(&url).await?;
        let next = response.header("link").and_then(next_of).map(str::to_owned);
        each(response.json()?);
        let Some(next) = next else { return Ok(PageEnd::Complete) };
        if next == url {
            return Err(Error::new(Code::ProviderProtocolError, "the next page is the same page"));
        }
        if authority(&next) != authority(&url) {
            return Err(Error::new(Code::ProviderProtocolError, "the next page is on another host"));
        }
        if page == max_pages {
            return Ok(PageEnd::MaxPages);
        }
        url = next;
    }
    Ok(PageEnd::MaxPages)
}

/// The target of `rel="next"`.
pub(super) fn next_of(link: &str) -> Option<&str> {
    link.split(',').find_map(|part| {
        let (target, parameters) = part.split_once(';')?;
        let is_next = parameters.split(';').any(|one| matches!(one.trim(), "rel=\"next\"" | "rel=next"));
        is_next.then(|| target.trim().trim_start_matches('<').trim_end_matches('>'))
    })
}

#[cfg(test)]
mod tests {
    use super::next_of;

    #[test]
    fn the_next_link_is_found() {
        let both = r#"<https://a.example/?page=1>; rel="prev", <https://a.example/?page=3>; rel="next""#;
        assert_eq!(next_of(both), Some("https://a.example/?page=3"));
        assert_eq!(next_of(r#"<https://a.example/?page=9>; rel="last""#), None);
        assert_eq!(next_of("nonsense"), None);
    }
}
