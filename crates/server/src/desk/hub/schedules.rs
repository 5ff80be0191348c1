//! Schedules of a hub.

use async_trait::async_trait;
use loom_api::{Mutation, Page, request, view};
use loom_domain::schedule::{Kind, Schedule};
use loom_domain::{Error, Principal};

use super::HubDesk;
use crate::desk::{Intent, Schedules};

#[async_trait]
impl Schedules for HubDesk {
    async fn schedules(&self, _: Principal, kind: Kind) -> Result<Page<view::ScheduleEntry>, Error> {
        self.hub.schedule_entries(kind).await
    }
    async fn add_schedule(
        &self,
        intent: Intent,
        kind: Kind,
        request: request::AddSchedule,
    ) -> Result<Mutation<Schedule>, Error> {
        Box::pin(self.hub.add_schedule(intent.principal, kind, request, intent.dry_run)).await
    }
    async fn schedule(&self, _: Principal, kind: Kind, name: String) -> Result<view::ScheduleEntry, Error> {
        self.hub.schedule_entry(kind, name).await
    }
    async fn switch_schedule(
        &self,
        intent: Intent,
        kind: Kind,
        name: String,
        enabled: bool,
    ) -> Result<Mutation<Schedule>, Error> {
        let (act, dry_run) = self.meant(intent);
        self.hub.store().switch_schedule(act, (kind, name), enabled, dry_run).await
    }
    async fn remove_schedule(
        &self,
        intent: Intent,
        kind: Kind,
        name: String,
    ) -> Result<Mutation<Schedule>, Error> {
        let (act, dry_run) = self.meant(intent);
        self.hub.store().remove_schedule(act, (kind, name), dry_run).await
    }
}
