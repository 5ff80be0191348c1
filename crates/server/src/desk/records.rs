//! Agents, Connections, Addresses and Memberships.

use loom_api::{Mutation, Page, query, request, view};
use loom_domain::{
    Address, AddressId, Agent, AgentId, Connection, ConnectionId, Membership, MembershipId, Principal,
    TokenId,
};

use super::work::TestEnd;
use super::{Intent, desk};

desk! {
    /// Agents. `agent` is a name or an id.
    Agents {
        /// The id of an Agent.
        agent_id(agent: String) -> AgentId;
        /// Lists Agents.
        agents(principal: Principal, query: query::Agents) -> Page<view::AgentEntry>;
        /// Reads one.
        agent(principal: Principal, agent: String) -> view::AgentDetail;
        /// Creates one.
        create_agent(intent: Intent, new: request::CreateAgent) -> Mutation<Agent>;
        /// Changes one.
        update_agent(intent: Intent, agent: String, change: request::UpdateAgent) -> Mutation<Agent>;
        /// Lets its items queue without starting Turns.
        pause_agent(intent: Intent, agent: String, change: request::Versioned) -> Mutation<Agent>;
        /// Starts its Turns again.
        resume_agent(intent: Intent, agent: String, change: request::Versioned) -> Mutation<Agent>;
        /// Archives it.
        archive_agent(intent: Intent, agent: String, change: request::ArchiveAgent) -> Mutation<Agent>;
        /// Brings it back.
        restore_agent(intent: Intent, agent: String, change: request::Versioned) -> Mutation<Agent>;
    }
}

desk! {
    /// Connections.
    Connections {
        /// Lists Connections.
        connections(principal: Principal, query: query::Connections) -> Page<view::ConnectionEntry>;
        /// Reads one with its health.
        connection(principal: Principal, id: ConnectionId) -> view::ConnectionEntry;
        /// Its health.
        connection_health(principal: Principal, id: ConnectionId) -> view::Health;
        /// Creates one; nothing is looked up or started.
        connect(intent: Intent, new: request::Connect) -> Mutation<Connection>;
        /// Changes one.
        update_connection(intent: Intent, id: ConnectionId, change: request::UpdateConnection) -> Mutation<Connection>;
        /// Switches it on.
        enable_connection(intent: Intent, id: ConnectionId, change: request::Versioned) -> Mutation<Connection>;
        /// Switches it off.
        disable_connection(intent: Intent, id: ConnectionId, change: request::Versioned) -> Mutation<Connection>;
        /// Proves it alive now.
        probe_connection(principal: Principal, id: ConnectionId) -> view::ProbeResult;
    }
}

desk! {
    /// Tokens of connectors.
    Tokens {
        /// Issues a connector token; its value is shown this once.
        issue_token(principal: Principal, id: ConnectionId, request: request::IssueToken) -> view::IssuedToken;
        /// Revokes a connector token at once.
        revoke_token(principal: Principal, id: ConnectionId, token: TokenId) -> ();
    }
}

desk! {
    /// Addresses and the Candidates seen under them.
    Addresses {
        /// Lists Addresses.
        addresses(principal: Principal, query: query::Addresses) -> Page<Address>;
        /// Reads one.
        address(principal: Principal, id: AddressId) -> Address;
        /// Binds an identity to an Agent.
        bind(intent: Intent, agent: String, new: request::Bind) -> Mutation<Address>;
        /// Changes one.
        update_address(intent: Intent, id: AddressId, change: request::UpdateAddress) -> Mutation<Address>;
        /// Lists Candidates.
        candidates(principal: Principal, query: query::Candidates) -> Page<view::CandidateEntry>;
        /// Asks the gateway for a new snapshot.
        refresh_candidates(principal: Principal, id: AddressId) -> view::Accepted;
    }
}

desk! {
    /// Memberships.
    Memberships {
        /// Lists Memberships.
        memberships(principal: Principal, query: query::Memberships) -> Page<Membership>;
        /// Reads one.
        membership(principal: Principal, id: MembershipId) -> Membership;
        /// Changes one.
        set_membership(intent: Intent, id: MembershipId, change: request::SetMembership) -> Mutation<Membership>;
        /// Creates or changes that of a conversation.
        set_conversation(intent: Intent, address: AddressId, conversation: String, change: request::SetMembership) -> Mutation<Membership>;
        /// Switches it on.
        enable_membership(intent: Intent, id: MembershipId, change: request::EnableMembership) -> Mutation<Membership>;
        /// Switches it off.
        disable_membership(intent: Intent, id: MembershipId, change: request::Versioned) -> Mutation<Membership>;
        /// Archives it.
        archive_membership(intent: Intent, id: MembershipId, change: request::Confirm) -> Mutation<Membership>;
        /// Checks it through the normal path.
        test_membership(principal: Principal, id: MembershipId, test: request::TestMembership, wait: std::time::Duration) -> TestEnd;
    }
}
