//! Black-box stories against the real binary.

#[cfg(test)]
mod peers_codex;

#[cfg(test)]
mod peers_slack;
