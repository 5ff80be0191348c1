CREATE TABLE integration_applies (
  id TEXT PRIMARY KEY, seq BIGINT NOT NULL, at BIGINT NOT NULL, revision TEXT NOT NULL, doc TEXT NOT NULL);
CREATE INDEX integration_applies_seq ON integration_applies (seq);
