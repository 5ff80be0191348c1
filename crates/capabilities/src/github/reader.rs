//! Reads that are paced, projected as they arrive, and asked for again only if they changed.

use loom_domain::{Code, Error, Result};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Github;
use super::pacing::{Pacing, Patience};
use super::pages::next_of;
use crate::Cx;
use crate::plan::authority;

/// One answer, reduced to what is needed of it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Sheet<T> {
    /// What is needed.
    pub(crate) value: T,
    /// URL of the next page.
    pub(crate) next: Option<String>,
}

/// The API for a run with many reads.
pub(crate) struct Reader<'a> {
    github: Github<'a>,
    pacing: Pacing,
}

impl<'a> Reader<'a> {
    /// Finds the credential; opens nothing.
    pub(crate) async fn open(cx: &'a Cx, patience: Patience) -> Result<Self> {
        Ok(Reader { github: Github::open(cx).await?, pacing: Pacing::new(patience) })
    }

    /// Whether a token was found.
    pub(crate) fn has_token(&self) -> bool {
        self.github.has_token()
    }

    /// The URL of a path.
    pub(crate) fn url(&self, path: &str) -> String {
        self.github.url(path)
    }

    /// Reads one URL. `form` names what `of` makes of an answer; another form is another name.
    pub(crate) async fn read<R, T>(&self, url: &str, form: &str, of: fn(R) -> T) -> Result<Sheet<T>>
    where
        R: DeserializeOwned + Send,
        T: Serialize + DeserializeOwned + Send,
    {
        self.pacing.paced(|| self.read_once(url, form, of)).await
    }

    /// Reads a list along its `Link` headers; tells whether there is more than that many pages.
    pub(crate) async fn read_all<R, T>(
        &self,
        first: String,
        form: &str,
        pages_max: u32,
        of: fn(R) -> Vec<T>,
    ) -> Result<(Vec<T>, bool)>
    where
        R: DeserializeOwned + Send,
        T: Serialize + DeserializeOwned + Send,
    {
        let (mut url, mut all) = (first, Vec::new());
        for _ in 0..pages_max {
            let sheet = self.read(&url, form, of).await?;
            all.extend(sheet.value);
            match sheet.next {
                Some(next) => url = next,
                None => return Ok((all, false)),
            }
        }
        Ok((all, true))
    }

    /// Asks a constant query with variables; gives `data`.
    pub(crate) async fn query(&self, text: &str, variables: &Value) -> Result<Value> {
        self.pacing.paced(|| self.github.query(text, variables)).await
    }

    /// Ends with the error of a limit that is not waited for.
    pub(crate) async fn given_up(&self) -> Error {
        self.pacing.given_up().await
    }

    async fn read_once<R, T>(&self, url: &str, form: &str, of: fn(R) -> T) -> Result<Sheet<T>>
    where
        R: DeserializeOwned,
        T: Serialize + DeserializeOwned,
    {
        let response = self.github.get_if_changed(url, form).await?;
        // What an older program remembered may have another form; the answer itself is there unless it is a 304.
        if let Some(known) = response.projection()
            && let Ok(sheet) = Sheet::<T>::deserialize(known)
        {
            return Ok(sheet);
        }
        let next = match response.header("link").and_then(next_of) {
            Some(next) if next == url => {
                return Err(protocol("the next page is the same page"));
            }
            Some(next) if authority(next) != authority(url) => {
                return Err(protocol("the next page is on another host"));
            }
            next => next.map(str::to_owned),
        };
        let sheet = Sheet { value: of(response.json()?), next };
        self.github.remember(&response, serde_json::to_value(&sheet).map_err(Error::internal)?)?;
        Ok(sheet)
    }
}

fn protocol(why: &str) -> Error {
    Error::new(Code::ProviderProtocolError, why)
}
