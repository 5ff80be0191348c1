//! The server as its peers see it: raw bytes on real sockets.

mod atk_access;
mod atk_load;
mod atk_origin;
mod envelope;
mod house;
mod own;
mod peers;
mod streams;
mod table;
mod tls;
mod watching;
mod whole;
