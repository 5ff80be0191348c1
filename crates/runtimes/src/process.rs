//! Children of a runtime: how they start, what they may see, how they are known again and stopped.

mod environment;
mod launch;
mod record;
mod tail;

pub(crate) use environment::environment;
pub(crate) use launch::{Force, find, make_private_dir, spawn, stop_group};
pub(crate) use record::{ChildRecord, Liveness};
pub(crate) use tail::Tail;
