//! The list of the built-ins: one line each.

use std::sync::Arc;

use crate::Capability;

/// Every built-in capability.
pub(super) fn all() -> Vec<Arc<dyn Capability>> {
    vec![
        Arc::new(crate::finance_probe::FinanceProbe::new()),
        Arc::new(crate::github_reply_monitor::GithubReplyMonitor::new()),
        Arc::new(crate::github_public_probe::GithubPublicProbe::new()),
        Arc::new(crate::lark_notify::LarkNotify::new()),
        Arc::new(crate::lark_probe::LarkProbe::new()),
        Arc::new(crate::pr_review::PrReview::new()),
        Arc::new(crate::pr_program::PrProgram::new()),
        Arc::new(crate::http_webhook::HttpWebhook::new()),
    ]
}

/// The built-ins that read whole repositories, for these alone.
pub(super) fn limited_to(repos: &[String]) -> Vec<Arc<dyn Capability>> {
    vec![
        Arc::new(crate::pr_review::PrReview::new().limited_to(repos)),
        Arc::new(crate::pr_program::PrProgram::new().limited_to(repos)),
    ]
}
