//! The configuration as one tree, and what an apply makes of it.

use loom_api::request::AddressPolicy;
use loom_domain::integration::{Key, Kind, Plan, Tree};
use loom_domain::{Address, AddressId, Agent, Code, Error};
use serde_json::{Value, json};

use super::{both, world::World};
use crate::docs;
use crate::ops::integration::{Applied, Apply};

/// Applies what somebody changed in the tree.
async fn apply(world: &World, change: impl FnOnce(&mut Tree)) -> Result<Applied, Error> {
    let from = world.store().integration_tree().await.unwrap();
    let mut to = from.clone();
    change(&mut to);
    let plan = Plan::between(&from, &to);
    let (groups, installed) = (Vec::new(), Vec::new());
    let apply = Apply { plan, revision: "r".to_owned(), reverts: None, groups, installed };
    world.store().apply_integration(world.act(), apply).await
}

fn key(id: &AddressId) -> Key {
    Key::new(Kind::Addresses, id.as_str()).unwrap()
}

async fn set(world: &World, field: &str, value: Value) -> Result<Applied, Error> {
    let id = world.address_id();
    let change =
        |tree: &mut Tree| drop(tree.objects.get_mut(&key(&id)).unwrap().insert(field.to_owned(), value));
    apply(world, change).await
}

/// CAP-132: a list that the branch empties is empty in the hub; a field that cannot be empty is refused.
#[test]
fn cap_132_an_emptied_list_of_an_address_is_emptied() {
    both(async |world: &World| {
        let actors = async || world.store().address(world.address_id()).await.unwrap().allow_actors;
        set(world, "allowActors", json!(["U1"])).await.unwrap();
        assert_eq!(actors().await, ["U1"]);
        set(world, "allowActors", Value::Null).await.unwrap();
        assert!(actors().await.is_empty(), "an apply that is done is done");
        let refused = set(world, "triggerPolicy", Value::Null).await.unwrap_err();
        assert_eq!(refused.code, Code::InvalidArgument);
    });
}

/// CAP-132: an apply brings back what was archived, and nothing that was replaced or deleted, or has no live Agent.
#[test]
fn cap_132_only_what_was_archived_comes_back() {
    both(async |world: &World| {
        let agent = world.agent("second").await;
        let id = world.bind("second", &world.connection_id(), "U0TWO", AddressPolicy::default()).await;
        let fields = world.store().integration_tree().await.unwrap().objects[&key(&id)].clone();
        let back = async || apply(world, |tree| tree.add(key(&id), fields.clone()).unwrap()).await;
        let write = async |change: fn(&mut Address, AddressId)| {
            let (id, other) = (id.clone(), world.address_id());
            let store = world.store();
            let written = store.write(world.act(), move |unit| {
                let mut address: Address = docs::require(unit.tx, id.as_str())?;
                change(&mut address, other.clone());
                docs::update(unit.tx, &address)
            });
            written.await.unwrap();
        };
        apply(world, |tree| drop(tree.objects.remove(&key(&id)))).await.unwrap();
        write(|address, _| address.deleted_at = address.archived_at).await;
        assert_eq!(back().await.unwrap_err().code, Code::Deleted);
        write(|address, other| (address.deleted_at, address.superseded_by) = (None, Some(other))).await;
        assert_eq!(back().await.unwrap_err().code, Code::Superseded);
        write(|address, _| address.superseded_by = None).await;
        archive(world, &agent, true).await;
        assert_eq!(back().await.unwrap_err().code, Code::Archived);
        assert!(world.store().address(id.clone()).await.unwrap().archived_at.is_some());
        archive(world, &agent, false).await;
        back().await.unwrap();
        assert!(world.store().address(id.clone()).await.unwrap().archived_at.is_none());
    });
}

async fn archive(world: &World, agent: &Agent, is_archived: bool) {
    let after = Agent { archived_at: is_archived.then(|| world.now()), ..agent.clone() };
    world.store().write(world.act(), move |unit| docs::update(unit.tx, &after)).await.unwrap();
}
