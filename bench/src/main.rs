//! Measures Loom against its performance budget. Each figure stands beside the disk's own speed in the same run.
//!
//! `loom-bench [--seconds N] [--messages N] [--items N] [--runs N] [--seed N] NAME...` prints one JSON line a figure
//! and a line for people; a bound that is missed is told and fails nothing.
//! Names: `pb-1 pb-3 pb-4 pb-5 pb-6 pb-7 pb-8 pb-9 pb-14 pb-15`, or `all`. `pb-6`, `pb-8`, `pb-9` and `pb-15` start the
//! program that `LOOM_BIN` names, or else `loom` beside this program.

mod figures;
mod floor;
mod hub;
mod machine;
mod options;
mod quantile;
mod report;
mod world;

use std::process::ExitCode;

use options::Options;

fn main() -> ExitCode {
    let options = match Options::read(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(error) => {
            report::complain(&format!("{error}"));
            return ExitCode::from(2);
        }
    };
    match figures::run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            report::complain(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}
