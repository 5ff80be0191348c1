CREATE TABLE sequence (id BIGINT PRIMARY KEY, value BIGINT NOT NULL);
INSERT INTO sequence (id, value) VALUES (1, 0);

CREATE TABLE agents (
  id TEXT PRIMARY KEY, seq BIGINT NOT NULL, name_key TEXT NOT NULL, archived BIGINT NOT NULL, doc TEXT NOT NULL);
CREATE UNIQUE INDEX agents_name ON agents (name_key);

CREATE TABLE connections (
  id TEXT PRIMARY KEY, seq BIGINT NOT NULL, provider TEXT NOT NULL, account_ref TEXT NOT NULL,
  scope_ref TEXT NOT NULL, archived BIGINT NOT NULL, doc TEXT NOT NULL);
CREATE UNIQUE INDEX connections_account ON connections (provider, account_ref, scope_ref) WHERE archived = 0;
CREATE TABLE connection_cursors (connection_id TEXT PRIMARY KEY, value TEXT NOT NULL, at BIGINT NOT NULL);
CREATE TABLE conversation_reads (
  connection_id TEXT NOT NULL, conversation_id TEXT NOT NULL, at BIGINT NOT NULL, PRIMARY KEY (connection_id, conversation_id));

CREATE TABLE addresses (
  id TEXT PRIMARY KEY, seq BIGINT NOT NULL, agent_id TEXT NOT NULL, connection_id TEXT NOT NULL,
  identity TEXT NOT NULL, archived BIGINT NOT NULL, deleted BIGINT NOT NULL, doc TEXT NOT NULL);
CREATE UNIQUE INDEX addresses_identity ON addresses (connection_id, identity) WHERE deleted = 0;
CREATE INDEX addresses_agent ON addresses (agent_id);

CREATE TABLE memberships (
  id TEXT PRIMARY KEY, seq BIGINT NOT NULL, address_id TEXT NOT NULL, conversation_id TEXT NOT NULL,
  kind TEXT NOT NULL, enabled BIGINT NOT NULL, archived BIGINT NOT NULL, doc TEXT NOT NULL);
CREATE UNIQUE INDEX memberships_conversation ON memberships (address_id, conversation_id) WHERE archived = 0;

CREATE TABLE candidates (
  id TEXT PRIMARY KEY, seq BIGINT NOT NULL, address_id TEXT NOT NULL, conversation_id TEXT NOT NULL, doc TEXT NOT NULL);
CREATE UNIQUE INDEX candidates_conversation ON candidates (address_id, conversation_id);

CREATE TABLE events (
  id TEXT PRIMARY KEY, seq BIGINT NOT NULL, connection_id TEXT NOT NULL, address_id TEXT NOT NULL,
  agent_id TEXT NOT NULL, decision TEXT NOT NULL, reason TEXT NOT NULL, conversation_id TEXT NOT NULL,
  actor_id TEXT NOT NULL, provider_message_id TEXT NOT NULL, received_at BIGINT NOT NULL, doc TEXT NOT NULL);
CREATE INDEX events_seq ON events (seq);
CREATE INDEX events_refused ON events (seq) WHERE decision = 'refused';
CREATE INDEX events_message ON events (connection_id, conversation_id, provider_message_id);
CREATE INDEX events_actor ON events (address_id, actor_id, received_at);
CREATE INDEX events_provider ON events (provider_message_id);
CREATE INDEX events_connection ON events (connection_id, seq);
CREATE INDEX events_received ON events (received_at);
CREATE TABLE event_keys (
  connection_id TEXT NOT NULL, event_key TEXT NOT NULL, address_id TEXT NOT NULL, event_id TEXT NOT NULL, at BIGINT NOT NULL,
  PRIMARY KEY (connection_id, event_key, address_id));
CREATE INDEX event_keys_at ON event_keys (at);
CREATE TABLE message_keys (
  address_id TEXT NOT NULL, message_key TEXT NOT NULL, event_id TEXT NOT NULL, at BIGINT NOT NULL,
  PRIMARY KEY (address_id, message_key));
CREATE INDEX message_keys_at ON message_keys (at);
CREATE TABLE raw_events (event_id TEXT PRIMARY KEY, at BIGINT NOT NULL, raw TEXT NOT NULL);
CREATE INDEX raw_events_at ON raw_events (at);
CREATE TABLE reason_counts (reason TEXT PRIMARY KEY, decision TEXT NOT NULL, total BIGINT NOT NULL);

CREATE TABLE messages (
  id TEXT PRIMARY KEY, seq BIGINT NOT NULL, connection_id TEXT NOT NULL, conversation_id TEXT NOT NULL,
  thread_id TEXT NOT NULL, provider_message_id TEXT NOT NULL, received_at BIGINT NOT NULL, doc TEXT NOT NULL);
CREATE INDEX messages_provider ON messages (connection_id, conversation_id, provider_message_id);
CREATE INDEX messages_received ON messages (received_at);

CREATE TABLE inbox (
  id TEXT PRIMARY KEY, seq BIGINT NOT NULL, agent_id TEXT NOT NULL, address_id TEXT NOT NULL,
  membership_id TEXT NOT NULL, message_id TEXT NOT NULL, conversation_id TEXT NOT NULL, sender_id TEXT NOT NULL,
  origin TEXT NOT NULL, queue_key TEXT NOT NULL, state TEXT NOT NULL, open BIGINT NOT NULL,
  available_at BIGINT NOT NULL, created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL, doc TEXT NOT NULL);
CREATE INDEX inbox_seq ON inbox (seq);
CREATE INDEX inbox_agent ON inbox (agent_id, seq);
CREATE INDEX inbox_open ON inbox (agent_id, state, seq) WHERE open = 1;
CREATE INDEX inbox_open_conversation ON inbox (address_id, conversation_id) WHERE open = 1;
CREATE INDEX inbox_due ON inbox (state, available_at) WHERE open = 1;
CREATE INDEX inbox_state ON inbox (state, seq);
CREATE INDEX inbox_message ON inbox (message_id);
CREATE INDEX inbox_closed ON inbox (updated_at) WHERE open = 0;
CREATE TABLE queue_marks (
  agent_id TEXT NOT NULL, conversation_key TEXT NOT NULL, queue_key TEXT NOT NULL, served BIGINT NOT NULL,
  PRIMARY KEY (agent_id, conversation_key, queue_key));

CREATE TABLE attempts (
  id TEXT PRIMARY KEY, seq BIGINT NOT NULL, inbox_item_id TEXT NOT NULL, turn_id TEXT NOT NULL, doc TEXT NOT NULL);
CREATE INDEX attempts_item ON attempts (inbox_item_id, seq);
CREATE UNIQUE INDEX attempts_turn ON attempts (turn_id);
CREATE TABLE turns (
  id TEXT PRIMARY KEY, seq BIGINT NOT NULL, agent_id TEXT NOT NULL, item_id TEXT NOT NULL, open BIGINT NOT NULL,
  node TEXT NOT NULL, created_at BIGINT NOT NULL, doc TEXT NOT NULL);
CREATE INDEX turns_agent ON turns (agent_id, seq);
CREATE UNIQUE INDEX turns_one_open ON turns (agent_id) WHERE open = 1;

CREATE TABLE outbox (
  id TEXT PRIMARY KEY, seq BIGINT NOT NULL, agent_id TEXT NOT NULL, address_id TEXT NOT NULL,
  membership_id TEXT NOT NULL, connection_id TEXT NOT NULL, conversation_id TEXT NOT NULL, inbox_item_id TEXT NOT NULL,
  state TEXT NOT NULL, open BIGINT NOT NULL, proactive BIGINT NOT NULL, awaited BIGINT NOT NULL,
  held_until BIGINT NOT NULL, expires_at BIGINT NOT NULL, created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL, doc TEXT NOT NULL);
CREATE INDEX outbox_seq ON outbox (seq);
CREATE INDEX outbox_agent ON outbox (agent_id, seq);
CREATE INDEX outbox_state ON outbox (state, seq);
CREATE INDEX outbox_open ON outbox (agent_id, state) WHERE open = 1;
CREATE INDEX outbox_item ON outbox (inbox_item_id);
CREATE INDEX outbox_membership ON outbox (membership_id, created_at);
CREATE INDEX outbox_awaited ON outbox (expires_at) WHERE awaited = 1;
CREATE INDEX outbox_closed ON outbox (updated_at) WHERE open = 0;
CREATE TABLE idempotency (scope TEXT PRIMARY KEY, outbox_id TEXT NOT NULL, at BIGINT NOT NULL);
CREATE INDEX idempotency_outbox ON idempotency (outbox_id);

CREATE TABLE parts (
  id TEXT PRIMARY KEY, seq BIGINT NOT NULL, outbox_id TEXT NOT NULL, n BIGINT NOT NULL, connection_id TEXT NOT NULL,
  conversation_id TEXT NOT NULL, state TEXT NOT NULL, open BIGINT NOT NULL, until BIGINT NOT NULL,
  lease_until BIGINT NOT NULL, expires_at BIGINT NOT NULL, doc TEXT NOT NULL);
CREATE UNIQUE INDEX parts_item ON parts (outbox_id, n);
CREATE INDEX parts_work ON parts (connection_id, state, seq) WHERE open = 1;
CREATE INDEX parts_conversation ON parts (connection_id, conversation_id, state) WHERE open = 1;
CREATE INDEX parts_expiry ON parts (expires_at) WHERE open = 1;
CREATE TABLE send_attempts (
  id TEXT PRIMARY KEY, seq BIGINT NOT NULL, part_id TEXT NOT NULL, outbox_id TEXT NOT NULL, doc TEXT NOT NULL);
CREATE INDEX send_attempts_part ON send_attempts (part_id, seq);
CREATE INDEX send_attempts_item ON send_attempts (outbox_id, seq);
CREATE TABLE receipts (
  connection_id TEXT NOT NULL, external_id TEXT NOT NULL, conversation_id TEXT NOT NULL, part_id TEXT NOT NULL,
  outbox_id TEXT NOT NULL, at BIGINT NOT NULL, PRIMARY KEY (connection_id, external_id, conversation_id, part_id));
CREATE INDEX receipts_item ON receipts (outbox_id);
CREATE TABLE pauses (connection_id TEXT NOT NULL, scope TEXT NOT NULL, until BIGINT NOT NULL, PRIMARY KEY (connection_id, scope));

CREATE TABLE artifacts (
  id TEXT PRIMARY KEY, seq BIGINT NOT NULL, sha256 TEXT NOT NULL, created_at BIGINT NOT NULL, doc TEXT NOT NULL);
CREATE INDEX artifacts_sha256 ON artifacts (sha256);
CREATE TABLE artifact_refs (artifact_id TEXT NOT NULL, owner_id TEXT NOT NULL, PRIMARY KEY (artifact_id, owner_id));
CREATE INDEX artifact_refs_owner ON artifact_refs (owner_id);

CREATE TABLE leases (name TEXT PRIMARY KEY, node TEXT NOT NULL, fence BIGINT NOT NULL, expires_at BIGINT NOT NULL);

CREATE TABLE audit (
  node TEXT NOT NULL, seq BIGINT NOT NULL, at BIGINT NOT NULL, principal TEXT NOT NULL, action TEXT NOT NULL,
  object_id TEXT NOT NULL, row_json TEXT NOT NULL, prev_hash TEXT NOT NULL, hash TEXT NOT NULL, PRIMARY KEY (node, seq));
CREATE INDEX audit_object ON audit (object_id);

CREATE TABLE changes (
  seq BIGINT PRIMARY KEY, at BIGINT NOT NULL, kind TEXT NOT NULL, object_id TEXT NOT NULL, agent_id TEXT NOT NULL,
  version BIGINT NOT NULL, changed TEXT NOT NULL);

CREATE TABLE notices (
  id TEXT PRIMARY KEY, seq BIGINT NOT NULL, dedupe_key TEXT NOT NULL, acked BIGINT NOT NULL, created_at BIGINT NOT NULL,
  doc TEXT NOT NULL);
CREATE UNIQUE INDEX notices_open ON notices (dedupe_key) WHERE acked = 0;
CREATE INDEX notices_seq ON notices (seq);

CREATE TABLE bot_budgets (key TEXT PRIMARY KEY, at BIGINT NOT NULL, doc TEXT NOT NULL);

CREATE TABLE tokens (id TEXT PRIMARY KEY, seq BIGINT NOT NULL, subject TEXT NOT NULL, revoked BIGINT NOT NULL, doc TEXT NOT NULL);
