//! The status as a page that a browser shows: tables, no script, nothing loaded, every text escaped.

use std::fmt::Write as _;

use serde_json::Value;

const HEAD: &str = "<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>Loom status</title></head>\n<body>\n<h1>Loom status</h1>\n";

/// Writes the page of a document `loom.status/v1`.
pub(crate) fn html(status: &Value) -> String {
    let mut out = HEAD.to_owned();
    let members = status.as_object().into_iter().flatten();
    let (listed, plain): (Vec<_>, Vec<_>) =
        members.partition(|(_, value)| value.is_array() || value.is_object());
    rows(&mut out, &plain);
    for (name, value) in listed {
        // Writing to a String cannot fail.
        let _ = writeln!(out, "<h2>{}</h2>", escape(name));
        section(&mut out, value);
    }
    out.push_str("</body>\n</html>\n");
    out
}

fn section(out: &mut String, value: &Value) {
    match value {
        Value::Array(items) => table(out, items),
        Value::Object(members) => {
            let (listed, plain): (Vec<_>, Vec<_>) = members.iter().partition(|(_, value)| value.is_array());
            rows(out, &plain);
            for (name, value) in listed {
                let _ = writeln!(out, "<h3>{}</h3>", escape(name));
                section(out, value);
            }
        }
        _ => {}
    }
}

fn rows(out: &mut String, members: &[(&String, &Value)]) {
    out.push_str("<table>\n");
    for (name, value) in members {
        let _ = writeln!(out, "<tr><th>{}</th><td>{}</td></tr>", escape(name), cell(value));
    }
    out.push_str("</table>\n");
}

fn table(out: &mut String, items: &[Value]) {
    let Some(names) = items.first().and_then(Value::as_object) else {
        out.push_str("<p>none</p>\n");
        return;
    };
    out.push_str("<table>\n<tr>");
    for name in names.keys() {
        let _ = write!(out, "<th>{}</th>", escape(name));
    }
    out.push_str("</tr>\n");
    for item in items {
        out.push_str("<tr>");
        for name in names.keys() {
            let _ = write!(out, "<td>{}</td>", cell(item.get(name).unwrap_or(&Value::Null)));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</table>\n");
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => escape(text),
        Value::Object(members) => {
            let told: Vec<String> =
                members.iter().map(|(name, value)| format!("{} {}", escape(name), cell(value))).collect();
            told.join(", ")
        }
        other => escape(&other.to_string()),
    }
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// ATK-S13: a hostile name is text, wherever it stands.
    #[test]
    fn atk_s13_hostile_names_are_text() {
        let bad = "<script>alert(1)</script><img src=x onerror='a()'>\" onload=";
        let page = html(
            &json!({bad: bad, "queues": {bad: {bad: 1}, "agents": [{"agent": bad, bad: bad}]}, "connections": [{"account": bad}]}),
        );
        assert!(!page.contains("<script") && !page.contains("<img") && !page.contains("onerror='"), "{page}");
        assert_eq!(page.matches("<html").count(), 1);
        assert!(page.contains("&lt;script&gt;") && page.contains("&quot; onload="));
    }
}
