//! jq programs over one item at a time, with limits of time, memory and output, and without a way outside.
//!
//! A program is parsed and rewritten before it is compiled (`rewrite`): every step that can repeat or grow passes a
//! meter (`meter`). A definition that calls itself is refused; the endless generators of the language are stopped by
//! the meter. Compiled programs stay on a thread of their own (`worker`), whose stack is large enough for the deepest
//! program that is taken.

mod meter;
mod rewrite;
mod worker;

use std::fmt::Write as _;
use std::time::Duration;

use jaq_core::load::{Arena, File, Loader};
use jaq_core::{Compiler, Ctx, Vars};
use jaq_json::Val;
use loom_domain::{Code, Error, Result};
use serde_json::Value;

use meter::{Fuel, Lent, Metered, Spent};

pub(crate) use worker::Projector;

/// Longest program.
pub(crate) const PROGRAM_BYTES_MAX: usize = 4 * 1024;
/// Time for one item.
const ITEM_TIME: Duration = Duration::from_millis(200);
/// Bytes of the results of one item.
const OUTPUT_BYTES_MAX: usize = 64 * 1024;
/// Results of one item.
const OUTPUTS_MAX: usize = 1_000;
const MAIN: &str = "loom_main";

/// A compiled program. It cannot leave its thread.
struct Program(jaq_core::Filter<Metered>);

/// Why there is no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Failure {
    /// A limit was reached.
    Limit(&'static str),
    /// The program failed on this item.
    Failed,
}

impl Failure {
    /// The failure as an error of an answer.
    pub(crate) fn into_error(self) -> Error {
        let message = match self {
            Failure::Limit(limit) => format!("the projection was stopped: {limit}"),
            Failure::Failed => "the projection failed on the answer".to_owned(),
        };
        Error::new(Code::ProviderProtocolError, message).with_detail("phase", "projection")
    }
}

/// Checks that a program is one that may run.
pub(crate) fn check(text: &str) -> Result<()> {
    worker::check(text)
}

impl Program {
    /// Compiles; the error says in one sentence what is wrong.
    fn compile(text: &str) -> std::result::Result<Self, String> {
        if text.len() > PROGRAM_BYTES_MAX {
            return Err(format!("the program is over {PROGRAM_BYTES_MAX} bytes"));
        }
        let main = rewrite::parsed(MAIN, text)?;
        let loader = Loader::new(rewrite::library().chain([main]));
        let arena = Arena::default();
        let modules = loader
            .load(&arena, File { code: MAIN, path: () })
            .map_err(|_| "the program cannot be loaded".to_owned())?;
        let compiled = Compiler::default().with_funs(meter::funs()).compile(modules);
        let filter = compiled.map_err(|errors| {
            let unknown = errors.first().and_then(|(_, found)| found.first());
            match unknown {
                Some((name, kind)) => format!("{name} is not a known {}", kind.as_str()),
                None => "the program cannot be compiled".to_owned(),
            }
        })?;
        Ok(Program(filter))
    }

    /// Every result for one item.
    fn run(&self, item: &Value) -> std::result::Result<Vec<Value>, Failure> {
        let fuel = Fuel::new(ITEM_TIME);
        let input = to_val(item).ok_or(Failure::Failed)?;
        let ctx = Ctx::<Metered>::new(Lent { lut: &self.0.lut, fuel: &fuel }, Vars::new([]));
        let mut left = OUTPUT_BYTES_MAX;
        let mut results = Vec::new();
        for output in self.0.id.run((ctx, input)) {
            let value = match output {
                Ok(value) => value,
                Err(exception) => return Err(Spent::of(exception).map_or(Failure::Failed, Spent::failure)),
            };
            fuel.weigh(&value).map_err(Spent::failure)?;
            if results.len() >= OUTPUTS_MAX {
                return Err(Failure::Limit("it gives too many results"));
            }
            let text = written(&value, left).ok_or(Failure::Limit("its output is over 64 KiB"))?;
            left = left.saturating_sub(text.len());
            results.push(serde_json::from_str(&text).map_err(|_| Failure::Failed)?);
        }
        Ok(results)
    }
}

fn to_val(item: &Value) -> Option<Val> {
    jaq_json::read::parse_single(item.to_string().as_bytes()).ok()
}

/// The text of a value, unless it is too long.
fn written(value: &Val, most: usize) -> Option<String> {
    struct Capped(String, usize);
    impl std::fmt::Write for Capped {
        fn write_str(&mut self, text: &str) -> std::fmt::Result {
            if self.0.len() + text.len() > self.1 {
                return Err(std::fmt::Error);
            }
            self.0.push_str(text);
            Ok(())
        }
    }
    let mut capped = Capped(String::new(), most);
    write!(capped, "{value}").ok()?;
    Some(capped.0)
}

#[cfg(test)]
mod tests;
