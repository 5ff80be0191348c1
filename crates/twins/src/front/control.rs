//! The HTTP control side of a reading twin, for curl and for other processes: `/twin/…`.

use http::Method;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use super::answer::Answer;
use super::{Call, Fault, Faults, Ledger};

/// Serves `GET /twin/requests`, `GET /twin/faults`, `POST /twin/fault`, `POST /twin/clear`.
pub(crate) fn handle<A>(call: &Call, ledger: &Ledger, faults: &Faults<A>) -> Answer
where
    A: Clone + Serialize + DeserializeOwned,
{
    let name = call.path.trim_start_matches("/twin").trim_matches('/');
    match (&call.method, name) {
        (&Method::GET, "requests") => Answer::json(200, &json!(ledger.requests())),
        (&Method::GET, "faults") => Answer::json(200, &json!(faults.all())),
        (&Method::POST, "fault") => match serde_json::from_slice::<Fault<A>>(&call.body) {
            Ok(fault) => {
                faults.plan(fault);
                Answer::json(200, &json!({"faults": faults.all()}))
            }
            Err(error) => Answer::json(400, &json!({"error": error.to_string()})),
        },
        (&Method::POST, "clear") => {
            faults.clear();
            ledger.clear();
            Answer::json(200, &json!({}))
        }
        _ => Answer::json(404, &json!({"error": format!("no view or action {name:?}")})),
    }
}
