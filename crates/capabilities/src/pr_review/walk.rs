//! The list of pull requests, page by page over the repositories, and where a later run goes on.

use loom_domain::{Code, Error, Result};
use serde::{Deserialize, Serialize};

use super::pull::{self, Pull};
use crate::Cursor;
use crate::github::{Reader, RepoName, Sheet};

/// Pages of one repository.
const PAGES_MAX: u32 = 10_000;

/// Behind which pull request a run goes on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Place {
    /// Repository, counted from 0.
    #[serde(rename = "r")]
    pub(super) repo: usize,
    /// Page on which it stood.
    #[serde(rename = "p")]
    pub(super) page: u32,
    /// When it was opened.
    #[serde(rename = "c")]
    pub(super) created_at: String,
    /// Its number.
    #[serde(rename = "n")]
    pub(super) number: u64,
}

impl Place {
    /// Reads the position of a cursor.
    pub(super) fn of(cursor: Option<&Cursor>) -> Result<Self> {
        let Some(cursor) = cursor else { return Ok(Place::default()) };
        Place::deserialize(&cursor.position).map_err(|_| {
            Error::new(Code::InvalidInput, "the cursor has no place in this list")
                .with_detail("pointer", "/cursor")
        })
    }

    /// The cursor that goes on behind it.
    pub(super) fn cursor(&self) -> Result<Cursor> {
        Ok(Cursor::at(serde_json::to_value(self).map_err(Error::internal)?))
    }

    /// Lists are oldest first; numbers tell those of one moment apart.
    fn is_before(&self, pull: &Pull) -> bool {
        (self.created_at.as_str(), self.number) < (pull.created_at.as_str(), pull.number)
    }
}

/// A pull request with its place.
#[derive(Debug)]
pub(super) struct Listed {
    pub(super) place: Place,
    pub(super) pull: Pull,
}

/// What the next page holds.
pub(super) enum Page {
    /// Pull requests, perhaps none.
    Pulls(Vec<Listed>),
    /// As many pages as allowed were read.
    MaxPages,
    /// Every repository was read.
    End,
}

/// Walks over the lists.
pub(super) struct Walk<'a> {
    reader: &'a Reader<'a>,
    repos: &'a [RepoName],
    state: &'static str,
    pages_left: u32,
    /// Behind this one it goes on.
    last: Place,
    next: Next,
}

/// What is read next.
enum Next {
    /// The page on which the last one stood, or one before: pages move up when pull requests before them are closed.
    Found(u32),
    Url(String, u32),
}

impl<'a> Walk<'a> {
    pub(super) fn new(
        reader: &'a Reader<'a>,
        repos: &'a [RepoName],
        state: &'static str,
        max_pages: Option<u32>,
        last: Place,
    ) -> Self {
        let next = Next::Found(last.page.max(1));
        Walk { reader, repos, state, pages_left: max_pages.unwrap_or(u32::MAX), last, next }
    }

    /// Reads on; each pull request is given once.
    pub(super) async fn page(&mut self) -> Result<Page> {
        let Some(repo) = self.repos.get(self.last.repo) else { return Ok(Page::End) };
        let Some(left) = self.pages_left.checked_sub(1) else { return Ok(Page::MaxPages) };
        self.pages_left = left;
        let (url, number) = match &self.next {
            Next::Found(number) => (self.first_url(repo, *number), *number),
            Next::Url(url, number) => (url.clone(), *number),
        };
        let sheet: Sheet<Vec<Pull>> = self.reader.read(&url, pull::LISTED, pull::listed).await?;
        let begins_later = sheet.value.first().is_none_or(|first| self.last.is_before(first));
        if matches!(self.next, Next::Found(_)) && number > 1 && begins_later {
            self.next = Next::Found(number - 1);
            return Ok(Page::Pulls(Vec::new()));
        }
        let mut found = Vec::with_capacity(sheet.value.len());
        for pull in sheet.value {
            if self.last.is_before(&pull) {
                let (created_at, repo) = (pull.created_at.clone(), self.last.repo);
                self.last = Place { repo, page: number, created_at, number: pull.number };
                found.push(Listed { place: self.last.clone(), pull });
            }
        }
        match sheet.next {
            Some(url) if number < PAGES_MAX => self.next = Next::Url(url, number + 1),
            Some(_) => return Err(Error::new(Code::ProviderProtocolError, "the list does not end")),
            None => {
                self.last = Place { repo: self.last.repo + 1, ..Place::default() };
                self.next = Next::Found(1);
            }
        }
        Ok(Page::Pulls(found))
    }

    fn first_url(&self, repo: &RepoName, page: u32) -> String {
        let (path, state) = (repo.api_path(), self.state);
        let first = format!("{path}/pulls?state={state}&sort=created&direction=asc&per_page=100");
        self.reader.url(&if page > 1 { format!("{first}&page={page}") } else { first })
    }
}
