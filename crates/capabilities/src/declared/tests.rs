use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;

use loom_transport::MockBackend;
use loom_transport::backend::mock::{Answer, Expectation};
use serde_json::json;

use super::*;
use crate::{Catalog, NoObserver, Payload, RunLimits, RunSettings, World};

const EXAMPLE: &str = include_str!("../../../../docs/examples/status_incidents.yaml");

/// A map with one operation `probe`, to be changed.
#[expect(clippy::needless_pass_by_value, reason = "tests read better with literals")]
fn small(request: Value, extra: Value) -> Value {
    let mut operation = json!({
        "id": "probe", "effect": "read", "request": request, "fields": {"id": {"type": "string", "required": true}},
    });
    let members = operation.as_object_mut().unwrap();
    members.extend(extra.as_object().unwrap().clone());
    json!({
        "schema_version": "loom.source_map/v1", "id": "small_map", "version": "1.0.0", "title": "Small",
        "boundary": "public_content", "egress": {"hosts": [{"host": "api.small.example", "methods": ["GET", "POST"]}]},
        "inputs": {"type": "object", "additionalProperties": false, "properties": {
            "q": {"type": "string", "maxLength": 100}, "n": {"type": "integer", "default": 3},
        }},
        "operations": [operation],
        "tests": [{"name": "t", "operation": "probe", "input": {"q": "x"},
            "exchanges": [{"request": {"path": "/v1"}, "response": {"status": 200, "json": {"id": "a"}}}],
            "expect": {"ok": true}}],
    })
}

fn plain() -> Value {
    json!({"method": "GET", "url": "https://api.small.example/v1", "query": {"q": "{q?}"}})
}

fn faults(map: &Value) -> Vec<Fault> {
    validate(&serde_json::to_string_pretty(map).unwrap()).errors
}

async fn run_with(map: &Value, backend: &Arc<MockBackend>, request: RunRequest) -> Result<Payload> {
    let connector = parse(&map.to_string()).unwrap().unpaced();
    let mut world = World::over(backend.clone());
    world.key = Arc::new(|| Ok([7; 32]));
    crate::run(&world, &connector, request, None, &mut NoObserver).await
}

async fn run(map: &Value, backend: &Arc<MockBackend>, input: Value) -> Payload {
    let request = RunRequest { input, ..RunRequest::default() };
    run_with(map, backend, request).await.unwrap()
}

fn answers(answer: Answer) -> Arc<MockBackend> {
    let backend = MockBackend::new();
    backend.expect(Expectation::new("GET").host("api.small.example").answer(answer));
    Arc::new(backend)
}

fn code(payload: &Payload) -> Option<&'static str> {
    payload.error.as_ref().map(|error| error.code.as_str())
}

/// CAP-121: the complete example validates, and its tests pass.
#[tokio::test]
async fn cap_121_the_example_validates_and_passes() {
    let validation = validate(EXAMPLE);
    assert_eq!(validation.errors, []);
    assert_eq!(
        (validation.id.as_deref(), validation.operations, validation.tests),
        (Some("status_incidents"), vec!["probe".to_owned(), "incidents".to_owned()], 2)
    );
    for result in run_tests(EXAMPLE, None).await.unwrap() {
        assert!(result.ok, "{result:?}");
    }
    let one = run_tests(EXAMPLE, Some("refused credential")).await.unwrap();
    assert_eq!(one.len(), 1);
    assert_eq!(run_tests(EXAMPLE, Some("no such")).await.unwrap_err().code, Code::NotFound);
}

/// The map of the guide is one that a newcomer can add.
#[tokio::test]
async fn the_map_of_the_guide_passes() {
    let guide = include_str!("../../../../docs/connectors.md");
    let block = guide.split("   ```yaml\n").nth(1).unwrap().split("   ```\n").next().unwrap();
    let map: Vec<&str> = block.lines().map(|line| line.strip_prefix("   ").unwrap_or(line)).collect();
    let home = tempfile::tempdir().unwrap();
    let added = InstalledMaps::new(home.path()).add(&map.join("\n")).await.unwrap();
    assert_eq!((added.id.as_str(), added.tests.len()), ("weather_now", 1));
}

/// CAP-121: what is missing is told with its line and pointer.
#[test]
fn cap_121_what_is_missing_is_told_with_its_place() {
    let line_of = |needle: &str| EXAMPLE.lines().position(|line| line.contains(needle)).unwrap() as u64 + 1;
    let without_field: Vec<_> = EXAMPLE.lines().filter(|line| !line.contains("impact: {type")).collect();
    let fault = &validate(&without_field.join("\n")).errors[0];
    assert_eq!((fault.code, fault.pointer.as_str()), ("fields", "/tests/0/expect/items/0/impact"));
    assert_eq!(fault.line, line_of("dropped_fields: 2") - 1);

    let other_host = EXAMPLE.replace("{host: api.status.example,", "{host: api.other.example,");
    let found = validate(&other_host).errors;
    let pointers: Vec<_> =
        found.iter().map(|fault| (fault.pointer.as_str(), fault.code, fault.line)).collect();
    assert!(
        pointers.contains(&("/operations/0/request/url", "host", line_of("/v1/pages/{page}\"}"))),
        "{pointers:?}"
    );
    assert!(
        pointers.contains(&("/credentials/0/hosts/0", "host", line_of("name: status, field"))),
        "{pointers:?}"
    );

    let without_test = EXAMPLE.split("  - name: refused credential").next().unwrap();
    let fault = &validate(without_test).errors[0];
    assert_eq!(
        (fault.code, fault.pointer.as_str(), fault.line),
        ("test", "/operations/0", line_of("- id: probe"))
    );

    let misspelt = EXAMPLE.replace("pagination:", "paginaton:");
    let fault = &validate(&misspelt).errors[0];
    assert_eq!((fault.code, fault.pointer.as_str()), ("unknown_key", "/operations/1/paginaton"));
    assert!(fault.message.contains("did you mean pagination?"), "{}", fault.message);
    assert_eq!(fault.line, line_of("pagination:"));
    assert_eq!(parse(&misspelt).unwrap_err().code, Code::InvalidInput);
}

/// CAP-018, CAP-019 for source maps: YAML that acts, size, and secrets are refused.
#[test]
fn cap_018_source_maps_are_plain_documents() {
    for text in [
        EXAMPLE.replace("title: Inc", "title: &a Inc"),
        EXAMPLE.replace("title: Inc", "title: !x Inc"),
        format!("{EXAMPLE}id: again\n"),
        format!("{EXAMPLE}#{}", "x".repeat(256 * 1024)),
        "[".repeat(5_000),
        String::new(),
    ] {
        let errors = validate(&text).errors;
        assert!(!errors.is_empty() && errors[0].line >= 1, "{}", text.len());
    }
    let secret = EXAMPLE.replace("Incidents of", &format!("ghp_{}", "a1B2".repeat(9)));
    let error = parse(&secret).unwrap_err();
    assert_eq!(error.code, Code::SecretInInput);
    assert!(!serde_json::to_string(&error).unwrap().contains("a1B2a1B2"));
}

#[test]
fn hostile_maps_are_refused() {
    let with = |pointer: &str, value: Value| {
        let mut map = small(plain(), json!({}));
        let (around, key) = pointer.rsplit_once('/').unwrap();
        map.pointer_mut(around).unwrap()[key] = value;
        faults(&map).first().map(|fault| (fault.code, fault.pointer.clone()))
    };
    assert_eq!(faults(&small(plain(), json!({}))), []);
    let url = "/operations/0/request/url";
    for (pointer, value, code) in [
        (url, json!("https://evil.example/"), "host"),
        (url, json!("https://{q}/"), "url"),
        (url, json!("http://api.small.example/"), "url"),
        (url, json!("https://api.small.example/{missing}"), "template"),
        (url, json!("https://api.small.example/{q}"), "template"),
        (url, json!("https://api.small.example/{q?}"), "template"),
        ("/egress/hosts", json!([{"host": "127.0.0.1", "methods": ["GET"]}]), "host"),
        ("/egress/hosts", json!([{"host": "10.0.0.8", "methods": ["GET"]}]), "host"),
        ("/egress/hosts", json!([{"host": "localhost", "methods": ["GET"]}]), "host"),
        ("/egress/hosts", json!([{"host": "db.internal", "methods": ["GET"]}]), "host"),
        ("/egress/hosts", json!([{"host": "*.small.example", "methods": ["GET"]}]), "host"),
        ("/egress/hosts", json!([{"host": "API.small.example", "methods": ["GET"]}]), "host"),
        ("/operations/0/request/headers", json!({"Authorization": "Bearer {q?}"}), "secret"),
        ("/operations/0/request/headers", json!({"Host": "evil.example"}), "template"),
        ("/operations/0/request/method", json!("DELETE"), "host"),
        ("/operations/0/projection", json!("env"), "jq"),
        ("/operations/0/projection", json!(".a |"), "jq"),
        ("/operations/0/effect", json!("write"), "write"),
        ("/operations/0/pagination", json!({"kind": "cursor"}), "pagination"),
        ("/operations/0/response", json!({"expect_status": [500]}), "schema"),
        ("/operations/0/fields", json!({"id": {"type": "enum"}}), "fields"),
        ("/operations/0/fields", json!({"id": {"type": "text"}}), "schema"),
        ("/inputs/properties", json!({"q": {"type": "string"}}), "inputs"),
        ("/inputs/properties", json!({"q": {"$ref": "https://evil.example/s"}}), "inputs"),
        ("/resources", json!({"page": "/none"}), "resource"),
        ("/id", json!("../x"), "schema"),
        ("/tests", json!([]), "test"),
        ("/tests/0/expect", json!({"ok": false, "error": "no_such_code"}), "test"),
        (
            "/credentials",
            json!([{"name": "c1", "hosts": ["evil.example:443"], "place": {"kind": "bearer"}}]),
            "host",
        ),
        (
            "/credentials",
            json!([{"name": "c1", "hosts": ["api.small.example:443"], "place": {"kind": "header"}}]),
            "credential",
        ),
    ] {
        let found = with(pointer, value.clone());
        assert_eq!(found.as_ref().map(|(code, _)| *code), Some(code), "{pointer} {value}: {found:?}");
    }
    let many: serde_json::Map<String, Value> = (0..100).map(|at| (format!("k{at}"), json!(1))).collect();
    let mut map = small(plain(), json!({}));
    map.as_object_mut().unwrap().extend(many);
    assert_eq!(faults(&map).len(), 50);
}

/// A probe without a target tells about itself, also when the map's inputs are required.
#[tokio::test]
async fn cap_009_a_declared_probe_without_a_target_tells_about_itself() {
    let connector = parse(EXAMPLE).unwrap();
    let backend = Arc::new(MockBackend::new());
    let world = World::over(backend.clone());
    let payload = crate::run(&world, &connector, RunRequest::default(), None, &mut NoObserver).await.unwrap();
    assert_eq!(payload.fields["readiness"]["status"], "credential_missing");
    let input = json!({"page": "abcd1234"});
    let request = RunRequest { input, ..RunRequest::default() };
    let error = crate::run(&world, &connector, request, None, &mut NoObserver).await.unwrap_err();
    assert_eq!(error.code, Code::NotReady);
    assert!(backend.seen().is_empty());
}

/// CAP-122: what is in an input stays data.
#[tokio::test]
async fn cap_122_inputs_reach_no_other_host_or_path() {
    let request = json!({"method": "GET", "url": "https://api.small.example/v1/{n}", "query": {"q": "{q?}"}});
    let mut map = small(request, json!({}));
    map["inputs"]["properties"]["n"] = json!({"type": "string", "maxLength": 100, "default": "d"});
    let backend = answers(Answer::json(&json!({"id": "a", "more": 1})));
    let payload = run(&map, &backend, json!({"n": "../..//evil.example/%2f?x#y\n", "q": "a&b=c\r\n"})).await;
    assert_eq!((payload.ok, &payload.fields), (true, &json!({"id": "a"})));
    assert_eq!(payload.redaction.dropped_fields, 1);
    let seen = backend.seen();
    let url = url::Url::parse(&seen[0].url).unwrap();
    assert_eq!((url.host_str(), url.path_segments().unwrap().count()), (Some("api.small.example"), 2));
    assert_eq!(url.path(), "/v1/..%2F..%2F%2Fevil.example%2F%252f%3Fx%23y%0A");
    assert_eq!(url.query_pairs().collect::<Vec<_>>(), [("q".into(), "a&b=c\r\n".into())]);
    for n in [".", ".."] {
        let input = json!({"n": n, "q": "x"});
        let request = RunRequest { input, ..RunRequest::default() };
        let error = run_with(&map, &backend, request).await.unwrap_err();
        assert_eq!((error.code, error.detail["pointer"].as_str()), (Code::InvalidInput, Some("/n")));
    }
    assert_eq!(backend.seen().len(), 1);
}

/// Answers that break the rules end with the right code.
#[tokio::test]
async fn hostile_answers_are_refused() {
    let map = small(plain(), json!({"response": {"max_bytes": 4096}}));
    let deep = format!("{}1{}", "[".repeat(2_000), "]".repeat(2_000));
    let big = format!("{{\"id\": \"{}\"}}", "x".repeat(5_000));
    for (answer, expected) in [
        (Answer::redirect(302, "https://evil.example/"), "provider_redirect_refused"),
        (Answer::status(200).body("application/json", big), "provider_response_too_large"),
        (Answer::status(200).body("application/json", deep), "provider_protocol_error"),
        (Answer::status(200).body("text/html", "<p>"), "provider_protocol_error"),
        (Answer::status(200).body("application/json", "{"), "provider_protocol_error"),
        (Answer::bad_utf8(), "provider_protocol_error"),
        (Answer::json(&json!({"id": 7})), "provider_protocol_error"),
        (Answer::json(&json!({"other": "x"})), "provider_protocol_error"),
        (Answer::json(&json!([1, 2])), "provider_protocol_error"),
        (Answer::status(401), "provider_auth_error"),
        (Answer::status(404), "provider_http_error"),
    ] {
        let payload = run(&map, &answers(answer), json!({"q": "x"})).await;
        assert_eq!(code(&payload), Some(expected));
        assert!(payload.items.is_empty());
    }
    let strict = small(plain(), json!({"response": {"expect_status": [200]}}));
    let payload =
        run(&strict, &answers(Answer::json(&json!({"id": "a"})).with_status(203)), json!({"q": "x"})).await;
    assert_eq!(code(&payload), Some("provider_protocol_error"));
}

/// CAP-123: a projection that does not end stops the run of a record, and leaves out the item of a list.
#[tokio::test]
async fn cap_123_an_endless_projection_is_stopped() {
    let started = std::time::Instant::now();
    let map = small(plain(), json!({"projection": "last(repeat(.))"}));
    let payload = run(&map, &answers(Answer::json(&json!({"id": "a"}))), json!({"q": "x"})).await;
    assert_eq!(code(&payload), Some("provider_protocol_error"));
    let map = small(
        plain(),
        json!({"projection": "if .id == \"bad\" then last(repeat(.)) else . end", "response": {"items": "."}}),
    );
    let items = json!([{"id": "a"}, {"id": "bad"}, {"id": "b"}]);
    let payload = run(&map, &answers(Answer::json(&items)), json!({"q": "x"})).await;
    assert_eq!(
        (payload.ok, payload.complete, payload.items),
        (true, false, vec![json!({"id": "a"}), json!({"id": "b"})])
    );
    assert_eq!(payload.warnings, ["item_invalid"]);
    assert!(started.elapsed() < std::time::Duration::from_secs(5));
}

#[expect(clippy::needless_pass_by_value, reason = "tests read better with literals")]
fn two_pages(kind: Value) -> Value {
    small(plain(), json!({"pagination": kind}))
}

/// CAP-124: each kind of paging reads every page.
#[tokio::test]
async fn cap_124_every_kind_of_paging_reads_all_pages() {
    let (one, two) = (json!([{"id": "a"}, {"id": "b"}]), json!([{"id": "c"}]));
    let next = "https://api.small.example/v1?page=2";
    let link = Answer::json(&one).header("link", &format!("<{next}>; rel=\"next\""));
    let list = |items: &Value, next: Value| Answer::json(&json!({"items": items, "next": next}));
    let cases = [
        (json!({"kind": "link_header"}), link, Answer::json(&two)),
        (
            json!({"kind": "cursor", "param": "c", "next": ".next", "items": ".items"}),
            list(&one, json!("p2")),
            list(&two, Value::Null),
        ),
        (
            json!({"kind": "next_url", "next": ".next", "items": ".items"}),
            list(&one, json!(next)),
            list(&two, Value::Null),
        ),
        (
            json!({"kind": "page", "param": "page", "size_param": "size", "size": 2, "items": ".items"}),
            list(&one, Value::Null),
            list(&two, Value::Null),
        ),
        (
            json!({"kind": "offset", "param": "from", "size_param": "size", "size": 2, "items": ".items"}),
            list(&one, Value::Null),
            list(&two, Value::Null),
        ),
    ];
    for (kind, first, second) in cases {
        let backend = MockBackend::new();
        backend.expect(
            Expectation::new("GET").host("api.small.example").path("/v1").answer(first).answer(second),
        );
        let payload = run(&two_pages(kind.clone()), &Arc::new(backend), json!({"q": "x"})).await;
        let ids: Vec<_> = payload.items.iter().map(|item| item["id"].as_str().unwrap()).collect();
        assert_eq!((ids, payload.complete), (vec!["a", "b", "c"], true), "{kind} {:?}", payload.error);
    }
}

/// CAP-124: a cursor that repeats and a link to another host are refused.
#[tokio::test]
async fn cap_124_loops_and_foreign_links_are_refused() {
    let page = |next: &str| Answer::json(&json!({"items": [{"id": "a"}], "next": next}));
    let cursor = two_pages(json!({"kind": "cursor", "param": "c", "next": ".next", "items": ".items"}));
    let backend = MockBackend::new();
    backend.expect(Expectation::new("GET").answer(page("same")).times(5));
    let payload = run(&cursor, &Arc::new(backend), json!({"q": "x"})).await;
    assert_eq!((code(&payload), payload.complete), (Some("provider_protocol_error"), false));
    let by_url = two_pages(json!({"kind": "next_url", "next": ".next", "items": ".items"}));
    let payload = run(&by_url, &answers(page("https://evil.example/v1")), json!({"q": "x"})).await;
    assert_eq!((code(&payload), payload.complete), (Some("egress_denied"), false));
}

/// A run that stops at a limit goes on behind it, and gives nothing twice.
#[tokio::test]
async fn cap_030_a_cursor_goes_on_behind_the_limit() {
    let map = two_pages(json!({"kind": "cursor", "param": "c", "next": ".next", "items": ".items"}));
    let backend = MockBackend::new();
    let page = json!({"items": [{"id": "a"}, {"id": "b"}], "next": null});
    backend.expect(Expectation::new("GET").answer(Answer::json(&page)).times(2));
    let backend = Arc::new(backend);
    let connector = parse(&map.to_string()).unwrap().unpaced();
    let mut world = World::over(backend.clone());
    world.key = Arc::new(|| Ok([7; 32]));
    let limits = RunLimits { limit: Some(1), ..RunLimits::default() };
    let request = RunRequest { input: json!({"q": "x"}), limits, ..RunRequest::default() };
    let first = crate::run(&world, &connector, request.clone(), None, &mut NoObserver).await.unwrap();
    assert_eq!((first.items, first.complete), (vec![json!({"id": "a"})], false));
    let cursor = first.cursor.unwrap();
    let request = RunRequest { limits: RunLimits::default(), ..request };
    let rest = crate::run(&world, &connector, request, Some(&cursor), &mut NoObserver).await.unwrap();
    assert_eq!((rest.items, rest.complete), (vec![json!({"id": "b"})], true));
}

/// A base URL of the owner's takes the place of the map's host; a private address that nobody set is refused.
#[tokio::test]
async fn the_owner_alone_chooses_another_base() {
    let map = small(plain(), json!({}));
    let backend = MockBackend::new();
    backend.expect(
        Expectation::new("GET").host("127.0.0.1").path("/v1").answer(Answer::json(&json!({"id": "a"}))),
    );
    let settings =
        RunSettings { api_url: Some("http://127.0.0.1:8080".to_owned()), ..RunSettings::default() };
    let request = RunRequest { input: json!({"q": "x"}), settings, ..RunRequest::default() };
    let payload = run_with(&map, &Arc::new(backend), request).await.unwrap();
    assert!(payload.ok, "{:?}", payload.error);
}

/// A write waits for its approval, and is planned without being sent.
#[tokio::test]
async fn writes_need_an_approval() {
    let request = json!({"method": "POST", "url": "https://api.small.example/v1", "json": {"text": "{q?}", "n": "{n}"}});
    let mut map = small(
        request,
        json!({"effect": "write", "gate": "exact", "idempotency": {"header": "Idempotency-Key"}}),
    );
    map["boundary"] = json!("gated_write");
    map["tests"][0]["exchanges"][0]["request"]["json"] = json!({"text": "x", "n": 3});
    assert_eq!(faults(&map), []);
    let tested = run_tests(&map.to_string(), None).await.unwrap();
    assert!(tested[0].ok, "{tested:?}");
    let backend = Arc::new(MockBackend::new());
    let connector = parse(&map.to_string()).unwrap();
    let world = World::over(backend.clone());
    let request = RunRequest { input: json!({"q": "x"}), ..RunRequest::default() };
    let refused = crate::run(&world, &connector, request.clone(), None, &mut NoObserver).await;
    assert_eq!(refused.unwrap_err().code, Code::ApprovalRequired);
    assert!(backend.seen().is_empty());
    let plan = crate::plan(&world, &connector, request).unwrap();
    assert_eq!((plan.requests[0].method.as_str(), plan.hosts[0].verdict), ("POST", "allowed"));
}

/// A failing test tells what differed, and keeps the map from being installed.
#[tokio::test]
async fn maps_are_installed_when_their_tests_pass() {
    let home = tempfile::tempdir().unwrap();
    let maps = InstalledMaps::new(home.path());
    let wrong =
        EXAMPLE.replace("name: Slow, impact: minor, started_at", "name: Fast, impact: minor, started_at");
    let error = maps.add(&wrong).await.unwrap_err();
    assert_eq!(error.code, Code::InvalidInput);
    assert!(error.detail["tests"][0]["failures"][0].as_str().unwrap().contains("Fast"));
    assert_eq!(maps.ids().unwrap(), Vec::<String>::new());

    let added = maps.add(EXAMPLE).await.unwrap();
    assert_eq!((added.qualified_id.as_str(), added.replaced), ("local/status_incidents", false));
    let file = home.path().join("connectors/status_incidents.yaml");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(maps.add(EXAMPLE).await.unwrap().replaced);
    let (catalog, damaged) = Catalog::of_home(home.path()).unwrap();
    assert!(damaged.is_empty());
    for id in ["status_incidents", "status-incidents", "local/status_incidents"] {
        assert_eq!(catalog.connector(id).unwrap().entry().version, "1.0.0", "{id}");
    }
    std::fs::write(&file, "id: broken").unwrap();
    let (_, damaged) = Catalog::of_home(home.path()).unwrap();
    assert_eq!(damaged[0].id, "status_incidents");
    assert_eq!(maps.remove("local/status-incidents").unwrap(), "status_incidents");
    assert_eq!(maps.remove("status_incidents").unwrap_err().code, Code::ConnectorNotFound);
    assert_eq!(maps.remove("../status_incidents").unwrap_err().code, Code::InvalidInput);
}

/// CAP-013: a map with the id of a built-in is reachable with its package only.
#[tokio::test]
async fn cap_013_a_map_does_not_take_the_place_of_a_built_in() {
    let home = tempfile::tempdir().unwrap();
    let text = EXAMPLE.replace("id: status_incidents", "id: github_public_probe");
    assert!(InstalledMaps::new(home.path()).add(&text).await.unwrap().shadowed_by_builtin);
    let (catalog, _) = Catalog::of_home(home.path()).unwrap();
    assert_eq!(catalog.connector("github_public_probe").unwrap().entry().origin, crate::Origin::Builtin);
    assert_eq!(
        catalog.connector("local/github_public_probe").unwrap().entry().origin,
        crate::Origin::SourceMap
    );
    let without_disk = Catalog::for_id("github_public_probe", std::path::Path::new("/nonexistent")).unwrap();
    assert!(without_disk.connector("local/github_public_probe").is_err());
}

#[test]
fn a_live_test_asks_probe_with_a_tested_input() {
    assert!(live_request(&parse(EXAMPLE).unwrap()).is_none());
    let map = small(plain(), json!({}));
    assert_eq!(live_request(&parse(&map.to_string()).unwrap()).unwrap().input, json!({"q": "x"}));
}
