//! Principals: who acts.

use std::fmt;

use crate::{AgentId, Code, ConnectionId, Error};

/// Who acts. Handlers take one; there is no anonymous principal.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Principal {
    /// The owner of the hub.
    Owner,
    /// A reader.
    Viewer,
    /// An Agent, acting as itself.
    Agent(AgentId),
    /// The connector of one Connection.
    Connector(ConnectionId),
    /// The hub itself (settling, expiring, retrying).
    Hub,
}

impl Principal {
    /// Fails with `forbidden` unless this is the owner.
    pub fn require_owner(&self) -> Result<(), Error> {
        match self {
            Principal::Owner | Principal::Hub => Ok(()),
            _ => Err(Error::new(Code::Forbidden, "only the owner may do this")),
        }
    }

    /// Fails unless this is the owner or that Agent.
    pub fn require_agent(&self, agent: &AgentId) -> Result<(), Error> {
        match self {
            Principal::Owner | Principal::Hub => Ok(()),
            Principal::Agent(own) if own == agent => Ok(()),
            Principal::Agent(_) => Err(Error::new(Code::NotOwnerOfItem, "the item belongs to another Agent")),
            _ => Err(Error::new(Code::Forbidden, "only the owner or the Agent itself may do this")),
        }
    }

    /// Whether this principal sees the objects of the Agent.
    pub fn sees_agent(&self, agent: &AgentId) -> bool {
        match self {
            Principal::Owner | Principal::Viewer | Principal::Hub => true,
            Principal::Agent(own) => own == agent,
            Principal::Connector(_) => false,
        }
    }
}

impl fmt::Display for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Principal::Owner => f.write_str("owner"),
            Principal::Viewer => f.write_str("viewer"),
            Principal::Agent(id) => write!(f, "agent:{id}"),
            Principal::Connector(id) => write!(f, "connector:{id}"),
            Principal::Hub => f.write_str("hub"),
        }
    }
}
