//! Whole operations, one file per noun.
