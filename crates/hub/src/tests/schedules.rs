//! Schedules of a running hub: what was missed, what was cut off, and what is refused.

use loom_api::query::Memberships;
use loom_api::request::AddSchedule;
use loom_api::view::ScheduleEntry;
use loom_domain::schedule::{Kind, Occurrence, Outcome, Schedule, Slot, Task};
use loom_domain::{Code, Principal, Timestamp};
use loom_store::ops::schedules::Take;
use loom_store::{Act, Store, StoreConfig};
use serde_json::json;

use super::house::{House, until};
use crate::reports::Shelf;

const ECHO: &str = "cat >/dev/null; echo done";
const DAY_S: i64 = 86_400;

fn daily(name: &str) -> AddSchedule {
    AddSchedule {
        name: name.to_owned(),
        cron: "@daily".to_owned(),
        tz: "UTC".to_owned(),
        enabled: true,
        ..AddSchedule::default()
    }
}

fn of_report(name: &str) -> AddSchedule {
    AddSchedule { profile: Some("daily".to_owned()), window: Some("yesterday".to_owned()), ..daily(name) }
}

fn of_turn(name: &str) -> AddSchedule {
    AddSchedule { config: Some(json!({"connectors": [{"connector": "github_public_probe"}]})), ..daily(name) }
}

async fn add(house: &House, kind: Kind, asked: AddSchedule) -> Schedule {
    house.hub().add_schedule(Principal::Owner, kind, asked, false).await.unwrap().object
}

/// The scheduler sleeps by the monotonic clock, which a test does not push; a change wakes it.
async fn pass_days(house: &House, days_and_a_half: i64, waker: &str) {
    house.pass_s(days_and_a_half * DAY_S + DAY_S / 2);
    house.agent(waker, ECHO).await;
}

async fn ended(house: &House, kind: Kind, name: &str) -> ScheduleEntry {
    until(&format!("an end of {name}"), || async {
        let entry = house.hub().schedule_entry(kind, name.to_owned()).await.unwrap();
        let newest = entry.occurrences.first()?.outcome;
        (newest != Outcome::Started).then_some(entry)
    })
    .await
}

fn told(entry: &ScheduleEntry) -> Vec<(&str, Outcome, Option<&str>)> {
    entry
        .occurrences
        .iter()
        .map(|one| (one.local.as_str(), one.outcome, one.work.reason.as_deref()))
        .collect()
}

/// Takes the first time after now for a node that dies before its work.
async fn taken_by(house: &House, node: &str, schedule: &Schedule) -> Occurrence {
    let settings = StoreConfig::new(house.path("home"), node);
    let opened = tokio::task::spawn_blocking(move || Store::open(settings, Timestamp(0))).await.unwrap();
    let store = opened.unwrap();
    let due = Slot { local: "2027-01-15T08:01".to_owned(), at: house.now().plus_ms(1) };
    let take = Take { schedule: schedule.name.clone(), version: schedule.version, due, missed: Vec::new() };
    let act = Act { principal: Principal::Hub, ..house.act() };
    store.take_occurrence(act, take).await.unwrap().unwrap()
}

async fn stored(house: &House, name: &str, task: Task) -> Schedule {
    let zero = Timestamp(0);
    let schedule = Schedule {
        name: name.to_owned(),
        seq: 0,
        cron: "@daily".to_owned(),
        tz: "UTC".to_owned(),
        enabled: true,
        task,
        seen_until: zero,
        created_at: zero,
        updated_at: zero,
        version: 1,
    };
    house.store().add_schedule(house.act(), schedule, Vec::new(), false).await.unwrap().object
}

/// CAP-134: of the times that nobody was there for, the newest is made up for and the others are listed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cap_134_only_the_newest_missed_time_is_made_up_for() {
    let house = House::up().await;
    add(&house, Kind::Report, of_report("nightly")).await;
    pass_days(&house, 3, "one").await;
    let entry = ended(&house, Kind::Report, "nightly").await;
    let wanted = [
        ("2027-01-18T00:00", Outcome::Done, None),
        ("2027-01-17T00:00", Outcome::Skipped, Some("missed")),
        ("2027-01-16T00:00", Outcome::Skipped, Some("missed")),
    ];
    assert_eq!(told(&entry), wanted);
    let next: Vec<&str> = entry.next.iter().map(|slot| slot.local.as_str()).collect();
    assert_eq!(next, ["2027-01-19T00:00", "2027-01-20T00:00", "2027-01-21T00:00"]);
    let reports = Shelf::new(house.hub().home()).list().unwrap();
    assert_eq!(reports.len(), 1);
    assert_eq!(entry.occurrences[0].work.report_id.as_deref(), Some(reports[0].report_id.as_str()));
    assert_eq!(
        reports[0].end.to_string(),
        "2027-01-18T00:00:00.000Z",
        "its window is told from when it was due"
    );
    house.end().await;
}

/// P-10, CAP-135: a clock that goes back makes nothing twice.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn p_10_cap_135_a_clock_that_goes_back_repeats_nothing() {
    let house = House::up().await;
    add(&house, Kind::Report, of_report("nightly")).await;
    pass_days(&house, 1, "one").await;
    ended(&house, Kind::Report, "nightly").await;
    house.pass_s(-DAY_S);
    house.agent("two", ECHO).await;
    house.pass_s(2 * DAY_S);
    house.agent("three", ECHO).await;
    let entry = until("the next day", || async {
        let entry = house.hub().schedule_entry(Kind::Report, "nightly".to_owned()).await.unwrap();
        (entry.occurrences.first()?.local == "2027-01-17T00:00").then_some(entry)
    })
    .await;
    assert_eq!(entry.occurrences.len(), 2, "{:?}", told(&entry));
    house.end().await;
}

/// CAP-135: each Membership gets the report once; one that takes none is told, and the others still get it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cap_135_a_refused_membership_is_a_failure_with_its_reason() {
    let house = House::up().await;
    let (platform, _, address) = house.furnish(ECHO, &[]).await;
    let good = house.channel(&address, "C1").await;
    house.allow_dm(&address, "D1").await;
    let all = house.store().list_memberships(Principal::Owner, Memberships::default()).await.unwrap().items;
    let shy = all.into_iter().find(|one| one.conversation_id == "D1").unwrap().id;
    let asked = AddSchedule { to: vec![shy.to_string(), good.to_string()], ..of_report("nightly") };
    let added = house.hub().add_schedule(Principal::Owner, Kind::Report, asked, false).await.unwrap();
    assert_eq!(added.warnings.len(), 1, "{:?}", added.warnings);
    pass_days(&house, 1, "one").await;
    let entry = ended(&house, Kind::Report, "nightly").await;
    let newest = &entry.occurrences[0];
    assert_eq!(newest.outcome, Outcome::Failed);
    assert_eq!(newest.work.reason.as_deref(), Some("proactive_not_allowed"));
    assert!(newest.work.message.as_deref().unwrap().contains(shy.as_str()));
    assert_eq!(newest.work.deliveries.len(), 1);
    assert_eq!(newest.work.deliveries[0].membership_id, good);
    assert_eq!(house.notices("schedule_failed").await.len(), 1);
    drop(platform);
    house.end().await;
}

/// CAP-135, CAP-128: what was taken and not done is done at the next start, once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cap_135_cap_128_what_was_cut_off_is_done_at_the_next_start() {
    let mut house = House::prepare().await;
    let to = Vec::new();
    let report = Task::Report {
        profile: "daily".to_owned(),
        window: "yesterday".to_owned(),
        lang: "en".to_owned(),
        formats: vec!["html".to_owned()],
        to,
    };
    let config = of_turn("x").config.unwrap();
    let (report, turn) =
        (stored(&house, "report", report).await, stored(&house, "turn", Task::Turn { config }).await);
    taken_by(&house, "nod_test", &report).await;
    taken_by(&house, "nod_test", &turn).await;
    house.start();
    let entry = ended(&house, Kind::Report, "report").await;
    assert_eq!(told(&entry), [("2027-01-15T08:01", Outcome::Done, None)]);
    assert_eq!(Shelf::new(house.hub().home()).list().unwrap().len(), 1);
    let entry = ended(&house, Kind::Turn, "turn").await;
    assert_eq!(told(&entry), [("2027-01-15T08:01", Outcome::Done, None)]);
    assert_eq!(house.hub().list_turns(10).await.unwrap().len(), 1);
    house.end().await;
}

/// CAP-128: the Turn that another node began is not begun again here.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cap_128_a_turn_of_another_node_is_told_as_interrupted() {
    let mut house = House::prepare().await;
    let turn = stored(&house, "turn", Task::Turn { config: of_turn("x").config.unwrap() }).await;
    taken_by(&house, "nod_gone", &turn).await;
    house.start();
    let entry = ended(&house, Kind::Turn, "turn").await;
    assert_eq!(told(&entry), [("2027-01-15T08:01", Outcome::Failed, Some("interrupted"))]);
    assert!(house.hub().list_turns(10).await.unwrap().is_empty());
    house.end().await;
}

/// CAP-128: a schedule starts a Turn.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cap_128_a_schedule_runs_a_turn_once_a_time() {
    let house = House::up().await;
    add(&house, Kind::Turn, of_turn("probe")).await;
    pass_days(&house, 1, "one").await;
    let entry = ended(&house, Kind::Turn, "probe").await;
    assert_eq!(told(&entry), [("2027-01-16T00:00", Outcome::Done, None)]);
    let turns = house.hub().list_turns(10).await.unwrap();
    assert_eq!(turns.len(), 1);
    assert_eq!(entry.occurrences[0].work.turn_id.as_deref(), Some(turns[0].turn_id.as_str()));
    pass_days(&house, 1, "two").await;
    until("a second Turn", || async { (house.hub().list_turns(10).await.unwrap().len() == 2).then_some(()) })
        .await;
    house.end().await;
}

/// CAP-134: what a schedule names is looked at before it is stored.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cap_134_what_is_wrong_is_refused_and_nothing_stored() {
    let house = House::up().await;
    let gone = "mem_01arz3ndektsv4rrffq69g5fav";
    let text = |text: &str| Some(text.to_owned());
    let reports = [
        (AddSchedule { cron: "61 * * * *".to_owned(), ..of_report("a") }, Code::InvalidArgument),
        (AddSchedule { cron: "0 0 30 2 *".to_owned(), ..of_report("a") }, Code::InvalidArgument),
        (AddSchedule { tz: "Mars/Base".to_owned(), ..of_report("a") }, Code::InvalidArgument),
        (AddSchedule { name: "A".to_owned(), ..of_report("a") }, Code::InvalidArgument),
        (AddSchedule { window: text("soon"), ..of_report("a") }, Code::InvalidArgument),
        (AddSchedule { window: text("2026-01-01..2026-01-02"), ..of_report("a") }, Code::InvalidArgument),
        // At midnight nothing of the day has been.
        (AddSchedule { window: text("today"), ..of_report("a") }, Code::InvalidArgument),
        (AddSchedule { profile: text("none-such"), ..of_report("a") }, Code::InvalidArgument),
        (AddSchedule { lang: text("xx"), ..of_report("a") }, Code::InvalidArgument),
        (AddSchedule { formats: vec!["pdf".to_owned()], ..of_report("a") }, Code::InvalidArgument),
        (AddSchedule { to: vec![gone.to_owned()], ..of_report("a") }, Code::NotFound),
        (AddSchedule { config: Some(json!({})), ..of_report("a") }, Code::InvalidArgument),
    ];
    let config = |config| AddSchedule { config, ..daily("a") };
    let keyed = json!({"connectors": [{"connector": "github_public_probe"}], "turn_key": "k"});
    let turns = [
        (config(None), Code::MissingField),
        (config(Some(json!({}))), Code::InvalidInput),
        (config(Some(json!({"connectors": [{"connector": "none_such"}]}))), Code::ConnectorNotFound),
        (config(Some(keyed)), Code::InvalidInput),
        (AddSchedule { window: text("yesterday"), ..of_turn("a") }, Code::InvalidArgument),
    ];
    let reports = reports.into_iter().map(|(asked, code)| (Kind::Report, asked, code));
    for (kind, asked, code) in reports.chain(turns.into_iter().map(|(asked, code)| (Kind::Turn, asked, code)))
    {
        let shown = format!("{asked:?}");
        let refused = house.hub().add_schedule(Principal::Owner, kind, asked, false).await.unwrap_err();
        assert_eq!(refused.code, code, "{shown}: {refused}");
        assert!(refused.hint.is_some(), "{shown}: {refused}");
    }
    let agent = Principal::Viewer;
    let refused = house.hub().add_schedule(agent, Kind::Report, of_report("a"), false).await.unwrap_err();
    assert_eq!(refused.code, Code::Forbidden);
    assert!(house.store().schedules(Kind::Report).await.unwrap().is_empty());
    assert!(house.store().schedules(Kind::Turn).await.unwrap().is_empty());
    house.end().await;
}
