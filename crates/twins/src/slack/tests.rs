//! The twin through real sockets, as a client sees it.

mod client;
mod faults;
mod files;
mod limits;
mod reading;
mod sockets;
mod writing;
