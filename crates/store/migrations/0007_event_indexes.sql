DROP INDEX events_message;
CREATE INDEX events_conversation ON events (connection_id, conversation_id, seq);
DROP INDEX events_provider;
CREATE INDEX events_provider ON events (provider_message_id, conversation_id, connection_id);
