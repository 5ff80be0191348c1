use std::time::Instant;

use serde_json::json;

use super::*;

async fn run(program: &str, item: Value) -> std::result::Result<Vec<Value>, Failure> {
    Projector::start(program).await.unwrap().project(item).await
}

#[tokio::test]
async fn programs_of_every_day_work() {
    let item = json!({"id": 7, "tags": ["b", "a"], "user": {"name": "Kim"}, "n": 2, "big": 12_345_678_901_234_567_890_u64});
    for (program, expected) in [
        (".id", json!([7])),
        ("{id, name: .user.name, first: .tags[0]}", json!([{"id": 7, "name": "Kim", "first": "b"}])),
        ("[.tags[] | ascii_upcase] | sort", json!([["A", "B"]])),
        (".tags[]", json!(["b", "a"])),
        ("def twice(f): f | f; .n | twice(. * 3)", json!([18])),
        ("reduce .tags[] as $t (\"\"; . + $t)", json!(["ba"])),
        (".missing // \"none\"", json!(["none"])),
        ("if .n > 1 then \"many\" else \"one\" end", json!(["many"])),
        (".user.name |= ascii_downcase | .user", json!([{"name": "kim"}])),
        (".n *= 4 | .n", json!([8])),
        ("\"\\(.id)-\\(.n)\"", json!(["7-2"])),
        ("[limit(3; repeat(1))]", json!([[1, 1, 1]])),
        ("[range(3)] | add", json!([3])),
        ("to_entries | map(.key) | length", json!([5])),
        ("\"{\\\"a\\\":1}\" | fromjson | .a", json!([1])),
        (".tags | map(select(test(\"^a\")))", json!([["a"]])),
        (". as {id: $i} | $i + 1", json!([8])),
        ("[.. | numbers] | length", json!([3])),
        (".big", json!([12_345_678_901_234_567_890_u64])),
        ("empty", json!([])),
        ("[3, 1] - [1] | .[0] - 1", json!([2])),
        (".n -= 1 | .n", json!([1])),
        ("[[1, 2], [3]] | transpose", json!([[[1, 3], [2, null]]])),
        ("[[1, [2]], 3] | flatten", json!([[1, 2, 3]])),
        ("\"a-b-c\" | split(\"-\") | join(\"+\")", json!(["a+b+c"])),
        ("\"a1b2\" | gsub(\"[0-9]\"; \"#\")", json!(["a#b#"])),
        ("[.tags[] | select(. != \"a\")] | first", json!(["b"])),
        ("[[1, 2], [3, 4]] | [combinations] | length", json!([4])),
        ("pick(.user.name)", json!([{"user": {"name": "Kim"}}])),
        ("[1, [2]] | getpath([1, 0])", json!([2])),
        ("[1, 2] | any(. > 1), all(. > 1)", json!([true, false])),
        ("{a: {b: 1}} | [paths(type == \"number\")]", json!([[["a", "b"]]])),
        ("walk(if type == \"number\" then 0 else . end) | .n", json!([0])),
        ("[until(. == 3; 3), first(range(5; 9)), ([1, 2] | index(2))] | length", json!([3])),
        ("{(.tags[]): 1}", json!([{"b": 1}, {"a": 1}])),
        ("[paths] | length", json!([8])),
        ("with_entries(select(.key == \"id\"))", json!([{"id": 7}])),
        ("del(.tags, .user, .big)", json!([{"id": 7, "n": 2}])),
        ("\"2026-09-01T00:00:00Z\" | fromdate", json!([1_788_220_800])),
    ] {
        let found = run(program, item.clone()).await;
        assert_eq!(found.map(Value::from), Ok(expected), "{program}");
    }
}

/// CAP-123: what reaches outside is refused before it runs.
#[test]
fn cap_123_programs_that_reach_outside_are_refused() {
    for program in [
        "env",
        "$ENV",
        "$ENV.HOME",
        "input",
        "[inputs]",
        "now",
        "debug",
        "debug(1)",
        "stderr",
        "halt",
        "halt_error",
        "input_filename",
        "import \"a\" as a; .",
        "include \"a\"; .",
        "debug_empty",
        "stderr_empty",
        "localtime",
        ".a | map(env)",
        "\"\\(env)\"",
        "{a: input}",
        "loom_step",
        "def f: f; f",
        "def f: def g: f; g; f",
        "def f: g; def g: f; f",
        "def f(x): 1 + f(x); f(.)",
        "combinations(3)",
        "unknown_name",
        ".a | ",
        "{",
        "$x",
    ] {
        let error = check(program).unwrap_err();
        assert_eq!(error.code, Code::InvalidInput, "{program}");
    }
    let long = format!(".a{}", " | .a".repeat(2_000));
    let deep = format!("{}.{}", "(".repeat(1_500), ")".repeat(1_500));
    let negative = format!("{}1", "-".repeat(3_000));
    for program in [long, deep, negative, "try ".repeat(900) + "1", ".a as $x | ".repeat(300) + "1"] {
        assert!(check(&program).is_err());
    }
}

/// CAP-123: what does not end, or grows, is stopped.
#[tokio::test]
async fn cap_123_endless_and_growing_programs_are_stopped() {
    let mut wrong = Vec::new();
    for program in [
        "repeat(.)",
        "[repeat(1)]",
        "last(repeat(.))",
        "repeat(empty)",
        "until(false; .)",
        "last(range(1e18))",
        "[range(0; 1; 0)]",
        "while(true; .)|empty",
        "recurse(.)|empty",
        "[recurse([.])]",
        "first(recurse(.)|empty)",
        "repeat(try error catch .)",
        "last(repeat(.)?)",
        "isempty(repeat(empty))",
        "reduce repeat(1) as $x (0; . + 1)",
        "foreach range(1e12) as $x (0; .; empty)",
        "[limit(1e12; repeat(.))]",
        "[range(1e5) as $a | range(1e5) as $b | empty]",
        "[range(1e4)] | [.[] + .[] | empty]",
        "reduce range(60) as $i (\"x\"; . + .)",
        "reduce range(60) as $i ([1]; [., .]) | tojson",
        "reduce range(100000) as $i (1; [.])",
        "\"x\" * 1e9",
        "\"x\" * 1000000000",
        ".s *= 1000000000",
        "reduce range(40) as $i (10; . * .)",
        "reduce range(30) as $i ({}; {a: ., b: .})",
        "any(repeat(false); .)",
        "[1,1,1,1,1,1,1,1] | [.[] as $a | .[] as $b | .[] as $c | .[] as $d | .[] as $e | .[] as $f | .[] as $g | .[] as $h | .[] as $i | 1]",
        "[range(30) | [0, 1]] | combinations | empty",
        "limit(70000; repeat(\"aaaa\"))",
        "[range(20000)] | tojson",
        "path(repeat(.))",
        "[[range(20000)]] + [range(20000) | []] | transpose | length",
        "([range(30000)] - [range(30000) | -.]) | length",
        "(\"a\" * 900000) | indices(\"a\" * 400000) | length",
        "(\"a\" * 900000) | gsub(\"\"; \"b\") | length",
        "[range(20000) | []] | contains([range(20000) | [1]])",
        "[range(20000)] -= [range(20000) | -.] | length",
        "[range(30)|[range(30)]] | [combinations] | length",
        "\"aaaaaaaaaa\" | [limit(1000000; repeat(test(\"(a*)*b\")))] | length",
        "walk(repeat(.))",
        "label $out | repeat(.) | empty",
    ] {
        let started = Instant::now();
        let found = run(program, json!({"s": "x"})).await;
        if found.is_ok() || started.elapsed() > Duration::from_secs(2) {
            wrong.push(format!("{program}: {found:?} after {:?}", started.elapsed()));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
