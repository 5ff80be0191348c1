//! A busy week in every form.

mod sample;

use serde_json::Value;

use crate::{Form, Lang, Observed, Report, build};

fn week(name: &str, lang: Lang) -> Report {
    build(&sample::order("weekly", lang), &sample::facts(name), &str::to_owned).unwrap()
}

/// CAP-134: every form, with charts for deliveries, latency, refusals, queues, connectors and costs; twice gives
/// equal bytes.
#[test]
fn cap_134_a_busy_week_renders_in_every_form_and_twice_the_same() {
    let report = week("support", Lang::En);
    let ids: Vec<&str> = report.charts.iter().map(|chart| chart.id.as_str()).collect();
    assert_eq!(
        ids,
        [
            "deliveries_per_day",
            "delivery_latency",
            "refusals_by_reason",
            "queue_age",
            "connector_runs",
            "cost_per_agent"
        ]
    );
    for form in [Form::Markdown, Form::Html, Form::Json] {
        let first = form.render(&report).unwrap();
        assert_eq!(first, form.render(&week("support", Lang::En)).unwrap(), "{form:?}");
        assert!(first.contains("support") && first.contains("2026-10-26"), "{form:?}");
    }
    let json: Value = serde_json::from_str(&Form::Json.render(&report).unwrap()).unwrap();
    assert_eq!(json["schema_version"], "loom.report/v1");
    assert_eq!(json["generated_at"], json["window"]["end"]);
    assert!(json["report_id"].as_str().unwrap().starts_with("art_"));
    assert!(report.is_whole());
    let read: Report = serde_json::from_value(json).unwrap();
    assert_eq!(read, report);
    let bars = &report.charts[0];
    assert_eq!(bars.labels.len(), 7);
    let drawn: u64 = bars.series.iter().flat_map(|series| series.values.iter().flatten()).sum();
    assert_eq!(drawn, 800, "every Part is in the series");
}

/// CAP-134: the file loads nothing, runs nothing, and keeps its limits.
#[test]
fn cap_134_html_loads_nothing() {
    let html = Form::Html.render(&week("support", Lang::En)).unwrap();
    assert!(html.contains("default-src 'none'; style-src 'unsafe-inline'; img-src data:"));
    for active in
        ["<script", "<link", "<img", "<iframe", "<object", "src=", "href=", "url(", "@import", "onload"]
    {
        assert!(!html.contains(active), "{active}");
    }
    let foreign = html.match_indices("http").filter(|(at, _)| !html[*at..].starts_with("http-equiv"));
    let foreign: Vec<&str> = foreign.map(|(at, _)| &html[at..at + 30]).collect();
    assert!(foreign.iter().all(|text| text.starts_with("http://www.w3.org/2000/svg")), "{foreign:?}");
    assert_eq!(html.matches("<svg").count(), 6);
    assert_eq!(html.matches("<desc>").count(), 6);
    assert!(html.len() < 2 * 1024 * 1024);
}

/// CAP-135: hostile names are text in every form, and what is masked appears in none.
#[test]
fn cap_135_every_text_is_escaped_and_masked() {
    let hostile = "<script>alert(1)</script>|`x`\"'&";
    let report = week(hostile, Lang::En);
    let html = Form::Html.render(&report).unwrap();
    assert!(!html.contains("<script") && html.contains("&lt;script&gt;"), "{html}");
    let markdown = Form::Markdown.render(&report).unwrap();
    assert!(!markdown.contains("<script>") && markdown.contains("\\<script\\>alert(1)\\</script\\>\\|"));
    let mask = |text: &str| text.replace("xoxb-secret", "[redacted:slack_token]");
    let masked = build(&sample::order("weekly", Lang::En), &sample::facts("a-xoxb-secret"), &mask).unwrap();
    for form in [Form::Markdown, Form::Html, Form::Json] {
        let text = form.render(&masked).unwrap();
        assert!(!text.contains("xoxb-secret") && text.contains("redacted:slack_token"), "{form:?}");
    }
}

#[test]
fn what_was_not_observed_is_not_told_as_zero() {
    let mut facts = sample::facts("support");
    facts.deliveries = Observed::not_observed("no hub");
    facts.turns = Observed::not_observed("no hub");
    let report = build(&sample::order("weekly", Lang::En), &facts, &str::to_owned).unwrap();
    assert!(
        report.charts.iter().all(|chart| chart.id != "deliveries_per_day" && chart.id != "cost_per_agent")
    );
    assert!(report.summary.iter().all(|line| !line.key.starts_with("parts_")));
    let section = report.sections.iter().find(|section| section.id == "deliveries").unwrap();
    assert_eq!((section.note.as_deref(), section.rows.len()), (Some("Not observed"), 0));
    let costs = week("support", Lang::En);
    let costs = costs.sections.iter().find(|section| section.id == "costs").unwrap();
    assert!(costs.rows.iter().any(|row| row.contains(&"none reported".to_owned())), "{costs:?}");
}

/// CAP-024: English reports hold no Chinese; in Chinese every heading is translated; members are equal in both.
#[test]
fn cap_024_headings_follow_the_language_and_members_do_not() {
    let (english, chinese) = (week("support", Lang::En), week("support", Lang::Zh));
    for form in [Form::Markdown, Form::Html, Form::Json] {
        let text = form.render(&english).unwrap();
        assert!(!text.chars().any(is_chinese), "{form:?}");
    }
    let (mut before, mut after) = (headings(&english), headings(&chinese));
    assert!(before.len() > 40, "{before:?}");
    assert_eq!(before.len(), after.len());
    for (english, chinese) in before.drain(..).zip(after.drain(..)) {
        assert!(chinese.chars().any(is_chinese), "`{english}` is not translated: `{chinese}`");
    }
    let json =
        |report: &Report| -> Value { serde_json::from_str(&Form::Json.render(report).unwrap()).unwrap() };
    assert_eq!(members(&json(&english)), members(&json(&chinese)));
}

fn is_chinese(c: char) -> bool {
    ('\u{4e00}'..='\u{9fff}').contains(&c)
}

/// Everything in a report that is a heading: titles, heads of columns, names of numbers.
fn headings(report: &Report) -> Vec<String> {
    let sections = report.sections.iter().flat_map(|one| one.columns.iter().chain([&one.title]));
    let charts = report.charts.iter().map(|chart| &chart.title);
    let labels = report.summary.iter().map(|line| &line.label);
    let title = std::iter::once(&report.title);
    title.chain(sections).chain(charts).chain(labels).cloned().collect()
}

/// A document with its scalars left out.
fn members(value: &Value) -> Value {
    match value {
        Value::Object(object) => object.iter().map(|(key, value)| (key.clone(), members(value))).collect(),
        Value::Array(array) => array.iter().map(members).collect(),
        _ => Value::Null,
    }
}

#[test]
fn language_profile_window_and_version_make_another_run() {
    let base = sample::order("weekly", Lang::En);
    let zh = week("support", Lang::Zh);
    assert_eq!(zh.title, "Loom 报告: weekly");
    assert!(Form::Html.render(&zh).unwrap().contains("每日投递分段"));
    let keys = [
        base.run_key(),
        sample::order("weekly", Lang::Zh).run_key(),
        sample::order("daily", Lang::En).run_key(),
        crate::Order { version: "0.0.1".into(), ..base.clone() }.run_key(),
    ];
    for (n, key) in keys.iter().enumerate() {
        assert!(keys.iter().skip(n + 1).all(|other| other != key), "{keys:?}");
    }
    assert_eq!(base.run_key(), sample::order("weekly", Lang::En).run_key());
}
