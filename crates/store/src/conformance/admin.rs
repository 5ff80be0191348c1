//! The owner's configuration: Agents, Connections, Addresses, Memberships, Candidates, versions.

use loom_api::{
    query,
    request::{
        AddressPolicy, ArchiveAgent, Bind, Connect, EnableMembership, NoReply, SetMembership, UpdateAddress,
        UpdateAgent, UpdateConnection,
    },
};
use loom_domain::{
    AddressId, Code, ConversationType, DmPolicy, Error, Principal, ReplyPolicy, Result, TriggerPolicy,
    reason::EventReason,
};

use super::{both, world::World};
use crate::ops::{
    candidates::{CANDIDATES_MAX, Seen},
    retention::Retention,
    turns::TurnEnd,
};

fn policy(change: impl FnOnce(&mut AddressPolicy)) -> UpdateAddress {
    let mut update = UpdateAddress::default();
    change(&mut update.policy);
    update
}

async fn update(world: &World, request: UpdateAddress) -> Result<loom_api::Mutation<loom_domain::Address>> {
    world.store().update_address(world.act(), world.address_id(), request, vec![], false).await
}

async fn set(
    world: &World,
    id: &str,
    request: SetMembership,
) -> Result<loom_api::Mutation<loom_domain::Membership>> {
    world.store().set_membership(world.act(), world.address_id(), id.to_owned(), request, false).await
}

async fn connect(world: &World, request: Connect) -> Result<loom_api::Mutation<loom_domain::Connection>> {
    world.store().connect(world.act(), request, vec![], false).await
}

fn dm(actor: Option<&str>) -> SetMembership {
    SetMembership {
        conversation_type: Some(ConversationType::Dm),
        actor_id: actor.map(str::to_owned),
        ..SetMembership::default()
    }
}

fn code<T>(result: Result<T>) -> Code {
    result.map(|_| ()).unwrap_err().code
}

async fn bind(world: &World, agent: &str, identity: &str, domain: Option<&str>) -> Result<AddressId> {
    let request = Bind {
        connection_id: world.connection_id().to_string(),
        external_identity: identity.to_owned(),
        policy: AddressPolicy { trust_domain: domain.map(str::to_owned), ..AddressPolicy::default() },
    };
    world.store().bind(world.act(), agent.to_owned(), request, vec![], false).await.map(|m| m.object.id)
}

#[test]
fn msg_062_a_bare_bind_has_the_defaults() {
    both(async |world: &World| {
        let id = bind(world, "docs", "U0NEW", None).await.unwrap();
        let address = world.store().address(id.clone()).await.unwrap();
        assert_eq!(address.external_identity, "slack://T1/U0NEW");
        assert_eq!(
            (address.trigger_policy, address.reply_policy, address.dm_policy, address.enabled),
            (TriggerPolicy::Mention, ReplyPolicy::FinalAnswer, DmPolicy::Managed, false)
        );
        let on = world.store().set_address_enabled(world.act(), id, true, None, false).await.unwrap();
        assert!(on.object.enabled && on.warnings[0].starts_with("widens access: "));
    });
}

#[test]
fn msg_063_an_update_changes_its_field_and_an_equal_value_nothing() {
    both(async |world: &World| {
        let before = world.store().address(world.address_id()).await.unwrap();
        let open = update(world, policy(|p| p.dm_policy = Some(DmPolicy::Open))).await.unwrap();
        assert_eq!(open.changed, ["dmPolicy"]);
        assert_eq!(open.warnings, ["widens access: dmPolicy managed → open"]);
        assert_eq!(open.object.version, before.version + 1);
        let rows = world.count("changes").await;
        let same = update(world, policy(|p| p.dm_policy = Some(DmPolicy::Open))).await.unwrap();
        assert!(same.changed.is_empty());
        assert_eq!((same.object.version, world.count("changes").await), (before.version + 1, rows));
        assert_eq!(code(update(world, UpdateAddress::default()).await), Code::NothingToChange);
    });
}

#[test]
fn msg_064_a_stale_version_writes_nothing_and_shows_the_difference() {
    both(async |world: &World| {
        update(world, policy(|p| p.display_name = Some("Docs".to_owned()))).await.unwrap();
        let mut stale = policy(|p| p.dm_policy = Some(DmPolicy::Closed));
        stale.expected_version = Some(1);
        let error: Error = update(world, stale).await.unwrap_err();
        assert_eq!((error.code, &error.detail["current_version"]), (Code::VersionConflict, &2.into()));
        let row = serde_json::json!({"field": "dmPolicy", "yours": "closed", "current": "managed"});
        assert_eq!(error.detail["diff"], serde_json::json!([row]));
        assert_eq!(error.detail["current"]["displayName"], "Docs");
        let now = world.store().address(world.address_id()).await.unwrap();
        assert_eq!((now.version, now.dm_policy), (2, DmPolicy::Managed));
    });
}

#[test]
fn msg_065_066_identities_are_bound_once_and_domains_must_fit() {
    both(async |world: &World| {
        let twice = bind(world, "docs", super::world::BOT, None).await.unwrap_err();
        assert_eq!(
            (twice.code, twice.detail["id"].as_str()),
            (Code::IdentityBound, Some(world.address_id().as_str()))
        );
        let foreign = bind(world, "docs", "U0X", Some("other")).await.unwrap_err();
        assert_eq!(foreign.code, Code::TrustConflict);
        assert!(foreign.hint.unwrap().contains("separate Agent"));
        world.agent("second").await;
        bind(world, "second", "U0X", Some("other")).await.unwrap();
    });
}

#[test]
fn msg_067_a_new_trust_domain_is_confirmed_and_takes_the_memberships_along() {
    both(async |world: &World| {
        let membership = world.channel("C1").await;
        let mut request = policy(|p| p.trust_domain = Some("acme".to_owned()));
        assert_eq!(code(update(world, request.clone()).await), Code::ConfirmationRequired);
        assert_eq!(world.store().address(world.address_id()).await.unwrap().trust_domain, "local");
        request.confirm_trust = true;
        update(world, request).await.unwrap();
        let moved = world.store().membership(membership).await.unwrap();
        assert_eq!((moved.trust_domain.as_str(), moved.version), ("acme", 2));
    });
}

#[test]
fn msg_068_lists_hold_ids_alone() {
    both(async |world: &World| {
        for bad in ["Ann Lee", "ann@example.com", "@ann", "#general", "U*"] {
            let request = policy(|p| p.allow_actors = Some(vec![bad.to_owned()]));
            assert_eq!(code(update(world, request).await), Code::InvalidArgument, "{bad}");
        }
    });
}

#[test]
fn msg_069_an_allowed_conversation_gets_no_membership() {
    both(async |world: &World| {
        let allowed = update(world, policy(|p| p.allow_conversations = Some(vec!["C1".to_owned()])));
        assert_eq!(allowed.await.unwrap().object.allow_conversations, ["C1"]);
        assert_eq!(world.count("memberships").await, 0);
        let judged = world.take(world.mention("Ev1", "C1", "170.1")).await;
        assert_eq!(judged.reason, EventReason::MembershipMissing);
        assert_eq!(world.count("memberships").await, 0);
    });
}

#[test]
fn msg_070_edits_of_two_fields_of_an_address_are_both_kept() {
    both(async |world: &World| {
        let name = policy(|p| p.display_name = Some("Docs".to_owned()));
        let dm = policy(|p| p.dm_policy = Some(DmPolicy::Closed));
        let (one, two) = tokio::join!(update(world, name), update(world, dm));
        one.unwrap();
        two.unwrap();
        let address = world.store().address(world.address_id()).await.unwrap();
        assert_eq!(
            (address.display_name.as_str(), address.dm_policy, address.version),
            ("Docs", DmPolicy::Closed, 3)
        );
    });
}

#[test]
fn msg_077_edits_of_two_fields_of_a_membership_are_both_kept() {
    both(async |world: &World| {
        let id = world.channel("C1").await;
        let purpose = SetMembership { purpose: Some("p".to_owned()), ..Default::default() };
        let role = SetMembership { role: Some("r".to_owned()), ..Default::default() };
        let (one, two) = tokio::join!(set(world, "C1", purpose), set(world, "C1", role));
        one.unwrap();
        two.unwrap();
        let membership = world.store().membership(id).await.unwrap();
        assert_eq!(
            (membership.purpose.as_str(), membership.role.as_str(), membership.version),
            ("p", "r", 3)
        );
        let new =
            SetMembership { expected_version: Some(0), role: Some("x".to_owned()), ..Default::default() };
        assert_eq!(code(set(world, "C1", new).await), Code::VersionConflict);
    });
}

#[test]
fn msg_071_072_a_membership_starts_disabled_and_reply_only() {
    both(async |world: &World| {
        let made =
            set(world, "C1", SetMembership { purpose: Some("manual".to_owned()), ..Default::default() });
        let made = made.await.unwrap();
        assert!(made.created && !made.object.enabled);
        assert_eq!(made.object.outbound_policy, loom_domain::OutboundPolicy::ReplyOnly);
        assert_eq!(made.object.conversation_type, ConversationType::Group);
        assert_eq!(
            world.take(world.mention("Ev1", "C1", "170.1")).await.reason,
            EventReason::MembershipDisabled
        );
        world
            .store()
            .enable_membership(world.act(), made.object.id, EnableMembership::default(), false)
            .await
            .unwrap();
        assert_eq!(world.take(world.mention("Ev2", "C1", "170.2")).await.reason, EventReason::Accepted);
    });
}

#[test]
fn msg_073_a_dm_names_its_actor() {
    both(async |world: &World| {
        assert_eq!(code(set(world, "D0123456789", dm(None)).await), Code::ActorRequired);
        let made = set(world, "D0123456789", dm(Some("U0123456789"))).await.unwrap().object;
        assert_eq!(
            (made.conversation_id.as_str(), made.actor_id.as_deref()),
            ("D0123456789", Some("U0123456789"))
        );
    });
}

#[test]
fn msg_074_kind_and_actor_of_a_dm_never_change() {
    both(async |world: &World| {
        let made = set(world, "D0123456789", dm(Some("U0123456789"))).await.unwrap().object;
        let kind = SetMembership { conversation_type: Some(ConversationType::Group), ..Default::default() };
        for change in [kind, dm(Some("U0999999999"))] {
            let error = set(world, "D0123456789", change).await.unwrap_err();
            assert_eq!(error.code, Code::ImmutableField);
            assert!(error.hint.unwrap().contains("create the right one"));
        }
        assert_eq!(world.store().membership(made.id.clone()).await.unwrap(), made);
    });
}

#[test]
fn msg_078_names_and_foreign_ids_are_no_ids() {
    both(async |world: &World| {
        for bad in ["#general", "@ann", "two words", "oc_123"] {
            assert_eq!(code(set(world, bad, SetMembership::default()).await), Code::InvalidArgument, "{bad}");
            assert_eq!(code(set(world, "D9", dm(Some(bad))).await), Code::InvalidArgument, "{bad}");
        }
        assert_eq!(world.count("memberships").await, 0);
    });
}

#[test]
fn msg_081_a_membership_has_the_domain_of_its_address() {
    both(async |world: &World| {
        let in_domain =
            |word: &str| SetMembership { trust_domain: Some(word.to_owned()), ..Default::default() };
        assert_eq!(code(set(world, "C5", in_domain("other")).await), Code::TrustConflict);
        assert_eq!(world.count("memberships").await, 0);
        let made = set(world, "C5", in_domain("local")).await.unwrap().object;
        assert_eq!(code(set(world, "C5", in_domain("other")).await), Code::TrustConflict);
        assert_eq!(world.store().membership(made.id.clone()).await.unwrap(), made);
    });
}

#[test]
fn msg_076_a_version_guards_a_membership() {
    both(async |world: &World| {
        let id = world.channel("C1").await;
        for n in 0..3 {
            let request = SetMembership { role: Some(n.to_string()), ..Default::default() };
            set(world, "C1", request).await.unwrap();
        }
        let guidance = |version| SetMembership {
            guidance: Some("X".to_owned()),
            expected_version: Some(version),
            ..Default::default()
        };
        let error = set(world, "C1", guidance(3)).await.unwrap_err();
        assert_eq!((error.code, &error.detail["current_version"]), (Code::VersionConflict, &4.into()));
        assert_eq!(error.detail["diff"][0]["field"], "guidance");
        assert_eq!(world.store().membership(id).await.unwrap().guidance, "");
        let done = set(world, "C1", guidance(4)).await.unwrap();
        assert_eq!((done.changed, done.object.version), (vec!["guidance".to_owned()], 5));
    });
}

fn seen(id: &str, member: bool) -> Seen {
    Seen {
        conversation_id: id.to_owned(),
        conversation_type: ConversationType::Channel,
        display_name: format!("#{id}"),
        description: String::new(),
        bot_is_member: member,
    }
}

#[test]
fn msg_079_a_bot_that_is_no_member_is_told() {
    both(async |world: &World| {
        let store = world.store();
        store.put_candidates(world.act(), world.connection_id(), vec![seen("C7", false)]).await.unwrap();
        let draft = set(world, "C7", SetMembership { purpose: Some("p".to_owned()), ..Default::default() })
            .await
            .unwrap();
        assert!(draft.warnings.iter().any(|w| w.contains("bot is not a member")), "{:?}", draft.warnings);
        let enabled =
            store.enable_membership(world.act(), draft.object.id, EnableMembership::default(), false).await;
        assert_eq!(code(enabled), Code::BotNotMember);
    });
}

#[test]
fn msg_080_candidates_grant_nothing_and_a_snapshot_is_stored_whole() {
    both(async |world: &World| {
        let all: Vec<Seen> = (0..CANDIDATES_MAX).map(|n| seen(&format!("C{n}"), true)).collect();
        let (store, connection) = (world.store(), world.connection_id());
        let put = async |seen: &[Seen]| {
            store.put_candidates(world.act(), connection.clone(), seen.to_vec()).await.unwrap()
        };
        assert_eq!(put(&all).await, 5_000);
        assert_eq!(put(&all).await, 0, "a refresh that finds nothing new");
        assert_eq!(put(&all[..4_990]).await, 10);
        assert_eq!(world.count("memberships").await, 0);
        assert_eq!(offered(world).await, 4_990);
        assert_eq!(world.count("candidates").await, 5_000, "missing ones are kept, as unavailable");
        let more = [all.as_slice(), &[seen("CX", true)]].concat();
        assert_eq!(code(store.put_candidates(world.act(), connection.clone(), more).await), Code::TooMany);
    });
}

/// Candidates that are offered, counted page by page.
async fn offered(world: &World) -> usize {
    let mut asked = query::Candidates { limit: Some(500), ..Default::default() };
    let mut offered = 0;
    loop {
        let page = world.store().list_candidates(asked.clone()).await.unwrap();
        offered += page.items.len();
        let Some(cursor) = page.next_cursor else { return offered };
        asked.cursor = Some(cursor);
    }
}

#[test]
fn msg_083_approved_senders_are_listed_and_a_disabled_one_is_refused() {
    both(async |world: &World| {
        let id = world.dm_draft("D1", "U0ANN").await;
        let store = world.store();
        store.enable_membership(world.act(), id.clone(), EnableMembership::default(), false).await.unwrap();
        let asked = query::Memberships { kind: Some("dm".to_owned()), ..Default::default() };
        let listed = store.list_memberships(Principal::Owner, asked).await.unwrap().items;
        assert_eq!(listed.len(), 1);
        assert_eq!(
            (listed[0].actor_id.as_deref(), listed[0].enabled_by.as_deref(), listed[0].first_enabled_at),
            (Some("U0ANN"), Some("owner"), Some(world.now()))
        );
        store.disable_membership(world.act(), id, None, false).await.unwrap();
        assert_eq!(world.take(world.dm("Ev1", "D1", "170.1")).await.reason, EventReason::MembershipDisabled);
    });
}

#[test]
fn an_account_is_registered_once_and_by_its_owner() {
    both(async |world: &World| {
        let again = connect(world, World::connect_request("A0APP")).await.unwrap_err();
        assert_eq!(
            (again.code, again.detail["id"].as_str()),
            (Code::AlreadyExists, Some(world.connection_id().as_str()))
        );
        let viewer = world.act_as(Principal::Viewer);
        assert_eq!(
            code(world.store().connect(viewer, World::connect_request("A8"), vec![], false).await),
            Code::Forbidden
        );
        assert_eq!(world.count("connections").await, 1);
    });
}

#[test]
fn msg_025_lark_is_feishu_with_its_brand_and_an_unknown_word_lists_the_known_ones() {
    both(async |world: &World| {
        let of = |provider: &str| Connect {
            provider: provider.to_owned(),
            ..World::connect_request(&format!("cli_{provider}"))
        };
        let unknown = connect(world, of("msn")).await.unwrap_err();
        assert_eq!((unknown.code, &unknown.detail["field"]), (Code::InvalidArgument, &"provider".into()));
        for known in ["slack", "feishu", "parall", "webhook", "lark", "x-NAME"] {
            assert!(unknown.message.contains(known), "{known}: {}", unknown.message);
        }
        for (word, brand) in [("Lark", "lark"), ("feishu", "feishu")] {
            let made = connect(world, of(word)).await.unwrap().object;
            assert_eq!((made.provider.as_str(), made.brand.as_deref()), ("feishu", Some(brand)));
        }
        let asked = query::Connections { provider: Some("lark".to_owned()), ..Default::default() };
        assert_eq!(world.store().list_connections(asked, vec![]).await.unwrap().items.len(), 2);
    });
}

#[test]
fn msg_037_plain_http_beyond_this_machine_is_refused_unless_allowed() {
    both(async |world: &World| {
        let at = |account: &str, url: &str, allow_http| Connect {
            api_url: Some(url.to_owned()),
            allow_http,
            ..World::connect_request(account)
        };
        let plain = "http://slack.example/api/";
        let refused = connect(world, at("A1", plain, false)).await.unwrap_err();
        assert_eq!((refused.code, &refused.detail["field"]), (Code::InsecureTransport, &"apiUrl".into()));
        assert!(refused.code.hint().contains("--allow-http"));
        assert_eq!(world.count("connections").await, 1);
        connect(world, at("A1", plain, true)).await.unwrap();
        connect(world, at("A2", "https://slack.example/api/", false)).await.unwrap();
        let local = connect(world, at("A3", "http://127.0.0.1:9/api/", false)).await.unwrap().object;
        let moved = UpdateConnection { api_url: Some(plain.to_owned()), ..Default::default() };
        let update = world.store().update_connection(world.act(), local.id.clone(), moved, false).await;
        assert_eq!(code(update), Code::InsecureTransport, "a change is no way around");
        assert_eq!(world.store().connection(local.id.clone()).await.unwrap(), local);
    });
}

#[test]
fn msg_207_an_agent_with_addresses_is_archived_only_with_them() {
    both(async |world: &World| {
        let store = world.store();
        let confirm = ArchiveAgent { confirm: Some("docs".to_owned()), ..Default::default() };
        let blocked =
            store.archive_agent(world.act(), "docs".to_owned(), confirm.clone(), false).await.unwrap_err();
        assert_eq!(blocked.code, Code::LifecycleBlocked);
        assert_eq!(blocked.detail["blockers"][0]["id"], world.address_id().as_str());
        let with = ArchiveAgent { with_addresses: true, ..confirm };
        let unsure = ArchiveAgent { confirm: None, ..with.clone() };
        assert_eq!(
            code(store.archive_agent(world.act(), "docs".to_owned(), unsure, false).await),
            Code::ConfirmationRequired
        );
        store.archive_agent(world.act(), "DOCS".to_owned(), with, false).await.unwrap();
        assert!(store.address(world.address_id()).await.unwrap().archived_at.is_some());
        assert_eq!(
            world.take(world.mention("Ev1", "C1", "170.1")).await.reason,
            EventReason::AddressArchived
        );
        store.restore_agent(world.act(), "docs".to_owned(), None, false).await.unwrap();
        assert!(store.agent_by("docs".to_owned()).await.unwrap().archived_at.is_none());
    });
}

#[test]
fn agents_are_renamed_and_a_new_thread_forgets_its_labels() {
    both(async |world: &World| {
        let store = world.store();
        let rename = UpdateAgent { name: Some("manual".to_owned()), new_thread: true, ..Default::default() };
        let renamed = store.update_agent(world.act(), "docs".to_owned(), rename, false).await.unwrap();
        assert_eq!(renamed.object.thread_generation, 2);
        assert!(renamed.changed.contains(&"name".to_owned()));
        assert_eq!(store.agent_by("Manual".to_owned()).await.unwrap().id, world.agent_id());
        world.agent("docs").await;
        let taken = UpdateAgent { name: Some("DOCS".to_owned()), ..Default::default() };
        assert_eq!(
            code(store.update_agent(world.act(), "manual".to_owned(), taken, false).await),
            Code::AlreadyExists
        );
        let listed = store.list_agents(query::Agents::default(), world.now()).await.unwrap().items;
        assert_eq!(listed.iter().map(|a| a.agent.name.as_str()).collect::<Vec<_>>(), ["docs", "manual"]);
        let detail = store.agent_detail("manual".to_owned(), world.now()).await.unwrap();
        assert_eq!(detail.addresses.len(), 1);
    });
}

#[test]
fn retention_removes_closed_history_and_no_open_work() {
    both(async |world: &World| {
        world.channel("C1").await;
        let closed = world.queued("C1", "170.1").await;
        let open = world.queued("C1", "170.2").await;
        let store = world.store();
        store.no_reply(world.act(), closed.clone(), NoReply::default()).await.unwrap();
        world.take(world.mention("EvR", "C9", "170.9")).await;
        world.pass_ms(400 * 86_400_000);
        while store.apply_retention(world.act(), Retention::default()).await.unwrap().total() > 0 {}
        assert_eq!(code(store.inbox_item(closed).await), Code::NotFound);
        assert_eq!(store.inbox_item(open.clone()).await.unwrap().id, open);
        assert_eq!((world.count("messages").await, world.count("event_keys").await), (1, 0));
        let (oldest, newest) = store.feed_range().await.unwrap();
        assert!(oldest > 0 && newest > oldest);
        let changes =
            store.changes_since(oldest, vec!["inbox.changed".to_owned()], Some(world.agent_id()), 100);
        assert!(changes.await.unwrap().iter().all(|c| c.kind == "inbox.changed" && c.seq > oldest));
        let stats = store.stats().await.unwrap();
        assert_eq!(stats.inbox, [("queued".to_owned(), 1)]);
    });
}

#[test]
fn retention_removes_marks_of_queues_that_nobody_remembers() {
    both(async |world: &World| {
        world.channel("C1").await;
        let served = world.queued("C1", "170.1").await;
        let fence = world.agent_fence().await;
        let turn = world.claim(fence).await.unwrap().turn.id;
        let store = world.store();
        store.finish_turn(world.act(), turn, fence, TurnEnd::NeverAccepted).await.unwrap();
        store.no_reply(world.act(), served, NoReply::default()).await.unwrap();
        let marks = world.count("queue_marks").await;
        let later = world.queued("C1", "170.2").await;
        while store.apply_retention(world.act(), Retention::default()).await.unwrap().total() > 0 {}
        assert_eq!((marks, world.count("queue_marks").await), (2, 2), "the item that was served is there");
        world.pass_ms(400 * 86_400_000);
        while store.apply_retention(world.act(), Retention::default()).await.unwrap().total() > 0 {}
        assert_eq!(world.count("queue_marks").await, 0);
        assert_eq!(store.inbox_item(later.clone()).await.unwrap().id, later);
    });
}
