use super::offers::{backlog, offer};
use super::*;
use crate::pr_review::input::HandledInput;

const NOW: Timestamp = Timestamp(1_800_000_000_000);
const MINUTE: i64 = 60_000;

fn key(number: u64, head: &str) -> String {
    format!("github.com/acme/tool#{number}@{}", head.repeat(40))
}

fn seen(number: u64, head: &str) -> Seen {
    let facts = Facts {
        head: Some(head.repeat(40)),
        state: Some("open".to_owned()),
        base: Some("main".to_owned()),
        checks: Some("passing".to_owned()),
        review: Some("none".to_owned()),
        mergeable: Some("yes".to_owned()),
        ..Facts::default()
    };
    Seen { number, key: key(number, head), is_own: false, asks_rework: false, facts }
}

fn queue() -> State {
    State::new("github.com/acme/tool")
}

fn offered(state: &mut State, now: Timestamp) -> Vec<(String, &'static str)> {
    let offers = offer(std::slice::from_mut(state), 1, now);
    offers.into_iter().map(|one| (one.key, one.lane.as_str())).collect()
}

fn answer(state: &mut State, number: u64, head: &str, outcome: Outcome, now: Timestamp) -> Receipt {
    let offer = state.heads[&number].offer.as_ref().unwrap().id.clone();
    let input = HandledInput { key: key(number, head), offer, outcome, evidence: None, state_file: None };
    handled(state, &input, &key(number, head), "owner", now).unwrap()
}

/// CAP-091: the oldest ready head first; one that was offered goes behind those that were not; drafts wait.
#[test]
fn cap_091_the_oldest_ready_head_is_next_and_an_offered_one_goes_behind() {
    let mut state = queue();
    state.observe(&[seen(9, "a")], NOW);
    let draft = Seen { facts: Facts { draft: true, ..seen(3, "a").facts }, ..seen(3, "a") };
    let own = Seen { is_own: true, ..seen(2, "a") };
    let later = NOW.plus_ms(MINUTE);
    state.observe(&[own.clone(), draft, seen(5, "a"), seen(9, "a")], later);
    let turns: Vec<_> = (0..4).flat_map(|n| offered(&mut state, later.plus_ms(n))).collect();
    let expected = [(9, "community"), (5, "community"), (9, "community"), (5, "community")];
    assert_eq!(turns, expected.map(|(number, lane)| (key(number, "a"), lane)));
    answer(&mut state, 9, "a", Outcome::Approved, later);
    answer(&mut state, 5, "a", Outcome::Skipped, later);
    assert_eq!(offered(&mut state, later), [(key(2, "a"), "own")]);
    let hour = later.plus_ms(60 * MINUTE);
    state.observe(&[own, seen(3, "a"), seen(5, "a"), seen(9, "a")], hour);
    assert_eq!(state.heads[&3].ready_since, hour, "it is ready since its draft ended");
    let waiting = backlog(std::slice::from_ref(&state), hour.plus_ms(5_000));
    assert_eq!((waiting.unhandled, waiting.oldest_age_seconds, waiting.next_poll_seconds), (2, 3_605, 180));
    assert_eq!(backlog(&[queue()], NOW).next_poll_seconds, 900);
}

/// CAP-091: a new head after a request for changes has one fast slot.
#[test]
fn cap_091_a_new_head_after_changes_were_requested_goes_first_once() {
    let mut state = queue();
    state.observe(&[seen(1, "a"), seen(2, "a")], NOW);
    assert_eq!(offered(&mut state, NOW), [(key(1, "a"), "community")]);
    answer(&mut state, 1, "a", Outcome::ChangesRequested, NOW);
    let later = NOW.plus_ms(MINUTE);
    state.observe(&[seen(1, "b"), seen(2, "a")], later);
    assert_eq!(offered(&mut state, later), [(key(1, "b"), "rework")]);
    assert_eq!(offered(&mut state, later), [(key(2, "a"), "community")]);
    let asked = Seen { asks_rework: true, ..seen(7, "a") };
    state.observe(&[seen(1, "b"), seen(2, "a"), asked], later);
    assert_eq!(offered(&mut state, later), [(key(7, "a"), "rework")]);
}

/// CAP-092: only the offer of the exact head can be answered; a push opens it again; receipts end after 90 days.
#[test]
fn cap_092_an_answer_needs_the_offer_and_the_head() {
    let mut state = queue();
    state.observe(&[seen(1, "a")], NOW);
    offered(&mut state, NOW);
    let offer = state.heads[&1].offer.as_ref().unwrap().id.clone();
    let input = |key: String, offer: &str, outcome| HandledInput {
        key,
        offer: offer.to_owned(),
        outcome,
        evidence: None,
        state_file: None,
    };
    let current = key(1, "a");
    for (wrong, at, pointer) in [
        (input(key(1, "b"), &offer, Outcome::Approved), &current, "/key"),
        (input(current.clone(), "other", Outcome::Approved), &current, "/offer"),
        (input(current.clone(), &offer, Outcome::Approved), &key(1, "b"), "/key"),
    ] {
        let error = handled(&mut state, &wrong, at, "owner", NOW).unwrap_err();
        assert_eq!((error.code.as_str(), error.detail["pointer"].as_str()), ("invalid_input", Some(pointer)));
    }
    assert!(state.receipts.is_empty());
    let good = input(current.clone(), &offer, Outcome::Commented);
    let receipt = handled(&mut state, &good, &current, "owner", NOW).unwrap();
    assert_eq!(handled(&mut state, &good, &current, "owner", NOW.plus_ms(5)).unwrap(), receipt);
    let other = input(current.clone(), &offer, Outcome::Approved);
    assert!(handled(&mut state, &other, &current, "owner", NOW).is_err());
    assert_eq!((state.receipts.len(), offered(&mut state, NOW).len()), (1, 0));
    state.observe(&[seen(1, "b")], NOW.plus_ms(MINUTE));
    assert_eq!(offered(&mut state, NOW.plus_ms(MINUTE)), [(key(1, "b"), "community")]);
    state.observe(&[seen(1, "b")], NOW.plus_ms(RECEIPT_MS + 1));
    assert!(state.receipts.is_empty());
}

/// CAP-092: of two who read the same state one is told so, and no receipt is lost.
#[test]
fn cap_092_the_second_of_two_writers_starts_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("queue.json");
    let (mut one, mut two) = (QueueFile::at(&path), QueueFile::at(&path));
    let (mut first, second) =
        (one.read("github.com/acme/tool").unwrap(), two.read("github.com/acme/tool").unwrap());
    first.observe(&[seen(1, "a")], NOW);
    offered(&mut first, NOW);
    answer(&mut first, 1, "a", Outcome::Approved, NOW);
    one.replace(&first).unwrap();
    let error = two.replace(&second).unwrap_err();
    assert_eq!(error.code.as_str(), "version_conflict");
    let kept = QueueFile::at(&path).read("github.com/acme/tool").unwrap();
    assert_eq!(kept.receipts, first.receipts);
    assert!(QueueFile::at(&path).read("github.com/acme/other").is_err());
    std::fs::write(&path, "{").unwrap();
    assert_eq!(
        QueueFile::at(&path).read("github.com/acme/tool").unwrap_err().code.as_str(),
        "integrity_error"
    );
}

/// CAP-095: only material members count as a change.
#[test]
fn cap_095_only_material_members_count() {
    let mut state = queue();
    assert_eq!(state.observe(&[seen(1, "a")], NOW).added, [key(1, "a")]);
    assert!(state.observe(&[seen(1, "a")], NOW).is_empty());
    let changed = Seen {
        facts: Facts { base: Some("next".into()), checks: None, ..seen(1, "a").facts },
        ..seen(1, "a")
    };
    assert_eq!(state.observe(&[changed], NOW).changed, [(key(1, "a"), vec!["base", "checks"])]);
    assert_eq!(state.observe(&[], NOW).removed, [key(1, "a")]);
}
