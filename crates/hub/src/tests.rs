//! The hub over a real store and real programs, with channels that follow a script.

mod answers;
mod configuration;
mod connections;
mod delivery;
mod files;
mod house;
mod loops;
mod notices;
mod queue;
mod schedules;
mod script;
mod secrets;
mod uploads;
mod webhooks;
