//! Loops of several Agents: lanes that work in rounds towards one objective, within budgets.
//!
//! Each lane-round is one Turn whose key is made of the run, the lane, the round and the attempt, so that a run which is
//! taken up after a crash repeats none. What lanes tell each other stands in the journal of the run before the next round
//! begins, and is marked as the words of a lane, never as the owner's.

mod decide;
mod desk;
mod file;
mod log;
mod prompt;
mod reports;
mod row;
mod scheduler;
mod view;

pub use file::multi_agent_schema;
pub use reports::Report;
pub use view::RunView;

pub(crate) use desk::{Live, prune, resume_all};
pub(crate) use reports::Reports;
