//! Writes the report of a made-up busy week: `cargo run -p loom-report --example busy_week -- FOLDER [zh]`.

#[path = "../src/tests/sample.rs"]
#[expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a made-up week, shared with the tests")]
mod sample;

use loom_report::{Form, Lang, build};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let folder = words.next().ok_or("name a folder")?;
    let lang = if words.next().as_deref() == Some("zh") { Lang::Zh } else { Lang::En };
    let report = build(&sample::order("weekly", lang), &sample::facts("support"), &str::to_owned)?;
    for form in [Form::Markdown, Form::Html, Form::Json] {
        std::fs::write(std::path::Path::new(&folder).join(form.file_name()), form.render(&report)?)?;
    }
    Ok(())
}
