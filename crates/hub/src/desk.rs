//! What people and Agents ask of the hub that needs more than the store: sends that wait, files, live health.

mod health;
mod reread;
mod send;
mod status;
mod test;
mod uploads;

pub use send::Wanted;
pub use test::TestEnd;
pub use uploads::Upload;
