//! Slack's error codes and what each means for a send (provider reference A.13, messaging specification 5.7).

pub(super) use crate::sending::{Effect, transport_fault};
use crate::{Fault, FaultClass};

const AUTH: &[&str] = &[
    "not_authed",
    "invalid_auth",
    "account_inactive",
    "token_revoked",
    "token_expired",
    "no_permission",
    "not_allowed_token_type",
    "org_login_required",
    "ekm_access_denied",
    "team_access_not_granted",
    "user_removed_from_team",
    "team_disabled",
    "forbidden_team",
    "access_denied",
];
const RATE_LIMITED: &[&str] = &["ratelimited", "rate_limited"];
const RETRYABLE: &[&str] = &["service_unavailable", "request_timeout"];
const AMBIGUOUS: &[&str] = &["internal_error", "fatal_error"];
const SUCCESS: &[&str] = &["already_reacted", "no_reaction", "already_in_channel"];

/// Whether the code says that the wished state is already there.
pub(super) fn is_success(code: &str) -> bool {
    SUCCESS.contains(&code)
}

/// The class of an error code. An unlisted one is permanent.
pub(super) fn classify(code: &str, effect: Effect) -> FaultClass {
    let ambiguous = match effect {
        Effect::None => FaultClass::Retryable,
        Effect::Publish => FaultClass::Unknown,
    };
    match code {
        "missing_scope" => FaultClass::MissingScope,
        "team_added_to_org" => FaultClass::Retryable,
        _ if AUTH.contains(&code) => FaultClass::Auth,
        _ if RATE_LIMITED.contains(&code) => FaultClass::RateLimited,
        _ if RETRYABLE.contains(&code) || AMBIGUOUS.contains(&code) => ambiguous,
        _ => FaultClass::Permanent,
    }
}

/// Whether the fault says that the token may not do this.
pub(super) fn is_denied(fault: &Fault) -> bool {
    matches!(fault.class, FaultClass::Auth | FaultClass::MissingScope | FaultClass::Config)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// MSG-191: every code of the table has its class.
    #[test]
    fn msg_191_every_slack_code_has_its_class() {
        let auth = "not_authed invalid_auth account_inactive token_revoked token_expired no_permission \
            not_allowed_token_type org_login_required ekm_access_denied team_access_not_granted";
        let permanent = "channel_not_found not_in_channel is_archived restricted_action restricted_action_thread_locked \
            user_not_found cannot_dm_bot messages_tab_disabled message_not_found thread_locked no_text msg_too_long \
            msg_blocks_too_long invalid_blocks invalid_arguments invalid_metadata_format metadata_too_large \
            too_many_attachments file_upload_size_restricted file_uploads_disabled some_new_code";
        for (codes, read, publish) in [
            (auth, FaultClass::Auth, FaultClass::Auth),
            ("missing_scope", FaultClass::MissingScope, FaultClass::MissingScope),
            (permanent, FaultClass::Permanent, FaultClass::Permanent),
            ("ratelimited rate_limited", FaultClass::RateLimited, FaultClass::RateLimited),
            ("service_unavailable request_timeout", FaultClass::Retryable, FaultClass::Unknown),
            ("team_added_to_org", FaultClass::Retryable, FaultClass::Retryable),
            ("internal_error fatal_error", FaultClass::Retryable, FaultClass::Unknown),
        ] {
            for code in codes.split_whitespace() {
                assert_eq!(classify(code, Effect::None), read, "{code}");
                assert_eq!(classify(code, Effect::Publish), publish, "{code}");
            }
        }
        assert!(["already_reacted", "no_reaction", "already_in_channel"].into_iter().all(is_success));
    }

    /// MSG-194: only a request of which no byte left may be tried again.
    #[test]
    fn msg_194_written_bytes_make_a_publish_unknown() {
        let class = |written, effect| transport_fault("network", "x", written, effect).class;
        assert_eq!(class(true, Effect::Publish), FaultClass::Unknown);
        assert_eq!(class(false, Effect::Publish), FaultClass::Retryable);
        assert_eq!(class(true, Effect::None), FaultClass::Retryable);
    }
}
