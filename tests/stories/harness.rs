//! A hub in a home of its own with a simulated Slack beside it, driven as a user drives it: by command lines.

mod api;
mod output;
mod poll;
pub(crate) mod postgres;
mod process;
mod scene;
mod world;

pub(crate) use output::Output;
pub(crate) use poll::{LONG, SOON, eventually, stays};
pub(crate) use process::HubProcess;
pub(crate) use scene::{ECHO, Scene, agent_script};
pub(crate) use world::{BOT_TOKEN, Setup, World};
