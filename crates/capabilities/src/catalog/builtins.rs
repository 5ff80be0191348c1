//! The list of the built-ins: one line each.

use std::sync::Arc;

use crate::Capability;

type Make = fn() -> Arc<dyn Capability>;

/// The value connectors by id: one is made without the others.
const CONNECTORS: [(&str, Make); 6] = [
    ("finance_probe", || Arc::new(crate::finance_probe::FinanceProbe::new())),
    ("github_reply_monitor", || Arc::new(crate::github_reply_monitor::GithubReplyMonitor::new())),
    ("github_public_probe", || Arc::new(crate::github_public_probe::GithubPublicProbe::new())),
    ("lark_notify", || Arc::new(crate::lark_notify::LarkNotify::new())),
    ("lark_probe", || Arc::new(crate::lark_probe::LarkProbe::new())),
    ("http_webhook", || Arc::new(crate::http_webhook::HttpWebhook::new())),
];

/// Every built-in capability.
pub(super) fn all() -> Vec<Arc<dyn Capability>> {
    let connectors = CONNECTORS.iter().map(|(_, make)| make());
    let readers: [Arc<dyn Capability>; 2] =
        [Arc::new(crate::pr_review::PrReview::new()), Arc::new(crate::pr_program::PrProgram::new())];
    connectors.chain(readers).collect()
}

/// The built-in value connector of an id in its canonical spelling.
pub(super) fn connector(id: &str) -> Option<Arc<dyn Capability>> {
    CONNECTORS.iter().find(|(known, _)| *known == id).map(|(_, make)| make())
}

/// The built-ins that read whole repositories, for these alone.
pub(super) fn limited_to(repos: &[String]) -> Vec<Arc<dyn Capability>> {
    vec![
        Arc::new(crate::pr_review::PrReview::new().limited_to(repos)),
        Arc::new(crate::pr_program::PrProgram::new().limited_to(repos)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;

    #[test]
    fn a_connector_stands_under_its_own_id() {
        for (id, make) in CONNECTORS {
            let made = make();
            assert_eq!((made.entry().id.as_str(), made.entry().kind), (id, Kind::ValueConnector));
        }
        let connectors = all().iter().filter(|one| one.entry().kind == Kind::ValueConnector).count();
        assert_eq!(connectors, CONNECTORS.len());
    }
}
