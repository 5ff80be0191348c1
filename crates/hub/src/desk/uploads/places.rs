//! Places of uploads: few at once for each principal.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use loom_domain::{Code, Error, Principal, Result};

/// Uploads of one principal at once.
const UPLOADS_OF_PRINCIPAL_MAX: usize = 4;
/// After how long a principal without a place may ask again.
const RETRY_MS: u64 = 1_000;

/// The uploads that are on their way.
#[derive(Default)]
pub(crate) struct Places(Mutex<HashMap<Principal, usize>>);

/// The place of one upload, free again when it goes.
pub(super) struct Place {
    places: Arc<Places>,
    principal: Principal,
}

impl Places {
    /// Gives a principal a place; one with too many uploads is refused.
    pub(super) fn enter(self: &Arc<Self>, principal: Principal) -> Result<Place> {
        let mut taken = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let uploads = taken.entry(principal.clone()).or_default();
        if *uploads >= UPLOADS_OF_PRINCIPAL_MAX {
            return Err(too_many());
        }
        *uploads += 1;
        Ok(Place { places: Arc::clone(self), principal })
    }
}

impl Place {
    pub(super) fn principal(&self) -> &Principal {
        &self.principal
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.places.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(uploads) = taken.get_mut(&self.principal) {
            *uploads = uploads.saturating_sub(1);
            if *uploads == 0 {
                taken.remove(&self.principal);
            }
        }
    }
}

fn too_many() -> Error {
    let why = format!("there are at most {UPLOADS_OF_PRINCIPAL_MAX} uploads at once");
    let mut error =
        Error::new(Code::RateLimited, why).with_hint("wait for one of your uploads, then ask again");
    error.retry_after_ms = Some(RETRY_MS);
    error
}
