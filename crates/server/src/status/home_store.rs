//! The store of a home that is watched: there, or made later by the first hub.

use std::sync::Arc;

use loom_domain::{Error, Result};
use loom_store::Store;
use tokio::sync::OnceCell;

/// Opens the store, if there is one by now.
type Open = Arc<dyn Fn() -> Result<Option<Store>> + Send + Sync>;

/// The store of a home, which is opened once it is there.
#[derive(Clone)]
pub struct HomeStore {
    open: Open,
    found: Arc<OnceCell<Store>>,
}

impl HomeStore {
    /// A store that is open.
    pub fn of(store: Store) -> Self {
        HomeStore { open: Arc::new(|| Ok(None)), found: Arc::new(OnceCell::new_with(Some(store))) }
    }

    /// A home that has no store and gets none.
    pub fn none() -> Self {
        HomeStore { open: Arc::new(|| Ok(None)), found: Arc::default() }
    }

    /// Looks for a store now, and again whenever somebody asks. One that is there and cannot be opened is an error.
    pub fn look(open: impl Fn() -> Result<Option<Store>> + Send + Sync + 'static) -> Result<Self> {
        let found = OnceCell::new_with(open()?);
        Ok(HomeStore { open: Arc::new(open), found: Arc::new(found) })
    }

    /// The store as far as it was found: costs nothing.
    pub(super) fn known(&self) -> Option<&Store> {
        self.found.get()
    }

    /// The store, looked for if it was not there.
    pub(super) async fn find(&self) -> Result<Option<&Store>> {
        let look = || async {
            let open = Arc::clone(&self.open);
            let looked = tokio::task::spawn_blocking(move || open()).await;
            looked.map_err(|error| Some(Error::internal(error)))?.map_err(Some)?.ok_or(None)
        };
        match self.found.get_or_try_init(look).await {
            Ok(store) => Ok(Some(store)),
            Err(None) => Ok(None),
            Err(Some(error)) => Err(error),
        }
    }
}
