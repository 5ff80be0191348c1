//! The owner's desk: Thread input, Notices, tokens, files, switches.

use loom_api::query;
use loom_domain::{
    Code, Principal, TokenId,
    artifact::Direction,
    inbox::State,
    message::{Attachment, AttachmentStatus, EventKind, InboundEvent},
    reason::EventReason,
};

use super::{both, world::World};
use crate::ops::{artifacts::NewArtifact, inbox::ThreadText, tokens::Token};

fn text(text: &str) -> ThreadText {
    ThreadText { text: text.to_owned(), files: Vec::new(), id: None }
}

/// A program that came with a message, not fetched yet.
fn program() -> Attachment {
    Attachment {
        reference: "F1".to_owned(),
        name: "run.exe".to_owned(),
        mime_type: None,
        size: Some(3),
        status: AttachmentStatus::Pending,
        reason: None,
        artifact_id: None,
        sha256: None,
    }
}

/// The same, fetched and held.
fn quarantined() -> NewArtifact {
    NewArtifact {
        sha256: "a".repeat(64),
        size: 3,
        mime_type: "application/octet-stream".to_owned(),
        declared_mime: None,
        name: "run.exe".to_owned(),
        direction: Direction::In,
        status: AttachmentStatus::Quarantined,
    }
}

#[test]
fn owner_input_is_a_turn_without_a_platform_reply() {
    both(async |world: &World| {
        let store = world.store();
        let empty = store.thread_input(world.act(), "docs".to_owned(), text(" ")).await.unwrap_err();
        assert_eq!(empty.code, Code::MissingField);
        let item = store.thread_input(world.act(), "docs".to_owned(), text("look")).await.unwrap();
        let fence = world.agent_fence().await;
        let claimed = world.claim(fence).await.unwrap();
        assert_eq!(
            (claimed.item.id.clone(), claimed.message.content.text.as_str()),
            (item.id.clone(), "look")
        );
        store.finish_turn(world.act(), claimed.turn.id, fence, World::answer("seen")).await.unwrap();
        assert_eq!((world.state(&item.id).await, world.count("outbox").await), (State::Handled, 0));
        let turns =
            store.turns_of(Principal::Owner, "docs".to_owned(), query::Paging::default()).await.unwrap();
        assert_eq!(turns.items[0].turn.answer.as_deref(), Some("seen"));
        assert_eq!(turns.items[0].origin.as_deref(), Some("owner"));
        let agent = world.act_as(Principal::Agent(world.agent_id()));
        let denied = store.thread_input(agent, "docs".to_owned(), text("x")).await.unwrap_err();
        assert_eq!(denied.code, Code::Forbidden);
    });
}

#[test]
fn msg_099_a_switched_off_address_or_connection_refuses_and_tells_what_waits() {
    both(async |world: &World| {
        world.channel("C1").await;
        world.queued("C1", "170.1").await;
        let (store, address, connection) = (world.store(), world.address_id(), world.connection_id());
        let off = store.set_address_enabled(world.act(), address.clone(), false, None, false).await.unwrap();
        assert_eq!(off.warnings, ["1 inbox items blocked: address_disabled"]);
        assert_eq!(
            world.take(world.mention("Ev2", "C1", "170.2")).await.reason,
            EventReason::AddressDisabled
        );
        store.set_address_enabled(world.act(), address, true, None, false).await.unwrap();
        let off =
            store.set_connection_enabled(world.act(), connection.clone(), false, None, false).await.unwrap();
        assert_eq!(off.warnings, ["1 inbox items blocked: connection_disabled"]);
        assert_eq!(
            world.take(world.mention("Ev3", "C1", "170.3")).await.reason,
            EventReason::ConnectionDisabled
        );
        store.set_connection_enabled(world.act(), connection, true, None, false).await.unwrap();
        world.queued("C1", "170.4").await;
        assert_eq!(world.count("inbox").await, 2, "nothing refused comes back by itself");
    });
}

#[test]
fn a_notice_is_told_once_until_it_is_acknowledged() {
    both(async |world: &World| {
        let store = world.store();
        let tell = || {
            store.tell(world.act(), "disk".to_owned(), "n1".to_owned(), "disk 4 %".to_owned(), String::new())
        };
        tell().await.unwrap();
        tell().await.unwrap();
        let open = store.list_notices(query::Notices::default()).await.unwrap().items;
        assert_eq!(open.len(), 1);
        store.ack_notice(world.act(), open[0].id.clone()).await.unwrap();
        tell().await.unwrap();
        let all =
            store.list_notices(query::Notices { all: Some(true), ..Default::default() }).await.unwrap().items;
        assert_eq!(all.len(), 2);
    });
}

#[test]
fn a_revoked_token_counts_no_more() {
    both(async |world: &World| {
        let store = world.store();
        let token = Token {
            id: TokenId::new(1, 7),
            seq: 0,
            kind: "viewer".to_owned(),
            subject: "desk".to_owned(),
            sha256: "0".repeat(64),
            scopes: vec![],
            created_at: world.now(),
            expires_at: Some(world.now().plus_ms(60_000)),
            revoked_at: None,
        };
        let stored = store.put_token(world.act(), token.clone()).await.unwrap();
        assert!(stored.is_live(world.now()) && !stored.is_live(world.now().plus_ms(60_000)));
        assert_eq!(store.put_token(world.act(), token).await.unwrap_err().code, Code::AlreadyExists);
        store.revoke_token(world.act(), stored.id.clone()).await.unwrap();
        assert!(!store.token(stored.id).await.unwrap().unwrap().is_live(world.now()));
        assert!(store.tokens_of("desk".to_owned(), false).await.unwrap().is_empty());
    });
}

#[test]
fn msg_114_a_quarantined_file_of_an_edited_message_can_be_let_through() {
    both(async |world: &World| {
        world.channel("C1").await;
        let event = world.mention("Ev1", "C1", "170.1");
        let id = world.take(event.clone()).await.item_id.unwrap();
        let store = world.store();
        let item = store.inbox_item(id.clone()).await.unwrap();
        let artifact = store.put_artifact(world.act(), quarantined()).await.unwrap();
        let mut edit = InboundEvent { kind: EventKind::Edit, ..event };
        edit.event_id = "Ev2".to_owned();
        edit.target_message_id = Some("170.1".to_owned());
        edit.content.text.push_str(" with a file");
        world.take(edit).await;
        let held = Attachment {
            status: AttachmentStatus::Quarantined,
            artifact_id: Some(artifact.id.clone()),
            ..program()
        };
        let message = store.set_attachments(world.act(), item.message_id, vec![held]).await.unwrap();
        assert!(message.content.attachments.is_empty(), "the file is of the edit");
        let released = store.release_attachment(world.act(), id, artifact.id).await.unwrap();
        assert_eq!(released.current().attachments[0].status, AttachmentStatus::Ready);
    });
}

#[test]
fn msg_114_a_quarantined_file_waits_for_the_owner_and_kept_files_stay() {
    both(async |world: &World| {
        world.channel("C1").await;
        let mut event = world.mention("Ev1", "C1", "170.1");
        let mut file = program();
        event.content.attachments.push(file.clone());
        let id = world.take(event).await.item_id.unwrap();
        let store = world.store();
        let waiting = store.items_with_pending_files().await.unwrap();
        assert_eq!(waiting[0].0.id, id);
        let new = quarantined();
        let artifact = store.put_artifact(world.act(), new.clone()).await.unwrap();
        file.status = AttachmentStatus::Quarantined;
        file.artifact_id = Some(artifact.id.clone());
        let message = waiting[0].1.id.clone();
        store.set_attachments(world.act(), message, vec![file]).await.unwrap();
        assert!(store.items_with_pending_files().await.unwrap().is_empty());
        let agent = world.act_as(Principal::Agent(world.agent_id()));
        let denied = store.release_attachment(agent, id.clone(), artifact.id.clone()).await.unwrap_err();
        assert_eq!(denied.code, Code::Forbidden);
        let released = store.release_attachment(world.act(), id, artifact.id.clone()).await.unwrap();
        assert_eq!(released.content.attachments[0].status, AttachmentStatus::Ready);
        assert!(!store.delete_artifact(world.act(), artifact.id).await.unwrap(), "a message refers to it");
        let loose = store.put_artifact(world.act(), new).await.unwrap();
        let old = store.unreferenced_artifacts(world.now().plus_ms(1)).await.unwrap();
        assert_eq!(old.iter().map(|a| &a.id).collect::<Vec<_>>(), [&loose.id]);
        assert!(
            !store.delete_artifact(world.act(), loose.id.clone()).await.unwrap(),
            "another record names the bytes"
        );
        assert_eq!(store.artifact(loose.id).await.unwrap_err().code, Code::NotFound);
    });
}
