//! The configuration as objects with the fields that their owner sets.

use std::collections::HashMap;

use loom_domain::integration::{Fields, Key, Kind, Tree};
use loom_domain::{Address, Agent, Connection, Error, Membership, Result};
use serde::Serialize;
use serde_json::{Value, json};

use crate::{Tx, docs};

/// Reads every object that is not archived.
pub(super) fn read(tx: &mut dyn Tx) -> Result<Tree> {
    let agents: Vec<Agent> = docs::select(tx, "1 = 1", &[])?;
    let names: HashMap<&str, &str> =
        agents.iter().map(|agent| (agent.id.as_str(), agent.name.as_str())).collect();
    let mut tree = Tree::default();
    for connection in docs::select::<Connection>(tx, "archived = 0 ORDER BY seq", &[])? {
        let fields = fields(&connection, Kind::Connections, &[])?;
        tree.add(Key::new(Kind::Connections, connection.id.as_str())?, fields)?;
    }
    for address in docs::select::<Address>(tx, "archived = 0 AND deleted = 0 ORDER BY seq", &[])? {
        let agent = names.get(address.agent_id.as_str()).copied().unwrap_or(address.agent_id.as_str());
        let named = [("agent", json!(agent)), ("connection", json!(address.connection_id))];
        let fields = fields(&address, Kind::Addresses, &named)?;
        tree.add(Key::new(Kind::Addresses, address.id.as_str())?, fields)?;
    }
    for membership in docs::select::<Membership>(tx, "archived = 0 ORDER BY seq", &[])? {
        let named = [("address", json!(membership.address_id))];
        let fields = fields(&membership, Kind::Memberships, &named)?;
        tree.add(Key::new(Kind::Memberships, membership.id.as_str())?, fields)?;
    }
    Ok(tree)
}

/// The fields of a record that the kind names, and those that name other objects.
fn fields<T: Serialize>(record: &T, kind: Kind, named: &[(&str, Value)]) -> Result<Fields> {
    let Value::Object(mut members) = serde_json::to_value(record).map_err(Error::internal)? else {
        return Err(Error::internal("a record is no object"));
    };
    members.extend(named.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
    members.retain(|name, _| kind.fields().contains(&name.as_str()));
    Ok(members)
}
