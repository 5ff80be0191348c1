//! Cassettes.
/// Recorded.
#[derive(Debug, Default)] pub struct RecordedBackend;
