CREATE TABLE connector_plans (
  id TEXT PRIMARY KEY, seq BIGINT NOT NULL, agent_id TEXT NOT NULL, created_at BIGINT NOT NULL, doc TEXT NOT NULL);
CREATE INDEX connector_plans_seq ON connector_plans (seq);

CREATE TABLE gates (
  id TEXT PRIMARY KEY, seq BIGINT NOT NULL, plan_id TEXT NOT NULL, call_id TEXT NOT NULL, state TEXT NOT NULL,
  outcome TEXT NOT NULL, node TEXT NOT NULL, waits BIGINT NOT NULL, expires_at BIGINT NOT NULL, doc TEXT NOT NULL);
CREATE UNIQUE INDEX gates_call ON gates (plan_id, call_id);
CREATE INDEX gates_due ON gates (expires_at) WHERE waits = 1;
CREATE INDEX gates_attempting ON gates (node) WHERE outcome = 'attempting';

CREATE TABLE grants (
  id TEXT PRIMARY KEY, seq BIGINT NOT NULL, agent_id TEXT NOT NULL, capability_id TEXT NOT NULL, revoked BIGINT NOT NULL,
  doc TEXT NOT NULL);
CREATE INDEX grants_agent ON grants (agent_id, seq);
