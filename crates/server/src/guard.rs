//! The guards of the platform specification, C.4, in their order.
//!
//! Guards 1 to 4 stand before routing (`front`), guard 5 is the router, guards 6 to 9 stand between a matched
//! route and its handler (`gate`). Nothing of a body is read before guard 9. What a known caller was refused is
//! recorded behind them (`refused`).

mod body;
mod forwarded;
mod front;
mod gate;
mod host;
mod json;
mod line;
mod origin;
mod rate;
mod refused;
mod throttle;
mod whoami;

pub(crate) use front::Front;
pub(crate) use gate::{Access, BodyRule, Gate, Rule, gate};
pub(crate) use host::Names;
pub(crate) use origin::Origins;
pub(crate) use rate::Buckets;
pub(crate) use refused::Refused;
pub(crate) use throttle::Throttle;
