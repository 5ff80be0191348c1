//! Programs as people write them (`loom.pr_program/v1`), checked as a whole.

use std::collections::{BTreeMap, BTreeSet};

use loom_domain::{Code, Error, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::input::ObserveInput;
use crate::github::RepoName;
use crate::pr_review::check_filter;
use crate::read_document;

/// Pull requests of one program, after selection.
pub(super) const PULLS_MAX: usize = 500;
const REPOS_MAX: usize = 100;
const SELECTIONS_MAX: usize = 100;
const REQUIREMENTS_MAX: usize = 500;
const SELECTED_MAX: u32 = 500;
/// Largest number of a pull request.
const NUMBER_MAX: u64 = 2_147_483_647;
const SCHEMA: &str = "loom.pr_program/v1";

/// A program as it is written.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Raw {
    schema_version: String,
    id: String,
    #[serde(default)]
    defaults: RawRequire,
    #[serde(default)]
    prs: Vec<RawPull>,
    #[serde(default)]
    select: Vec<RawSelection>,
    #[serde(default)]
    requirements: Vec<Requirement>,
}

#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RawRequire {
    checks: Option<Wanted<CheckWord>>,
    review: Option<Wanted<ReviewWord>>,
    mergeable: Option<Wanted<MergeWord>>,
    state: Option<StateWord>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RawPull {
    r#ref: String,
    priority: Option<String>,
    #[serde(default)]
    depends_on: Vec<String>,
    #[serde(default)]
    require: RawRequire,
    #[serde(default)]
    requirements: Vec<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RawSelection {
    repo: String,
    filter: Option<String>,
    #[serde(default)]
    depends_on: Vec<String>,
    limit: Option<u32>,
    priority: Option<String>,
    #[serde(default)]
    require: RawRequire,
    #[serde(default)]
    requirements: Vec<String>,
}

/// A word that is wanted, or any.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum Wanted<T> {
    This(T),
    Any(AnyWord),
}

impl<T> Wanted<T> {
    pub(super) fn is_any(&self) -> bool {
        matches!(self, Wanted::Any(_))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum AnyWord {
    Any,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum CheckWord {
    Passing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum ReviewWord {
    Approved,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum MergeWord {
    Yes,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum StateWord {
    OpenOrMerged,
    Merged,
}

/// What must hold of a pull request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) struct Require {
    pub(super) checks: Wanted<CheckWord>,
    pub(super) review: Wanted<ReviewWord>,
    pub(super) mergeable: Wanted<MergeWord>,
    pub(super) state: StateWord,
}

impl Require {
    const DEFAULT: Require = Require {
        checks: Wanted::This(CheckWord::Passing),
        review: Wanted::This(ReviewWord::Approved),
        mergeable: Wanted::This(MergeWord::Yes),
        state: StateWord::OpenOrMerged,
    };

    fn with(self, raw: &RawRequire) -> Self {
        Require {
            checks: raw.checks.unwrap_or(self.checks),
            review: raw.review.unwrap_or(self.review),
            mergeable: raw.mergeable.unwrap_or(self.mergeable),
            state: raw.state.unwrap_or(self.state),
        }
    }
}

/// What the program is for.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Requirement {
    pub(super) id: String,
    pub(super) title: String,
    #[serde(default)]
    pub(super) priority: Option<String>,
}

/// A pull request of the program.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Wish {
    /// `owner/repo#N`, as it was written.
    pub(super) name: String,
    #[serde(skip)]
    pub(super) repo: RepoName,
    pub(super) number: u64,
    pub(super) priority: String,
    /// Names in lower case.
    pub(super) depends_on: Vec<String>,
    pub(super) require: Require,
    pub(super) requirements: Vec<String>,
}

impl Wish {
    /// The name by which others refer to it.
    pub(super) fn key(&self) -> String {
        self.name.to_ascii_lowercase()
    }
}

/// Pull requests that a filter finds.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Selection {
    #[serde(skip)]
    pub(super) repo: RepoName,
    pub(super) name: String,
    pub(super) filter: String,
    pub(super) limit: u32,
    pub(super) priority: String,
    pub(super) depends_on: Vec<String>,
    pub(super) require: Require,
    pub(super) requirements: Vec<String>,
}

/// A program.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Program {
    pub(super) id: String,
    pub(super) pulls: Vec<Wish>,
    pub(super) selections: Vec<Selection>,
    pub(super) requirements: Vec<Requirement>,
}

fn refused(pointer: &str, why: String) -> Error {
    Error::new(Code::InvalidInput, why).with_detail("pointer", pointer)
}

impl Program {
    /// The program of an input, for repositories of one site.
    pub(super) fn of(input: &ObserveInput, site: &str) -> Result<Self> {
        match (&input.program, input.pr.as_slice()) {
            (Some(text), []) => Self::parse(text, site),
            (None, [_, ..]) => {
                let raw = |name: &String| RawPull {
                    r#ref: name.clone(),
                    priority: None,
                    depends_on: vec![],
                    require: RawRequire::default(),
                    requirements: vec![],
                };
                let prs = input.pr.iter().map(raw).collect();
                let schema_version = SCHEMA.to_owned();
                let id = "given".to_owned();
                let (defaults, select, requirements) = (RawRequire::default(), vec![], vec![]);
                Self::build(Raw { schema_version, id, defaults, prs, select, requirements }, site)
            }
            (Some(_), _) => Err(refused("/pr", "give a program or pull requests, not both".to_owned())),
            (None, []) => Err(refused("/program", "give a program, or pull requests with --pr".to_owned())
                .with_hint("loom capability run pr_program --pr OWNER/REPO#N")),
        }
    }

    fn parse(text: &str, site: &str) -> Result<Self> {
        let document = read_document(text)?;
        let raw: Raw = serde_json::from_value(document)
            .map_err(|error| refused("/program", format!("the program: {error}")))?;
        if raw.schema_version != SCHEMA {
            return Err(refused("/program/schema_version", format!("expected {SCHEMA}")));
        }
        Self::build(raw, site)
    }

    fn build(raw: Raw, site: &str) -> Result<Self> {
        let is_id = |id: &str| {
            (1..=48).contains(&id.len())
                && id
                    .bytes()
                    .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'_' | b'-'))
        };
        if !is_id(&raw.id) {
            return Err(refused("/program/id", "an id has 1 to 48 of a-z, 0-9, _ and -".to_owned()));
        }
        for (name, count, most) in [
            ("prs", raw.prs.len(), PULLS_MAX),
            ("select", raw.select.len(), SELECTIONS_MAX),
            ("requirements", raw.requirements.len(), REQUIREMENTS_MAX),
        ] {
            if count > most {
                return Err(refused(&format!("/program/{name}"), format!("at most {most} are taken")));
            }
        }
        let defaults = Require::DEFAULT.with(&raw.defaults);
        let pulls = raw.prs.iter().enumerate().map(|(at, pull)| wish(at, pull, defaults, site));
        let selections = raw.select.iter().enumerate().map(|(at, one)| selection(at, one, defaults, site));
        let program = Program {
            id: raw.id,
            pulls: pulls.collect::<Result<_>>()?,
            selections: selections.collect::<Result<_>>()?,
            requirements: raw.requirements,
        };
        program.check_requirements()?;
        if program.repos().len() > REPOS_MAX {
            return Err(refused("/program", format!("at most {REPOS_MAX} repositories are taken")));
        }
        check_graph(&program.pulls, !program.selections.is_empty())?;
        Ok(program)
    }

    fn check_requirements(&self) -> Result<()> {
        let mut known = BTreeSet::new();
        for one in &self.requirements {
            if !known.insert(one.id.as_str()) {
                return Err(refused("/program/requirements", format!("{} stands twice", one.id)));
            }
        }
        let used = self.pulls.iter().flat_map(|pull| &pull.requirements);
        let used = used.chain(self.selections.iter().flat_map(|one| &one.requirements));
        match used.into_iter().find(|id| !known.contains(id.as_str())) {
            None => Ok(()),
            Some(id) => {
                Err(refused("/program/requirements", format!("{id} is no requirement of this program")))
            }
        }
    }

    /// Its repositories, `owner/repo` in lower case, each once.
    pub(super) fn repos(&self) -> Vec<String> {
        let all: BTreeSet<String> = self.repo_names().map(RepoName::key).collect();
        all.into_iter().collect()
    }

    /// The repository of each pull request and selection.
    pub(super) fn repo_names(&self) -> impl Iterator<Item = &RepoName> {
        let pulls = self.pulls.iter().map(|pull| &pull.repo);
        pulls.chain(self.selections.iter().map(|selection| &selection.repo))
    }
}

/// `owner/repo#N` of one site.
fn parse_ref(text: &str, site: &str, pointer: &str) -> Result<(RepoName, u64)> {
    let wrong = || refused(pointer, format!("expected OWNER/REPO#N, not {}", shown(text)));
    let (repo, number) = text.rsplit_once('#').ok_or_else(wrong)?;
    let number = crate::github::parse_number(number, NUMBER_MAX).ok_or_else(wrong)?;
    let repo = RepoName::parse(repo, site).map_err(|error| error.with_detail("pointer", pointer))?;
    Ok((repo, number))
}

fn shown(text: &str) -> String {
    text.chars().take(80).collect()
}

fn priority(given: Option<&String>, pointer: &str) -> Result<String> {
    let word = given.map_or("P1", String::as_str);
    match word
        .strip_prefix('P')
        .is_some_and(|rest| rest.len() == 1 && rest.bytes().all(|b| b.is_ascii_digit()))
    {
        true => Ok(word.to_owned()),
        false => Err(refused(pointer, "a priority is P0 to P9".to_owned())),
    }
}

fn wish(at: usize, raw: &RawPull, defaults: Require, site: &str) -> Result<Wish> {
    let pointer = format!("/program/prs/{at}");
    let (repo, number) = parse_ref(&raw.r#ref, site, &format!("{pointer}/ref"))?;
    Ok(Wish {
        name: format!("{}#{number}", repo.full_name()),
        repo,
        number,
        priority: priority(raw.priority.as_ref(), &format!("{pointer}/priority"))?,
        depends_on: dependencies(&raw.depends_on, site, &format!("{pointer}/depends_on"))?,
        require: defaults.with(&raw.require),
        requirements: raw.requirements.clone(),
    })
}

fn selection(at: usize, raw: &RawSelection, defaults: Require, site: &str) -> Result<Selection> {
    let pointer = format!("/program/select/{at}");
    let repo = RepoName::parse(&raw.repo, site)
        .map_err(|error| error.with_detail("pointer", format!("{pointer}/repo")))?;
    let filter = raw.filter.clone().unwrap_or_default();
    check_filter(&filter).map_err(|error| error.with_detail("pointer", format!("{pointer}/filter")))?;
    let limit = raw.limit.unwrap_or(SELECTED_MAX);
    if !(1..=SELECTED_MAX).contains(&limit) {
        return Err(refused(&format!("{pointer}/limit"), format!("a limit is 1 to {SELECTED_MAX}")));
    }
    Ok(Selection {
        name: repo.key(),
        repo,
        filter,
        limit,
        priority: priority(raw.priority.as_ref(), &format!("{pointer}/priority"))?,
        depends_on: dependencies(&raw.depends_on, site, &format!("{pointer}/depends_on"))?,
        require: defaults.with(&raw.require),
        requirements: raw.requirements.clone(),
    })
}

fn dependencies(names: &[String], site: &str, pointer: &str) -> Result<Vec<String>> {
    let one = |name: &String| {
        let (repo, number) = parse_ref(name, site, pointer)?;
        Ok(format!("{}#{number}", repo.key()))
    };
    names.iter().map(one).collect()
}

/// Each once, every dependency among them, and none that waits for itself. What a selection finds may be depended on,
/// and is known only when it is read.
pub(super) fn check_graph(pulls: &[Wish], is_open_ended: bool) -> Result<()> {
    let mut known: BTreeMap<String, &Wish> = BTreeMap::new();
    for pull in pulls {
        if known.insert(pull.key(), pull).is_some() {
            return Err(refused("/program/prs", format!("{} stands twice", pull.name)));
        }
    }
    let missing = pulls.iter().flat_map(|pull| &pull.depends_on).find(|name| !known.contains_key(*name));
    if let Some(name) = missing.filter(|_| !is_open_ended) {
        return Err(refused("/program/prs", format!("{name} is depended on and is not part of the program")));
    }
    match cycle(&known) {
        None => Ok(()),
        Some(names) => {
            Err(refused("/program/prs", format!("these wait for each other: {}", names.join(" -> ")))
                .with_detail("cycle", names))
        }
    }
}

/// The names of one cycle: whoever is left when everything that waits for nothing is taken away, again and again.
fn cycle(known: &BTreeMap<String, &Wish>) -> Option<Vec<String>> {
    let mut left: BTreeMap<&str, Vec<&str>> = known
        .iter()
        .map(|(key, pull)| {
            let inside = pull.depends_on.iter().filter(|name| known.contains_key(*name));
            (key.as_str(), inside.map(String::as_str).collect())
        })
        .collect();
    loop {
        let free: Vec<&str> =
            left.iter().filter(|(_, waits)| waits.is_empty()).map(|(key, _)| *key).collect();
        if free.is_empty() {
            break;
        }
        left.retain(|key, waits| {
            waits.retain(|name| !free.contains(name));
            !free.contains(key)
        });
    }
    let first = *left.keys().next()?;
    let mut path = vec![first];
    loop {
        let next = *left.get(path.last()?)?.first()?;
        if let Some(at) = path.iter().position(|name| *name == next) {
            path.push(next);
            return Some(path.into_iter().skip(at).map(str::to_owned).collect());
        }
        path.push(next);
    }
}
