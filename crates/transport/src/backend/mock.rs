//! Scripted answers.
/// Mock.
#[derive(Debug, Default)] pub struct MockBackend;
