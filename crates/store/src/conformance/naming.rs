//! Ids stay what they are while names change, and lists show whose they are.

use std::collections::BTreeSet;

use loom_api::{
    query,
    request::{AddressPolicy, SetMembership, UpdateAddress, UpdateAgent},
};
use loom_domain::{AddressId, Code, ConversationType, MembershipId, Principal};

use super::{both, world::World};
use crate::ops::{audit_write::RefusedCall, candidates::Seen};

async fn listed(world: &World, address: Option<&AddressId>) -> BTreeSet<MembershipId> {
    let asked = query::Memberships {
        agent: Some("docs".to_owned()),
        address: address.map(ToString::to_string),
        ..query::Memberships::default()
    };
    let page = world.store().list_memberships(Principal::Owner, asked).await.unwrap();
    page.items.into_iter().map(|membership| membership.id).collect()
}

#[test]
fn msg_010_memberships_are_listed_by_address_or_for_the_whole_agent() {
    both(async |world: &World| {
        let connection = world.connect("A1APP").await;
        let second = world.bind("docs", &connection.id, "U1BOT", AddressPolicy::default()).await;
        let here = BTreeSet::from([world.channel("C1").await, world.channel("C2").await]);
        let request =
            SetMembership { conversation_type: Some(ConversationType::Channel), ..Default::default() };
        let store = world.store();
        let set = store.set_membership(world.act(), second.clone(), "C1".to_owned(), request, false);
        let there = BTreeSet::from([set.await.unwrap().object.id]);
        world.agent("other").await;
        assert_eq!(listed(world, Some(&world.address_id())).await, here);
        assert_eq!(listed(world, Some(&second)).await, there);
        assert_eq!(listed(world, None).await, &here | &there);
    });
}

/// What the owner sees of the ids of a conversation and who wrote in it.
async fn ids(world: &World, membership: &MembershipId, agent: &str) -> [String; 7] {
    let store = world.store();
    let found = store.agent_by(agent.to_owned()).await.unwrap();
    let address = store.address(world.address_id()).await.unwrap();
    let membership = store.membership(membership.clone()).await.unwrap();
    let inbox = query::Inbox { limit: Some(1), ..query::Inbox::default() };
    let newest = store.list_inbox(Principal::Owner, inbox, world.now()).await.unwrap().items.remove(0);
    [
        found.id.to_string(),
        address.id.to_string(),
        address.agent_id.to_string(),
        address.external_identity,
        membership.conversation_id,
        membership.actor_id.unwrap(),
        newest.message.sender.external_id,
    ]
}

#[test]
fn msg_012_new_names_leave_every_id_as_it_is() {
    both(async |world: &World| {
        let membership = world.dm_draft("D1", "U0ANN").await;
        let seen = |name: &str| Seen {
            conversation_id: "D1".to_owned(),
            conversation_type: ConversationType::Dm,
            display_name: name.to_owned(),
            description: String::new(),
            bot_is_member: true,
        };
        let store = world.store();
        store.put_candidates(world.act(), world.connection_id(), vec![seen("Ann")]).await.unwrap();
        world.take(world.dm("Ev1", "D1", "170.1")).await;
        let before = ids(world, &membership, "docs").await;

        let name = || Some("Renamed".to_owned());
        let agent = UpdateAgent { name: name(), ..UpdateAgent::default() };
        store.update_agent(world.act(), "docs".to_owned(), agent, false).await.unwrap();
        let mut address = UpdateAddress::default();
        address.policy.display_name = name();
        store.update_address(world.act(), world.address_id(), address, vec![], false).await.unwrap();
        world.set("D1", SetMembership { display_name: name(), ..SetMembership::default() }).await;
        assert_eq!(
            store.put_candidates(world.act(), world.connection_id(), vec![seen("Renamed")]).await.unwrap(),
            1
        );
        let mut event = world.dm("Ev2", "D1", "170.2");
        event.sender.as_mut().unwrap().display_name = name();
        world.take(event).await;

        assert_eq!(ids(world, &membership, "renamed").await, before);
        assert_eq!(store.membership(membership).await.unwrap().display_name, "Renamed");
        assert_eq!(store.agent_by("docs".to_owned()).await.unwrap_err().code, Code::NotFound);
    });
}

#[test]
fn msg_038_a_refused_call_becomes_a_row_of_the_audit_chain() {
    both(async |world: &World| {
        let call = RefusedCall {
            method: "PATCH".to_owned(),
            route: "/v1/connections/{c}".to_owned(),
            path: "/v1/connections/con_1".to_owned(),
            code: Code::Forbidden,
            unrecorded: 3,
        };
        world.store().record_refused_call(world.act_as(Principal::Viewer), call).await.unwrap();
        let rows = world.store().audit_rows(None, 0, Some(500)).await.unwrap().items;
        let row = rows.last().unwrap();
        assert_eq!((row.action.as_str(), row.principal.as_str()), ("api.refuse", "viewer"));
        assert_eq!(row.object.as_deref(), Some("/v1/connections/con_1"));
        assert_eq!((&row.detail["code"], &row.detail["unrecorded"]), (&"forbidden".into(), &3.into()));
    });
}
