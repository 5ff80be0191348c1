//! `pr_program`: pull requests of many repositories as one undertaking, with dependencies and requirements. It only
//! reads.

mod evaluate;
mod input;
mod observe;
mod output;
mod program;
mod snapshot;
mod watch;

pub(crate) use program::Raw as Written;

use async_trait::async_trait;
use loom_domain::{Error, Result};

use crate::github::{self, Allowed};
use crate::{
    Capability, CatalogEntry, Cx, Operation, RunOutcome, RunPlan, RunRequest, Sink, Verdict, read_input,
};
use evaluate::ProgramState;
use input::ObserveInput;
use program::Program;

/// The capability.
#[derive(Debug)]
pub struct PrProgram {
    entry: CatalogEntry,
    allowed: Allowed,
}

impl PrProgram {
    /// Makes it.
    pub fn new() -> Self {
        let observe = Operation::list::<ObserveInput, output::Item>("observe", "loom.pr_program_record/v1")
            .about("Tell how far the pull requests of a program are; with --watch, until it is done")
            .with_fields::<output::ProgramFields>()
            .paged()
            .resource("repo")
            .rate_scope("github");
        let entry =
            github::capability("pr_program", "Programs of pull requests").operation(observe).examples(
                "capability run pr_program --program release.yaml --watch",
                "capability run pr_program --pr owner/repo#12 --pr owner/other#7",
            );
        PrProgram { entry, allowed: Allowed::default() }
    }

    /// Takes these repositories only, `OWNER/REPO` or `OWNER/*`, whoever asks.
    pub fn limited_to(mut self, repos: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.allowed = Allowed::only(repos);
        self
    }

    fn order(&self, request: &RunRequest) -> Result<(ObserveInput, Program)> {
        let input: ObserveInput = read_input(request)?;
        let program = Program::of(&input, &github::site(request.settings.api_url.as_deref()))?;
        program.repo_names().try_for_each(|repo| self.allowed.check(repo))?;
        input.span()?;
        Ok((input, program))
    }
}

impl Default for PrProgram {
    fn default() -> Self {
        PrProgram::new()
    }
}

#[async_trait]
impl Capability for PrProgram {
    fn entry(&self) -> &CatalogEntry {
        &self.entry
    }

    fn plan(&self, request: &RunRequest) -> Result<RunPlan> {
        let (_, program) = self.order(request)?;
        let repos = program.repos();
        let plan = RunPlan::of(&self.entry, request)?.resource("repo", repos.join(","));
        let plan = program.pulls.iter().fold(plan, |plan, pull| {
            let path = format!("{}/pulls/{}", pull.repo.api_path(), pull.number);
            github::reads(plan, request, &path)
        });
        Ok(program.selections.iter().fold(plan, |plan, selection| {
            let path = format!("{}/pulls?sort=created&direction=asc&per_page=100", selection.repo.api_path());
            github::reads(plan, request, &path)
        }))
    }

    async fn run(&self, cx: &Cx, request: RunRequest, out: &mut dyn Sink) -> Result<RunOutcome> {
        let (input, program) = self.order(&request)?;
        match input.watch {
            true => Box::pin(watch::watch(cx, &program, &input, &request, out)).await,
            false => Box::pin(once(cx, &program, &request, out)).await,
        }
    }
}

/// One observation: a record for each pull request, and what they come to.
async fn once(cx: &Cx, program: &Program, request: &RunRequest, out: &mut dyn Sink) -> Result<RunOutcome> {
    let mut file = snapshot::SnapshotFile::open(cx, program, request)?;
    let observed = observe::observe(cx, program, request).await?;
    let assessed = evaluate::evaluate(&observed)?;
    let delta = snapshot::Snapshot::of(&assessed, observed.complete).since(file.snapshot());
    for record in output::records(&assessed, cx.now()) {
        if let crate::Flow::Stop(_) = out.item(serde_json::to_value(record).map_err(Error::internal)?) {
            break;
        }
    }
    let fields = output::fields(program, &assessed, &delta, observed.complete);
    out.fields(serde_json::to_value(fields).map_err(Error::internal)?);
    file.keep(snapshot::Snapshot::of(&assessed, observed.complete))?;
    Ok(RunOutcome {
        source_refs: observed.sources,
        verdict: verdict(assessed.state),
        ..RunOutcome::default()
    })
}

/// What a state means for whoever waits for the program.
fn verdict(state: ProgramState) -> Verdict {
    match state {
        ProgramState::Failed => Verdict::Failed,
        ProgramState::NeedsHuman => Verdict::NeedsDecision,
        ProgramState::Satisfied | ProgramState::InProgress | ProgramState::Unknown => Verdict::Met,
    }
}

#[cfg(test)]
mod tests;
