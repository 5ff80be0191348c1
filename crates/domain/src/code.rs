//! The one closed list of error codes: one code, one meaning, one HTTP status, one exit code.

use serde::{Deserialize, Serialize};

/// Exit status of the command line for a code (platform specification, UX-3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// Refused or failed by domain rules: 1.
    Refused = 1,
    /// The command line or document could not be understood: 2.
    Usage = 2,
    /// Needs an approval or a decision: 3.
    Decision = 3,
    /// Provider or network: 4.
    Provider = 4,
    /// Version conflict or lock: 5.
    Conflict = 5,
    /// Integrity: 6.
    Integrity = 6,
    /// The hub cannot be reached or does not take work: 7.
    Hub = 7,
}

macro_rules! codes {
    ($($variant:ident $text:literal $exit:ident $http:literal $retry:literal $about:literal $hint:literal;)*) => {
        /// A stable error code. Its text is the same in the CLI, HTTP, events and logs.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        #[expect(clippy::doc_markdown, reason = "the sentences are user text too")]
        pub enum Code { $(#[doc = $about] $variant,)* }

        impl Code {
            /// Every code, in the order of the list.
            pub const ALL: &'static [Code] = &[$(Code::$variant,)*];

            /// The stable text of the code.
            pub const fn as_str(self) -> &'static str { match self { $(Code::$variant => $text,)* } }
            /// Exit status of a command that ends with this code.
            pub const fn exit(self) -> Exit { match self { $(Code::$variant => Exit::$exit,)* } }
            /// HTTP status of an answer with this code.
            pub const fn http(self) -> u16 { match self { $(Code::$variant => $http,)* } }
            /// Whether the same request may succeed later without a change.
            pub const fn retryable(self) -> bool { match self { $(Code::$variant => $retry,)* } }
            /// What the code means, in one sentence.
            pub const fn about(self) -> &'static str { match self { $(Code::$variant => $about,)* } }
            /// What to do next, in one sentence.
            pub const fn hint(self) -> &'static str { match self { $(Code::$variant => $hint,)* } }
            /// Finds a code by its stable text.
            pub fn parse(text: &str) -> Option<Code> { match text { $($text => Some(Code::$variant),)* _ => None } }
        }
    };
}

codes! {
    Usage "usage" Usage 400 false "The command line or request could not be understood." "Run the command with `--help`.";
    InvalidArgument "invalid_argument" Usage 400 false "A value has the wrong form or is not one of the allowed words." "See the allowed values in the message or in `--help`.";
    InvalidId "invalid_id" Usage 400 false "An id has the wrong prefix or form." "Copy the id from `loom integration list`, `loom inbox` or `loom outbox`.";
    InvalidJson "invalid_json" Usage 400 false "A document is not valid JSON, too deep, or has a key twice." "Check the document with a JSON linter.";
    UnknownField "unknown_field" Usage 400 false "A document holds a key that this object does not have." "Remove the key; `--help` lists the valid ones.";
    MissingField "missing_field" Usage 400 false "A required value is missing." "Give the named flag or key.";
    MutuallyExclusive "mutually_exclusive" Usage 400 false "Two values were given that exclude each other." "Give one of them.";
    InvalidTime "invalid_time" Usage 400 false "A time is malformed, in the past, or too far in the future." "Give an RFC 3339 UTC time or a duration such as 1h.";
    NothingToChange "nothing_to_change" Usage 400 false "An update names no field." "Give at least one field flag.";
    IdempotencyKeyRequired "idempotency_key_required" Usage 400 false "A proactive send needs an idempotency key." "Add `--idempotency-key KEY` (1 to 200 printable ASCII characters).";
    ConfigUnknownKey "config_unknown_key" Usage 400 false "The configuration file holds a key that does not exist." "Correct the key; the message names the nearest one.";
    TokenInUrl "token_in_url" Refused 400 false "A token was sent in a URL; tokens travel in the Authorization header only." "Send the token in the Authorization header and revoke the one that leaked.";
    Unauthenticated "unauthenticated" Refused 401 false "No valid principal was presented." "Use the unix socket as the hub's user, or set LOOM_TOKEN_FILE.";
    Forbidden "forbidden" Refused 403 false "The principal may not do this." "Ask the owner to do it or to grant it.";
    NotOwnerOfItem "not_owner_of_item" Refused 403 false "The Agent acted on an item of another Agent." "Act only on items from your own `loom inbox`.";
    InsecureTransport "insecure_transport" Refused 403 false "Plain http to a host that is not loopback was refused." "Use https, or `--allow-http` where the command offers it.";
    InsecureBind "insecure_bind" Refused 403 false "The hub refuses to listen on a non-loopback address without TLS or a declared proxy." "Set listen.tls, or listen.behind_proxy with trusted_proxies and public_url.";
    HostNotAllowed "host_not_allowed" Refused 403 false "The Host header is not one of this hub's names." "Use the address that `loom status` shows, or add the name to listen.allowed_hosts.";
    OriginNotAllowed "origin_not_allowed" Refused 403 false "The request comes from a web page of another origin." "Use the command line, or list the origin in listen.cors_origins.";
    CsrfRefused "csrf_refused" Refused 403 false "A session request without its CSRF proof was refused." "Reload the page and try again.";
    AgentMismatch "agent_mismatch" Refused 403 false "A token of another Agent was presented." "Use the token of the Agent that is named.";
    TurnMismatch "turn_mismatch" Refused 409 false "The call does not belong to the Agent's running Turn." "Act only inside the Turn that was started for the item.";
    EgressDenied "egress_denied" Refused 403 false "The egress policy refused the request before any connection was made." "See detail.reason; allow the origin in the configuration if it is yours.";
    NotFound "not_found" Refused 404 false "No such object." "List the objects of this kind to find the id.";
    CapabilityNotFound "capability_not_found" Refused 404 false "The catalog holds no capability of this id (detail.nearest)." "See `loom capability list`.";
    ConnectorNotFound "connector_not_found" Refused 404 false "The catalog holds no connector of this id (detail.nearest)." "See `loom value-connectors list`.";
    OperationNotFound "operation_not_found" Refused 404 false "The capability has no such operation (detail.nearest)." "See `loom capability show ID`.";
    UnknownTicker "unknown_ticker" Refused 404 false "The SEC lists no company with this ticker (detail.nearest)." "Check the ticker, or give `--cik`.";
    NoMatchingFiling "no_matching_filing" Refused 404 false "No filing fits (detail.forms_available)." "Ask for one of the forms that exist.";
    NeverSeen "never_seen" Refused 404 false "Loom holds no trace of this message or id." "Check the link, and the health of the Connection with `loom integration status`.";
    CursorExpired "cursor_expired" Refused 410 false "The list cursor is no longer valid." "Start the list again without a cursor.";
    MethodNotAllowed "method_not_allowed" Refused 405 false "The route exists but not for this method." "See the Allow header.";
    UnsupportedMediaType "unsupported_media_type" Refused 415 false "The content type of the request is not accepted." "Send application/json.";
    RequestTimeout "request_timeout" Refused 408 true "The request was not received in time." "Send it again.";
    InvalidInput "invalid_input" Refused 422 false "A well-formed argument, file or body breaks a rule (detail.pointer)." "Correct the value that detail.pointer names.";
    InvalidUrl "invalid_url" Refused 422 false "A URL breaks a rule (detail.rule)." "Correct the URL.";
    Archived "archived" Refused 409 false "The record is archived and read-only." "Restore it first, or use another record.";
    Deleted "deleted" Refused 409 false "The record is deleted." "Use another record.";
    Superseded "superseded" Refused 409 false "The record was replaced by another one (detail.superseded_by)." "Use the record that replaced it.";
    Disabled "disabled" Refused 409 false "The Connection, Address or Membership is switched off." "Enable it with `loom integration enable` or `loom conversation enable`.";
    AlreadyExists "already_exists" Refused 409 false "An object with this identity exists." "Use the existing object named in the message.";
    IdentityBound "identity_bound" Refused 409 false "The external identity is bound already on this Connection." "Use the Address named in the message, or delete it first.";
    ReservedName "reserved_name" Refused 422 false "The name is a command word and cannot name an Agent." "Choose another name.";
    ImmutableField "immutable_field" Refused 409 false "The field cannot change after creation." "Create a new object with the right value.";
    ActorRequired "actor_required" Refused 422 false "A DM Membership needs the stable id of its actor." "Add `--actor ID`.";
    ActorNotApplicable "actor_not_applicable" Refused 422 false "Only a DM Membership has an actor." "Leave `--actor` out, or use `--type dm`.";
    TrustConflict "trust_conflict" Refused 409 false "The trust domains do not fit together." "Use a separate Agent for the other trust domain.";
    CapabilityMissing "capability_missing" Refused 409 false "The Connection lacks the capability this needs." "See `loom integration status` for what the Connection can do.";
    NotReady "not_ready" Refused 409 false "A tool, credential, setting or enablement is missing (detail.readiness)." "See `loom value-connectors install-check`.";
    ContactRequired "contact_required" Refused 409 false "The SEC wants a name and an e-mail address with each request." "Give `--contact`, or set LOOM_SEC_CONTACT.";
    UpdateRefused "update_refused" Refused 409 false "The update was refused; nothing changed." "See the message for the rule.";
    MembershipRequired "membership_required" Refused 422 false "A Membership is needed; raw provider conversation ids are never accepted." "Use a mem_ id from `loom conversation list`.";
    ProactiveNotAllowed "proactive_not_allowed" Refused 409 false "The Membership only allows replies." "Set `--outbound-policy proactive` with `loom conversation set`.";
    OutboundDisabled "outbound_disabled" Refused 409 false "The Membership's outbound policy is none." "Change it with `loom conversation set … --outbound-policy reply_only`.";
    ReplyDisabled "reply_disabled" Refused 409 false "The reply policy or the message expects no answer." "Change the reply policy if an answer is wanted.";
    AddressNotOwned "address_not_owned" Refused 409 false "The Address no longer belongs to this Agent." "Send from the Agent that owns the Address.";
    AccessPending "access_pending" Refused 409 false "The sender is not approved yet." "Approve with `loom conversation set … --type dm --actor …` and `loom conversation enable`.";
    AlreadyDecided "already_decided" Refused 409 false "The item has its final decision already." "Nothing to do; see `loom inbox get`.";
    ReplyExists "reply_exists" Refused 409 false "Another reply to this item is on its way or sent." "See it with `loom outbox get`.";
    ReplyPartiallySent "reply_partially_sent" Refused 409 false "Part of an earlier reply reached the platform or may have." "Use `--after-partial` once no Part is unknown.";
    TargetMismatch "target_mismatch" Refused 409 false "The target does not belong to the Membership's conversation." "Use a thread or message of that conversation.";
    TargetNotAllowed "target_not_allowed" Refused 409 false "A reply inherits its target; it cannot be given." "Leave out `--thread-id` and `--message-id`.";
    InternalItem "internal_item" Refused 409 false "The item is internal, not from a platform." "Use `loom msg` for Agent-to-Agent messages.";
    ExternalItem "external_item" Refused 409 false "The item comes from a platform." "Use `loom integration send --from AGENT --reply-to ID`.";
    IdempotencyConflict "idempotency_conflict" Refused 409 false "The key was used for other content." "Use a new key, or send the same content.";
    IdempotencyFailed "idempotency_failed" Refused 409 false "The earlier send with this key failed." "Run `loom outbox retry` on it, or use a new key.";
    InvalidState "invalid_state" Refused 409 false "The object's state does not allow this." "Read its state and try the command the message names.";
    LifecycleBlocked "lifecycle_blocked" Refused 409 false "Open work or dependants block the change (detail.blockers)." "Clear each blocker with the command shown beside it.";
    RollbackConflict "rollback_conflict" Refused 409 false "Something changed since; the rollback left it alone." "Review the listed records.";
    DeliveryFailed "delivery_failed" Refused 422 false "The provider refused the message for good." "See `loom outbox get`; correct the cause and `loom outbox retry`.";
    DeliveryExpired "delivery_expired" Refused 422 false "The message was not delivered within its time to live." "Send again with `loom outbox retry`.";
    DeliveryCancelled "delivery_cancelled" Refused 422 false "The message was cancelled before delivery." "See `loom outbox get` for the reason.";
    ArtifactMissing "artifact_missing" Refused 404 false "The file is not in the store." "Upload the file again.";
    FileRefused "file_refused" Refused 422 false "The file cannot be taken or sent." "See the message for the rule that refused it.";
    TextTooLong "text_too_long" Refused 422 false "The text does not fit the limit." "Shorten the text or send it as a file.";
    BotNotMember "bot_not_member" Refused 409 false "The provider says the bot is not a member of the conversation." "Invite the bot to the conversation.";
    CredentialMissing "credential_missing" Refused 409 false "No credential is stored for this." "Store one first; see `loom explain credential_unavailable`.";
    CredentialUnavailable "credential_unavailable" Refused 409 false "The credential reference does not resolve (detail.reason)." "Set the variable, file or vault entry that the reference names.";
    CredentialMismatch "credential_mismatch" Refused 409 false "The credential belongs to another account." "Use the credential of the account this Connection was made for.";
    CredentialHostMismatch "credential_host_mismatch" Refused 409 false "A stored key is used only with the base URL it was verified with." "Use the original base URL, or give the key again.";
    CredentialFileRefused "credential_file_refused" Refused 422 false "The file breaks a rule for private files." "Make it a regular file of yours with mode 0600: `chmod 600 FILE`.";
    SecretInInput "secret_in_input" Refused 422 false "A literal secret was given where only a reference may stand." "Put the secret in a file or variable and give its reference; then rotate it.";
    SecretInContent "secret_in_content" Refused 422 false "The content holds a secret and was not sent." "Remove the secret from the content.";
    TooLarge "too_large" Refused 413 false "The input is over its size limit." "Make it smaller; the message names the limit.";
    TooMany "too_many" Refused 422 false "There are more entries than the limit allows." "Send fewer; the message names the limit.";
    QueueFull "queue_full" Refused 429 true "The queue has reached its limit." "Let it drain, or cancel items that are no longer wanted.";
    RateLimited "rate_limited" Refused 429 true "Too many requests." "Wait for the time in Retry-After.";
    BudgetExceeded "budget_exceeded" Refused 429 true "The budget for this is used up." "Wait until the budget renews.";
    ConfirmationRequired "confirmation_required" Decision 409 false "The action needs a confirmation." "Repeat it with `--yes` or the `--confirm` value shown.";
    ReleaseRequired "release_required" Decision 409 false "Content of another trust domain is held for the owner." "Review it with `loom policy releases`.";
    ApprovalRequired "approval_required" Decision 409 false "A gate is open (detail.gate_id, detail.call_digest)." "The owner decides with `loom value-connectors approve`.";
    ApprovalInvalid "approval_invalid" Decision 409 false "The approval is expired, used, denied, or for other bytes." "Make a new plan and have it approved.";
    DeliveryUnknown "delivery_unknown" Decision 409 false "It is not known whether the provider accepted the message; it is being settled." "Watch `loom outbox get`; if it stays unknown decide with `loom outbox settle`.";
    DeliveryHeld "delivery_held" Decision 409 false "The message is held." "See `loom outbox get` for the reason.";
    ProviderNetworkError "provider_network_error" Provider 502 true "No usable answer came from the provider (detail.phase)." "Check the network and the base URL.";
    ProviderTimeout "provider_timeout" Provider 504 true "The provider did not answer in time (detail.phase)." "Try again later.";
    ProviderRateLimited "provider_rate_limited" Provider 503 true "The provider or a local limit asks to wait (retry_after_ms)." "Wait for retry_after_ms.";
    ProviderAuthError "provider_auth_error" Provider 502 false "The provider refused the credential." "Renew the credential.";
    ProviderQuotaExhausted "provider_quota_exhausted" Provider 503 false "A long-period quota of the provider is used up." "Wait for detail.resets_at.";
    ProviderHttpError "provider_http_error" Provider 502 false "The provider answered with an error status." "See http_status and detail.provider_message.";
    ProviderProtocolError "provider_protocol_error" Provider 502 false "The provider's answer could not be read." "Check that the base URL is the right service.";
    ProviderResponseTooLarge "provider_response_too_large" Provider 502 false "The provider's answer is over its limit." "Ask for less; a source map of yours may raise response.max_bytes.";
    ProviderRedirectRefused "provider_redirect_refused" Provider 502 false "The provider answered with a redirect that may not be followed." "Use the final address as base URL.";
    OutcomeUnknown "outcome_unknown" Provider 504 false "A write was sent and no answer came; it is never repeated by itself." "Settle it with the provider.";
    MissingScope "missing_scope" Provider 502 false "The credential lacks a scope (detail.needed)." "Add the scope to the app and reinstall it.";
    ConfigError "config_error" Provider 502 false "The provider says the app is not set up for this." "Correct the app's settings at the provider.";
    GatewayUnavailable "gateway_unavailable" Provider 503 true "No gateway serves this Connection." "See `loom integration status`.";
    DeliveryPending "delivery_pending" Provider 504 true "The message is still on its way; nothing was cancelled." "Watch it with `loom outbox get`.";
    WaitTimeout "wait_timeout" Provider 504 true "The wait ended before the work did." "Wait again, or look at the object later.";
    DeadlineExceeded "deadline_exceeded" Refused 504 true "The overall deadline passed." "Try again with more time.";
    ExtensionFailed "extension_failed" Refused 502 false "The component of an extension failed." "See the message; tell its author.";
    ExtensionLimit "extension_limit" Refused 502 false "The component of an extension broke a limit and was stopped." "Tell its author.";
    GitFailed "git_failed" Refused 500 false "A git operation failed." "See the message.";
    SelfTestFailed "self_test_failed" Refused 500 false "The new version failed its own test; the previous one runs." "Keep the previous version and tell its author.";
    UpdateRolledBack "update_rolled_back" Refused 500 false "The update was taken back; the previous version runs." "See the message for the cause.";
    Cancelled "cancelled" Refused 499 true "The work was stopped by a command or a signal." "Start it again if it is still wanted.";
    VersionConflict "version_conflict" Conflict 409 false "The object changed since it was read (detail.current, detail.diff)." "Read it again and repeat the change on the new version.";
    Locked "locked" Conflict 409 true "Another process holds the lock." "Stop the holder named in the message, or use its hub.";
    LeaseLost "lease_lost" Conflict 409 false "The lease was lost to another owner." "Open a new session.";
    PlanChanged "plan_changed" Conflict 409 false "The plan changed since it was confirmed." "Look at the new plan and confirm it.";
    SchemaTooNew "schema_too_new" Conflict 409 false "The data was written by a newer Loom." "Use that version or a newer one.";
    UnsupportedFilesystem "unsupported_filesystem" Conflict 409 false "The data directory is on a filesystem without reliable locks." "Move LOOM_HOME to a local disk.";
    ArtifactChanged "artifact_changed" Integrity 422 false "The file's bytes differ from what was announced." "Send the file again.";
    ArtifactDigestMismatch "artifact_digest_mismatch" Integrity 422 false "The stored file is damaged; it was not sent." "Upload the file again.";
    SignatureInvalid "signature_invalid" Integrity 401 false "The signature is missing, wrong, doubled or too old." "Check the signing secret and the clock.";
    ChecksumRequired "checksum_required" Integrity 422 false "No digest was given or published for the archive." "Give `--sha256`, or publish a checksum file beside the archive.";
    ChecksumMismatch "checksum_mismatch" Integrity 422 false "The digest of the archive differs (detail.expected, detail.actual)." "Do not use the archive; fetch it again from its source.";
    PackageInvalid "package_invalid" Integrity 422 false "The archive or its manifest breaks a rule." "Tell its author; nothing was installed.";
    IntegrityError "integrity_error" Integrity 422 false "A stored file or chain is damaged." "Keep it as evidence, and run again what made it.";
    AuditBroken "audit_broken" Integrity 500 false "The audit chain does not verify (detail.seq)." "Keep the database as evidence and restore from a backup.";
    StoreCorrupt "store_corrupt" Integrity 500 false "The database is damaged." "Stop the hub, keep a copy, and restore from a backup.";
    HubUnreachable "hub_unreachable" Hub 503 true "No hub answers." "Start it with `loom up`.";
    HubDraining "hub_draining" Hub 503 true "The hub is shutting down and takes no new work." "Try again when it is up.";
    HubReadOnly "hub_read_only" Hub 503 true "The hub cannot write to its store." "Free disk space; `loom doctor` shows the cause.";
    ProtocolVersion "protocol_version" Hub 426 false "The two sides speak different protocol versions." "Use the same version of Loom on both sides.";
    Internal "internal" Refused 500 false "A defect in Loom." "Report it with the request id; the log holds the details.";
}

impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_parses_back_and_serialises_as_its_text() {
        for code in Code::ALL {
            assert_eq!(Code::parse(code.as_str()), Some(*code));
            assert_eq!(serde_json::to_value(code).unwrap(), code.as_str());
            assert!(!code.about().is_empty() && !code.hint().is_empty());
            assert!((400..600).contains(&code.http()));
        }
    }
}
