//! Answers about paths and policies, and the owner's desk.

use loom_api::{Mutation, Page, query, request, view};
use loom_domain::{Notice, NoticeId, Principal};
use loom_store::ops::audit_write::RefusedCall;

use super::{Intent, desk};

desk! {
    /// Answers that change nothing.
    Answers {
        /// The whole path of one message.
        where_is(principal: Principal, query: query::Where) -> view::Where;
        /// How one message is or would be judged.
        explain_policy(principal: Principal, question: request::PolicyExplain) -> view::PolicyExplanation;
        /// Which stored Events a draft would judge otherwise.
        replay_policy(principal: Principal, question: request::PolicyReplay) -> view::PolicyReplayResult;
        /// The hub at a glance.
        status(principal: Principal) -> view::HubStatus;
    }
}

desk! {
    /// Notices, audit, and the hub's own end.
    Duty {
        /// Asks the hub to drain and stop.
        stop_hub(principal: Principal, request: request::Stop) -> view::Accepted;
        /// Lists Notices.
        notices(principal: Principal, query: query::Notices) -> Page<Notice>;
        /// Acknowledges one.
        ack_notice(intent: Intent, id: NoticeId) -> Mutation<Notice>;
        /// Lists audit rows, oldest first.
        audit(principal: Principal, query: query::Audit) -> Page<view::AuditRow>;
        /// Records that a caller was refused.
        record_refused_call(principal: Principal, call: RefusedCall) -> ();
        /// Recomputes the chain.
        verify_audit(principal: Principal) -> view::AuditVerdict;
    }
}
