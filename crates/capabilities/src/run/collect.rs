//! The sink of a run: projects, redacts, counts, and hands on.

use loom_domain::{Code, Error};
use loom_secrets::{Profile, Redactor};
use serde_json::Value;

use super::{Observer, Started};
use crate::payload::Redaction;
use crate::projection::{Misfit, Projected};
use crate::{Cursor, CursorSeal, Cx, Flow, Notice, Operation, Projection, Sink, StopReason};

/// Everything that a run gave.
#[derive(Debug, Default)]
pub(super) struct Collected {
    pub(super) items: Vec<Value>,
    pub(super) fields: Value,
    pub(super) warnings: Vec<String>,
    pub(super) incomplete: bool,
    pub(super) redaction: Redaction,
    pub(super) checkpoint: Option<String>,
    pub(super) stopped: Option<StopReason>,
    pub(super) failure: Option<Error>,
}

/// The one sink.
pub(super) struct Collector<'a> {
    item: Option<Projection>,
    fields: Option<Projection>,
    redactor: Redactor,
    limit: u64,
    seal: Option<&'a CursorSeal>,
    observer: &'a mut dyn Observer,
    collected: Collected,
}

impl<'a> Collector<'a> {
    pub(super) fn new(
        operation: &Operation,
        cx: &Cx,
        seal: Option<&'a CursorSeal>,
        observer: &'a mut dyn Observer,
        started: &Started,
    ) -> Self {
        let projection = |schema: &Option<crate::Schema>| {
            schema.as_ref().map(|schema| Projection::to(schema.value().into_owned()))
        };
        let mut collector = Collector {
            item: projection(&operation.item),
            fields: projection(&operation.fields),
            redactor: cx.world().redactor.clone(),
            limit: cx.limits().limit.or(operation.max_items).unwrap_or(u64::MAX),
            seal,
            observer,
            collected: Collected::default(),
        };
        let flow = collector.observer.started(started);
        let _ = collector.heed(flow);
        collector
    }

    pub(super) fn done(self) -> Collected {
        self.collected
    }

    /// Takes a record of Loom's own, which no schema of the operation describes.
    pub(super) fn own_fields(&mut self, mut fields: Value) {
        self.redact(&mut fields, "/fields");
        self.collected.fields = fields;
    }

    fn redact(&mut self, value: &mut Value, at: &str) {
        let report = self.redactor.redact_json(value, Profile::Output);
        if !report.is_empty() {
            self.collected.redaction.add(&report, at);
        }
    }

    /// Notes what a projection dropped and cut; gives the declared part, redacted.
    fn admitted(&mut self, projected: Projected, at: &str) -> Value {
        let redaction = &mut self.collected.redaction;
        redaction.dropped_fields += projected.dropped;
        redaction.capped.extend(projected.capped.into_iter().map(|mut cap| {
            cap.pointer = format!("{at}{}", cap.pointer);
            cap
        }));
        let mut value = projected.value;
        self.redact(&mut value, at);
        value
    }

    fn heed(&mut self, flow: Flow) -> Flow {
        if let Flow::Stop(reason) = flow {
            self.collected.stopped.get_or_insert(reason);
        }
        flow
    }

    fn left_out(&mut self) {
        self.collected.incomplete = true;
        if !self.collected.warnings.iter().any(|warning| warning == "item_invalid") {
            self.collected.warnings.push("item_invalid".to_owned());
        }
    }
}

impl Sink for Collector<'_> {
    fn item(&mut self, item: Value) -> Flow {
        if let Some(reason) = self.collected.stopped {
            return Flow::Stop(reason);
        }
        let count = self.collected.items.len();
        match self.item.as_ref().map(|schema| schema.apply(item)) {
            Some(Ok(projected)) => {
                let item = self.admitted(projected, &format!("/items/{count}"));
                let flow = self.observer.item(&item);
                self.collected.items.push(item);
                if let stop @ Flow::Stop(_) = self.heed(flow) {
                    return stop;
                }
            }
            Some(Err(_)) | None => self.left_out(),
        }
        match self.collected.items.len() as u64 >= self.limit {
            true => self.heed(Flow::Stop(StopReason::Limit)),
            false => Flow::Continue,
        }
    }

    fn fields(&mut self, fields: Value) {
        match self.fields.as_ref().map(|schema| schema.apply(fields)) {
            Some(Ok(projected)) => self.collected.fields = self.admitted(projected, "/fields"),
            Some(Err(Misfit(pointer))) => {
                let error =
                    Error::new(Code::ProviderProtocolError, "the answer does not have the declared form");
                self.collected.failure = Some(error.with_detail("pointer", pointer));
            }
            None => self.collected.failure = Some(Error::internal("this operation declares no fields")),
        }
    }

    fn progress(&mut self, done: u64, total: Option<u64>) {
        self.observer.progress(done, total);
    }

    fn notice(&mut self, notice: Notice) {
        let message = self.redactor.redact(&notice.message, Profile::Output).into_owned();
        self.observer.notice(&Notice { message, ..notice });
    }

    fn checkpoint(&mut self, cursor: &Cursor) {
        if let Some(text) = self.seal.and_then(|seal| seal.seal(cursor).ok()) {
            self.observer.checkpoint(&text);
            self.collected.checkpoint = Some(text);
        }
    }
}
