//! From what is asked to what is made.

use loom_api::request;
use loom_domain::{Error, Result, Timestamp};
use loom_report::{Lang, Order, Profile, Window};

use crate::config::ReportSection;

const PROFILE: &str = "weekly";
const ZONE: &str = "UTC";

/// Reads profile, window, zone and language; what is not asked comes from the profile.
pub fn order_of(asked: &request::Report, config: &ReportSection, now: Timestamp) -> Result<Order> {
    let profile = Profile::named(asked.profile.as_deref().unwrap_or(PROFILE), &config.profiles)?;
    let window = asked.window.as_deref().unwrap_or(&profile.window);
    let window = Window::parse(window, asked.tz.as_deref().unwrap_or(ZONE), config.week_start, now)?;
    let lang = match asked.lang.as_deref() {
        None | Some("en") => Lang::En,
        Some("zh") => Lang::Zh,
        Some(_) => return Err(Error::invalid("lang", "expected en or zh")),
    };
    Ok(Order { profile, window, lang, version: env!("CARGO_PKG_VERSION").to_owned() })
}
