//! The one writer of a node: takes operations, commits them in groups, answers after the commit.

use std::sync::{
    Arc,
    mpsc::{Receiver, RecvTimeoutError},
};
use std::time::{Duration, Instant};

use loom_domain::{Error, Result};
use tokio::sync::{oneshot, watch};

use crate::{
    act::Act,
    audit::Head,
    engine::{EngineSend, Opener, Purpose},
    unit::{SeqBlock, Unit},
    wake::{Wake, WakeSet},
};

const REPEATS_MAX: u32 = 5;

/// Whether the store takes writes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StoreHealth {
    /// Why it does not; `None` means that it does.
    pub fault: Option<String>,
}

/// How the writer groups.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Grouping {
    /// Longest wait for company.
    pub(crate) delay: Duration,
    /// Most operations in one commit.
    pub(crate) max: usize,
}

/// One queued operation.
pub(crate) trait Job: Send {
    /// Who acts.
    fn act(&self) -> &Act;
    /// Whether its commit must be on disk before the answer.
    fn is_synced(&self) -> bool;
    /// Runs the operation; may be called again after a rollback.
    fn run(&mut self, unit: &mut Unit<'_>) -> Result<()>;
    /// Answers the caller.
    fn finish(self: Box<Self>, result: Result<()>);
}

pub(crate) struct TypedJob<T, F> {
    pub(crate) act: Act,
    pub(crate) op: F,
    pub(crate) is_synced: bool,
    pub(crate) out: Option<T>,
    pub(crate) reply: oneshot::Sender<Result<T>>,
}

impl<T: Send, F: FnMut(&mut Unit<'_>) -> Result<T> + Send> Job for TypedJob<T, F> {
    fn act(&self) -> &Act {
        &self.act
    }
    fn is_synced(&self) -> bool {
        self.is_synced
    }
    fn run(&mut self, unit: &mut Unit<'_>) -> Result<()> {
        self.out = Some((self.op)(unit)?);
        Ok(())
    }
    fn finish(self: Box<Self>, result: Result<()>) {
        let TypedJob { out, reply, .. } = *self;
        let answer = result.and_then(|()| out.ok_or_else(|| Error::internal("an operation gave no answer")));
        let _ = reply.send(answer);
    }
}

pub(crate) type BoxedJob = Box<dyn Job>;

pub(crate) struct Writer {
    pub(crate) opener: Opener,
    pub(crate) engine: Option<Box<dyn EngineSend>>,
    pub(crate) node: String,
    pub(crate) grouping: Grouping,
    pub(crate) head: Option<Head>,
    pub(crate) wake: Arc<Wake>,
    pub(crate) health: watch::Sender<StoreHealth>,
}

impl Writer {
    /// Serves operations until every sender is gone.
    pub(crate) fn run(mut self, jobs: &Receiver<BoxedJob>) {
        let mut last_group = 1;
        while let Ok(first) = jobs.recv() {
            let mut group = vec![first];
            self.gather(&mut group, jobs, last_group > 1);
            last_group = group.len();
            self.commit_group(group);
        }
    }

    /// Takes what is queued; waits for company only when the last group had some.
    fn gather(&self, group: &mut Vec<BoxedJob>, jobs: &Receiver<BoxedJob>, company: bool) {
        let deadline = Instant::now() + self.grouping.delay;
        while group.len() < self.grouping.max {
            if let Ok(job) = jobs.try_recv() {
                group.push(job);
                continue;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if !company || left.is_zero() {
                return;
            }
            match jobs.recv_timeout(left) {
                Ok(job) => group.push(job),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    fn commit_group(&mut self, mut group: Vec<BoxedJob>) {
        let mut repeats = 0;
        loop {
            match self.try_group(&mut group) {
                Ok((results, wake)) => {
                    self.wake.fire(wake);
                    self.report(None);
                    for (job, result) in group.into_iter().zip(results) {
                        job.finish(result);
                    }
                    return;
                }
                Err(error) => {
                    self.abandon();
                    repeats += 1;
                    if error.detail.get("repeat").is_some() && repeats < REPEATS_MAX {
                        continue;
                    }
                    tracing::error!(code = %error.code, "the store refused a group of {} operations: {error}", group.len());
                    self.report(Some(error.message.clone()));
                    for job in group {
                        job.finish(Err(error.clone()));
                    }
                    return;
                }
            }
        }
    }

    /// Drops the connection: after a failed write or sync nothing it holds is trusted.
    fn abandon(&mut self) {
        self.head = None;
        if let Some(mut engine) = self.engine.take() {
            engine.rollback();
        }
    }

    fn report(&self, fault: Option<String>) {
        self.health.send_if_modified(|health| {
            let changed = health.fault != fault;
            health.fault = fault;
            changed
        });
    }

    /// Runs a group as one, which costs least; when one of several operations refuses, all are run again, each in
    /// a savepoint, so that the others stand.
    fn try_group(&mut self, group: &mut [BoxedJob]) -> Result<(Vec<Result<()>>, WakeSet)> {
        let mut engine = match self.engine.take() {
            Some(engine) => engine,
            None => (self.opener)()?,
        };
        let old_head = self.head.clone();
        let mut outcome = run_group(engine.as_mut(), group, &self.node, &mut self.head, Keep::All);
        if let Ok(Ran::Refused(error)) = outcome {
            engine.rollback();
            self.head = old_head;
            outcome = match group {
                [_] => Ok(Ran::Kept(vec![Err(error)], WakeSet::default())),
                _ => run_group(engine.as_mut(), group, &self.node, &mut self.head, Keep::Each),
            };
        }
        self.engine = Some(engine);
        match outcome? {
            Ran::Kept(results, wake) => Ok((results, wake)),
            Ran::Refused(error) => Err(error),
        }
    }
}

/// What stands when an operation of a group refuses.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keep {
    /// All or nothing.
    All,
    /// Each operation by itself.
    Each,
}

/// How a group ended.
enum Ran {
    /// Committed: the result of each operation, and who is to be woken.
    Kept(Vec<Result<()>>, WakeSet),
    /// An operation refused where all or nothing was asked; the transaction is still open.
    Refused(Error),
}

fn run_group(
    engine: &mut dyn EngineSend,
    group: &mut [BoxedJob],
    node: &str,
    head: &mut Option<Head>,
    keep: Keep,
) -> Result<Ran> {
    let is_synced = group.iter().any(|job| job.is_synced());
    engine.begin(if is_synced { Purpose::Write } else { Purpose::WriteUnsynced })?;
    let mut seqs = SeqBlock::reserve(engine.as_tx())?;
    let mut wake = WakeSet::default();
    let mut results = Vec::with_capacity(group.len());
    for job in group.iter_mut() {
        let mut place = Place { node, seqs: &mut seqs, head: &mut *head, wake: &mut wake };
        let result = match keep {
            Keep::All => run_job(engine, job.as_mut(), &mut place),
            Keep::Each => run_apart(engine, job.as_mut(), &mut place)?,
        };
        match result {
            Err(error) if engine.is_fatal(&error) => return Err(error),
            Err(error) if keep == Keep::All => return Ok(Ran::Refused(error)),
            result => results.push(result),
        }
    }
    if !wake.is_empty() && engine.dialect() == crate::Dialect::Postgres {
        engine.control(&format!("NOTIFY loom_wake, '{}'", wake.bits()))?;
    }
    engine.commit()?;
    Ok(Ran::Kept(results, wake))
}

/// What the operations of a group share.
struct Place<'a> {
    node: &'a str,
    seqs: &'a mut SeqBlock,
    head: &'a mut Option<Head>,
    wake: &'a mut WakeSet,
}

fn run_job(engine: &mut dyn EngineSend, job: &mut dyn Job, place: &mut Place<'_>) -> Result<()> {
    let act = job.act().clone();
    job.run(&mut Unit {
        tx: engine.as_tx(),
        principal: act.principal.clone(),
        now: act.now,
        act: &act,
        node: place.node,
        seqs: place.seqs,
        head: place.head,
        wake: place.wake,
    })
}

/// Runs one operation in a savepoint of its own. The outer error means that the whole group is lost.
fn run_apart(engine: &mut dyn EngineSend, job: &mut dyn Job, place: &mut Place<'_>) -> Result<Result<()>> {
    engine.control("SAVEPOINT op")?;
    let (old_head, old_wake) = (place.head.clone(), *place.wake);
    let result = run_job(engine, job, place);
    match &result {
        Err(error) if engine.is_fatal(error) => return Ok(result),
        Err(_) => {
            (*place.head, *place.wake) = (old_head, old_wake);
            engine.control("ROLLBACK TO SAVEPOINT op")?;
        }
        Ok(()) => {}
    }
    engine.control("RELEASE SAVEPOINT op")?;
    Ok(result)
}
