CREATE TABLE webhook_endpoints (id TEXT PRIMARY KEY, seq BIGINT NOT NULL, enabled BIGINT NOT NULL, doc TEXT NOT NULL);

CREATE TABLE webhook_deliveries (
  id TEXT PRIMARY KEY, seq BIGINT NOT NULL, endpoint TEXT NOT NULL, state TEXT NOT NULL, due_at BIGINT NOT NULL,
  created_at BIGINT NOT NULL, doc TEXT NOT NULL);
CREATE INDEX webhook_deliveries_seq ON webhook_deliveries (seq);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (due_at) WHERE state = 'pending';
CREATE INDEX webhook_deliveries_old ON webhook_deliveries (created_at) WHERE state <> 'pending';

CREATE TABLE hook_events (
  id TEXT PRIMARY KEY, seq BIGINT NOT NULL, route TEXT NOT NULL, at BIGINT NOT NULL, doc TEXT NOT NULL);
CREATE INDEX hook_events_route ON hook_events (route, seq);
CREATE INDEX hook_events_at ON hook_events (at);
CREATE TABLE hook_seen (route TEXT NOT NULL, event_key TEXT NOT NULL, at BIGINT NOT NULL, PRIMARY KEY (route, event_key));
CREATE INDEX hook_seen_at ON hook_seen (at);
CREATE TABLE hook_refusals (
  id TEXT PRIMARY KEY, seq BIGINT NOT NULL, route TEXT NOT NULL, reason TEXT NOT NULL, at BIGINT NOT NULL, doc TEXT NOT NULL);
CREATE INDEX hook_refusals_route ON hook_refusals (route, seq);
