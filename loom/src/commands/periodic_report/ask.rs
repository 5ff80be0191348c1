//! What a report is asked for, and by whom it is made: the hub, or here when no hub answers.

use loom_api::{request, routes};
use loom_domain::{Code, Error, Result};
use loom_hub::{Config, home::Home, reports};
use loom_report::Report;
use loom_secrets::Redactor;
use serde_json::{Value, json};

use crate::context::Context;

/// Zone when the machine names none.
const ZONE: &str = "UTC";

/// Flags that say which report.
#[derive(Debug, Clone, Default, clap::Args)]
pub(super) struct Which {
    /// What it tells of: daily, weekly, connectors, or one of your own
    #[arg(long, value_name = "P")]
    profile: Option<String>,
    /// today, yesterday, last-7d, last-week, this-month, last-month, or START..END
    #[arg(long, value_name = "W")]
    window: Option<String>,
    /// IANA zone whose days are told; the machine's own by default
    #[arg(long, value_name = "ZONE")]
    tz: Option<String>,
    /// Language of titles: en or zh
    #[arg(long, value_name = "LANG")]
    lang: Option<String>,
}

impl Which {
    /// The request of these flags in this environment.
    pub(super) fn request(&self, cx: &Context<'_, '_>) -> request::Report {
        request::Report {
            profile: self.profile.clone(),
            window: self.window.clone(),
            tz: Some(self.tz.clone().unwrap_or_else(machine_zone)),
            lang: Some(self.lang.clone().unwrap_or_else(|| language(cx))),
            ..request::Report::default()
        }
    }
}

/// A report and the answer that tells of it.
pub(super) struct Made {
    pub(super) report: Report,
    pub(super) answer: Value,
}

/// Asks the hub; when none answers and nothing is to be sent, the report is made here of what lies in the home.
pub(super) async fn make(
    asked: &request::Report,
    wait_seconds: u64,
    cx: &mut Context<'_, '_>,
) -> Result<Made> {
    let call = cx.hub()?;
    let answer = call.post(routes::reports()).json(asked)?.wait(wait_seconds).run::<Value>().await;
    let (hub, mut answer) = match answer {
        Ok(answer) => ("running", answer),
        Err(error) if error.code == Code::HubUnreachable && asked.to.is_empty() => {
            ("not_running", here(asked, cx)?)
        }
        Err(error) => return Err(error),
    };
    let report = answer.get("report").cloned().unwrap_or_default();
    let report: Report = serde_json::from_value(report).map_err(Error::internal)?;
    if let Some(members) = answer.as_object_mut() {
        members.insert("hub".to_owned(), hub.into());
    }
    Ok(Made { report, answer })
}

fn here(asked: &request::Report, cx: &Context<'_, '_>) -> Result<Value> {
    let home = Home::new(cx.env.home());
    let config = Config::load(&home.join("loom.toml"), cx.env.variables.clone().into_iter())?;
    let order = reports::order_of(asked, &config.report, cx.env.now)?;
    let report = reports::without_hub(&home, &order, &Redactor::new())?;
    Ok(json!({"schema_version": "loom.report_run/v1", "created": false, "report": report, "deliveries": []}))
}

fn machine_zone() -> String {
    jiff::tz::TimeZone::system().iana_name().unwrap_or(ZONE).to_owned()
}

fn language(cx: &Context<'_, '_>) -> String {
    let locale = ["LC_ALL", "LC_MESSAGES", "LANG"].iter().find_map(|name| cx.env.get(name));
    if locale.is_some_and(|locale| locale.starts_with("zh")) { "zh" } else { "en" }.to_owned()
}
