CREATE TABLE schedules (
  id TEXT PRIMARY KEY, seq BIGINT NOT NULL, kind TEXT NOT NULL, enabled BIGINT NOT NULL, doc TEXT NOT NULL);

CREATE TABLE occurrences (
  id TEXT PRIMARY KEY, seq BIGINT NOT NULL, schedule TEXT NOT NULL, outcome TEXT NOT NULL, at BIGINT NOT NULL,
  doc TEXT NOT NULL);
CREATE INDEX occurrences_schedule ON occurrences (schedule, seq);
CREATE INDEX occurrences_open ON occurrences (schedule) WHERE outcome = 'started';
CREATE INDEX occurrences_at ON occurrences (at);
