//! Reads every pull request of a program.

use std::collections::BTreeSet;

use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use loom_domain::{Code, Error, Result};
use serde_json::Value;

use super::program::{PULLS_MAX, Program, Selection, Wish, check_graph};
use crate::github::{Patience, Reader};
use crate::pr_review;
use crate::{Cx, RunRequest, SourceRef};

const PATIENCE: Patience = Patience { concurrency: 8, reset_wait_max: None };
/// Pull requests whose parts are read side by side.
const SIDE_BY_SIDE: usize = 8;

/// One pull request with its record (`loom.pr_record/v1`); none if it could not be read.
pub(super) struct Read {
    pub(super) wish: Wish,
    pub(super) record: Option<Value>,
}

/// Everything that was read.
pub(super) struct Observed {
    pub(super) pulls: Vec<Read>,
    /// Whether every selection was read to its end.
    pub(super) complete: bool,
    pub(super) sources: Vec<SourceRef>,
}

/// Reads the program. A pull request that is not there is unknown; limits and refused credentials end the reading.
pub(super) async fn observe(cx: &Cx, program: &Program, request: &RunRequest) -> Result<Observed> {
    let reader = Reader::open(cx, PATIENCE).await?;
    let listed = stream::iter(program.pulls.iter().cloned())
        .map(|wish| read(&reader, wish))
        .buffered(SIDE_BY_SIDE)
        .try_collect::<Vec<Read>>();
    let mut pulls = listed.await?;
    let mut known: BTreeSet<String> = pulls.iter().map(|one| one.wish.key()).collect();
    let mut complete = true;
    for selection in &program.selections {
        let (records, is_whole) =
            pr_review::find(cx, &selection.repo, &selection.filter, selection.limit, request).await?;
        complete &= is_whole;
        for record in records {
            let wish = selected(selection, &record)?;
            if known.insert(wish.key()) {
                pulls.push(Read { wish, record: Some(record) });
            }
        }
    }
    if pulls.len() > PULLS_MAX {
        return Err(Error::new(
            Code::InvalidInput,
            format!("a program has at most {PULLS_MAX} pull requests"),
        )
        .with_detail("pointer", "/program/select"));
    }
    let wishes: Vec<Wish> = pulls.iter().map(|one| one.wish.clone()).collect();
    check_graph(&wishes, !complete)?;
    let source = |name: &String| {
        let host = pulls.first().map(|one| one.wish.repo.host.clone()).unwrap_or_default();
        SourceRef::new("github_repository", format!("{host}/{name}"), None, cx.now())
    };
    let sources = program.repos().iter().map(source).collect();
    Ok(Observed { pulls, complete, sources })
}

async fn read(reader: &Reader<'_>, wish: Wish) -> Result<Read> {
    match pr_review::read_one(reader, &wish.repo, wish.number).await {
        Ok(record) => Ok(Read { wish, record: Some(record) }),
        Err(error) if ends_the_run(&error) => Err(error),
        Err(_) => Ok(Read { wish, record: None }),
    }
}

/// What will not be better for the next pull request either.
fn ends_the_run(error: &Error) -> bool {
    matches!(
        error.code,
        Code::ProviderRateLimited
            | Code::ProviderAuthError
            | Code::ProviderNetworkError
            | Code::EgressDenied
            | Code::Cancelled
            | Code::DeadlineExceeded
    )
}

fn selected(selection: &Selection, record: &Value) -> Result<Wish> {
    let number = record["number"].as_u64().ok_or_else(|| Error::internal("a record without a number"))?;
    Ok(Wish {
        name: format!("{}#{number}", selection.repo.full_name()),
        repo: selection.repo.clone(),
        number,
        priority: selection.priority.clone(),
        depends_on: selection.depends_on.clone(),
        require: selection.require,
        requirements: selection.requirements.clone(),
    })
}
