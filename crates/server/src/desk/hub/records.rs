//! Agents, Connections, Addresses and Memberships of a hub.

use std::time::Duration;

use async_trait::async_trait;
use loom_api::{Mutation, Page, query, request, view};
use loom_domain::{
    Address, AddressId, Agent, AgentId, Connection, ConnectionId, Error, Membership, MembershipId, Principal,
};

use super::{HubDesk, INSTALLED, adapters};
use crate::desk::{Addresses, Agents, Connections, Intent, Memberships, TestEnd};

#[async_trait]
impl Agents for HubDesk {
    async fn agent_id(&self, agent: String) -> Result<AgentId, Error> {
        Ok(self.hub.store().agent_by(agent).await?.id)
    }
    async fn agents(&self, who: Principal, query: query::Agents) -> Result<Page<view::AgentEntry>, Error> {
        let mut page = self.hub.store().list_agents(query, self.hub.now()).await?;
        page.items.retain(|entry| who.sees_agent(&entry.agent.id));
        Ok(page)
    }
    async fn agent(&self, who: Principal, agent: String) -> Result<view::AgentDetail, Error> {
        let detail = self.hub.store().agent_detail(agent, self.hub.now()).await?;
        sees(&who, &detail.agent.id)?;
        Ok(detail)
    }
    async fn create_agent(
        &self,
        intent: Intent,
        new: request::CreateAgent,
    ) -> Result<Mutation<Agent>, Error> {
        let warning = adapters::check_runtime(&new, &self.hub.config().runtimes.path)?;
        let (act, dry_run) = self.meant(intent);
        let mut created = self.hub.store().create_agent(act, new, dry_run).await?;
        created.warnings.extend(warning);
        Ok(created)
    }
    async fn update_agent(
        &self,
        intent: Intent,
        agent: String,
        change: request::UpdateAgent,
    ) -> Result<Mutation<Agent>, Error> {
        let (act, dry_run) = self.meant(intent);
        self.hub.store().update_agent(act, agent, change, dry_run).await
    }
    async fn pause_agent(
        &self,
        intent: Intent,
        agent: String,
        change: request::Versioned,
    ) -> Result<Mutation<Agent>, Error> {
        let (act, dry_run) = self.meant(intent);
        self.hub.store().set_agent_paused(act, agent, true, change.expected_version, dry_run).await
    }
    async fn resume_agent(
        &self,
        intent: Intent,
        agent: String,
        change: request::Versioned,
    ) -> Result<Mutation<Agent>, Error> {
        let (act, dry_run) = self.meant(intent);
        self.hub.store().set_agent_paused(act, agent, false, change.expected_version, dry_run).await
    }
    async fn archive_agent(
        &self,
        intent: Intent,
        agent: String,
        change: request::ArchiveAgent,
    ) -> Result<Mutation<Agent>, Error> {
        let (act, dry_run) = self.meant(intent);
        self.hub.store().archive_agent(act, agent, change, dry_run).await
    }
    async fn restore_agent(
        &self,
        intent: Intent,
        agent: String,
        change: request::Versioned,
    ) -> Result<Mutation<Agent>, Error> {
        let (act, dry_run) = self.meant(intent);
        self.hub.store().restore_agent(act, agent, change.expected_version, dry_run).await
    }
}

#[async_trait]
impl Connections for HubDesk {
    async fn connections(
        &self,
        who: Principal,
        query: query::Connections,
    ) -> Result<Page<view::ConnectionEntry>, Error> {
        let mut page = self.hub.store().list_connections(query, INSTALLED).await?;
        for entry in &mut page.items {
            self.add_health(entry).await?;
            keep_private(&who, entry);
        }
        Ok(page)
    }
    async fn connection(&self, who: Principal, id: ConnectionId) -> Result<view::ConnectionEntry, Error> {
        let mut entry = self.hub.store().connection_entry(id.clone()).await?;
        self.add_health(&mut entry).await?;
        keep_private(&who, &mut entry);
        Ok(entry)
    }
    async fn connection_health(&self, _: Principal, id: ConnectionId) -> Result<view::Health, Error> {
        self.hub.health_view(&id).await
    }
    async fn connect(&self, intent: Intent, new: request::Connect) -> Result<Mutation<Connection>, Error> {
        adapters::check_gateway(&new.provider, new.gateway_mode)?;
        let (act, dry_run) = self.meant(intent);
        self.hub.store().connect(act, new, INSTALLED, dry_run).await.map(adapters::one_way)
    }
    async fn update_connection(
        &self,
        intent: Intent,
        id: ConnectionId,
        change: request::UpdateConnection,
    ) -> Result<Mutation<Connection>, Error> {
        if change.gateway_mode.is_some() {
            let connection = self.hub.store().connection(id.clone()).await?;
            adapters::check_gateway(&connection.provider, change.gateway_mode)?;
        }
        let (act, dry_run) = self.meant(intent);
        self.hub.store().update_connection(act, id, change, dry_run).await.map(adapters::one_way)
    }
    async fn enable_connection(
        &self,
        intent: Intent,
        id: ConnectionId,
        change: request::Versioned,
    ) -> Result<Mutation<Connection>, Error> {
        let (act, dry_run) = self.meant(intent);
        let enabled =
            self.hub.store().set_connection_enabled(act, id, true, change.expected_version, dry_run).await;
        enabled.map(adapters::one_way)
    }
    async fn disable_connection(
        &self,
        intent: Intent,
        id: ConnectionId,
        change: request::Versioned,
    ) -> Result<Mutation<Connection>, Error> {
        let (act, dry_run) = self.meant(intent);
        self.hub.store().set_connection_enabled(act, id, false, change.expected_version, dry_run).await
    }
    async fn probe_connection(
        &self,
        principal: Principal,
        id: ConnectionId,
    ) -> Result<view::ProbeResult, Error> {
        let found = self.hub.probe_connection(&id).await?;
        let health = self.connection_health(principal, id).await?;
        let checks = vec![
            "the provider accepted the credential".to_owned(),
            format!("{} conversation(s) compared with the ledger", found.compared),
            format!("{} message(s) not in the ledger", found.unseen),
        ];
        Ok(view::ProbeResult { ok: !found.deaf, checks, health, error: None })
    }
}

impl HubDesk {
    /// Puts what the running hub knows of a Connection beside what is stored.
    async fn add_health(&self, entry: &mut view::ConnectionEntry) -> Result<(), Error> {
        let health = self.hub.health_view(&entry.connection.id).await?;
        (entry.state, entry.reason) = (health.state, health.reason);
        entry.last_error.clone_from(&health.last_error);
        entry.health = Some(health);
        Ok(())
    }
}

#[async_trait]
impl Addresses for HubDesk {
    async fn addresses(&self, who: Principal, query: query::Addresses) -> Result<Page<Address>, Error> {
        let mut page = self.hub.store().list_addresses(query).await?;
        page.items.retain(|address| who.sees_agent(&address.agent_id));
        Ok(page)
    }
    async fn address(&self, who: Principal, id: AddressId) -> Result<Address, Error> {
        let address = self.hub.store().address(id).await?;
        sees(&who, &address.agent_id)?;
        Ok(address)
    }
    async fn bind(
        &self,
        intent: Intent,
        agent: String,
        new: request::Bind,
    ) -> Result<Mutation<Address>, Error> {
        let (act, dry_run) = self.meant(intent);
        self.hub.store().bind(act, agent, new, self.trust_groups(), dry_run).await
    }
    async fn update_address(
        &self,
        intent: Intent,
        id: AddressId,
        change: request::UpdateAddress,
    ) -> Result<Mutation<Address>, Error> {
        let (act, dry_run) = self.meant(intent);
        self.hub.store().update_address(act, id, change, self.trust_groups(), dry_run).await
    }
    /// An Agent is shown those of its own Addresses, whatever it asks for.
    async fn candidates(
        &self,
        who: Principal,
        mut query: query::Candidates,
    ) -> Result<Page<view::CandidateEntry>, Error> {
        if let Principal::Agent(own) = who {
            query.agent = Some(own.to_string());
        }
        self.hub.store().list_candidates(query).await
    }
    async fn refresh_candidates(&self, _: Principal, id: AddressId) -> Result<view::Accepted, Error> {
        let address = self.hub.store().address(id).await?;
        self.hub.refresh_candidates(&address.connection_id).await?;
        Ok(view::Accepted { accepted: true })
    }
}

#[async_trait]
impl Memberships for HubDesk {
    async fn memberships(
        &self,
        who: Principal,
        query: query::Memberships,
    ) -> Result<Page<Membership>, Error> {
        self.hub.store().list_memberships(who, query).await
    }
    async fn membership(&self, who: Principal, id: MembershipId) -> Result<Membership, Error> {
        let membership = self.hub.store().membership(id).await?;
        let address = self.hub.store().address(membership.address_id.clone()).await?;
        sees(&who, &address.agent_id)?;
        Ok(membership)
    }
    async fn set_membership(
        &self,
        intent: Intent,
        id: MembershipId,
        change: request::SetMembership,
    ) -> Result<Mutation<Membership>, Error> {
        let (act, dry_run) = self.meant(intent);
        self.hub.store().update_membership(act, id, change, dry_run).await
    }
    async fn set_conversation(
        &self,
        intent: Intent,
        address: AddressId,
        conversation: String,
        change: request::SetMembership,
    ) -> Result<Mutation<Membership>, Error> {
        let (act, dry_run) = self.meant(intent);
        self.hub.store().set_membership(act, address, conversation, change, dry_run).await
    }
    async fn enable_membership(
        &self,
        intent: Intent,
        id: MembershipId,
        change: request::EnableMembership,
    ) -> Result<Mutation<Membership>, Error> {
        let (act, dry_run) = self.meant(intent);
        self.hub.store().enable_membership(act, id, change, dry_run).await
    }
    async fn disable_membership(
        &self,
        intent: Intent,
        id: MembershipId,
        change: request::Versioned,
    ) -> Result<Mutation<Membership>, Error> {
        let (act, dry_run) = self.meant(intent);
        self.hub.store().disable_membership(act, id, change.expected_version, dry_run).await
    }
    async fn archive_membership(
        &self,
        intent: Intent,
        id: MembershipId,
        change: request::Confirm,
    ) -> Result<Mutation<Membership>, Error> {
        let (act, dry_run) = self.meant(intent);
        self.hub.store().archive_membership(act, id, change, dry_run).await
    }
    async fn test_membership(
        &self,
        who: Principal,
        id: MembershipId,
        test: request::TestMembership,
        wait: Duration,
    ) -> Result<TestEnd, Error> {
        Ok(match self.hub.test_membership(who, id, test, wait).await? {
            loom_hub::TestEnd::Outbound(entry) => TestEnd::Outbound(entry),
            loom_hub::TestEnd::Inbound(end) => TestEnd::Inbound(end),
        })
    }
}

/// An Agent sees what is its own; the owner and viewers see all.
pub(super) fn sees(who: &Principal, agent: &AgentId) -> Result<(), Error> {
    if who.sees_agent(agent) {
        return Ok(());
    }
    Err(Error::new(loom_domain::Code::Forbidden, "this belongs to another Agent"))
}

/// Leaves out of a Connection what an Agent has no business with.
fn keep_private(who: &Principal, entry: &mut view::ConnectionEntry) {
    if let Principal::Agent(own) = who {
        entry.addresses.retain(|address| address.agent_id == *own);
        entry.connection.credential_ref = String::new();
        entry.connection.api_url = None;
        entry.connection.proxy_url = None;
    }
}
