//! Black-box stories against the real binary; see `stories/`.
