//! The document `loom.report/v1`.

use loom_domain::canonical;
use loom_domain::{ArtifactId, Result, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::{Chart, Lang, SourceState, Window};

/// Name and version of the document.
pub const SCHEMA: &str = "loom.report/v1";

/// A source and how far it was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SourceLine {
    /// Its name.
    pub name: String,
    /// How far it was read.
    pub state: SourceState,
    /// Why it is not complete.
    pub note: Option<String>,
    /// Records of the window.
    pub records: usize,
    /// Digest of the records.
    pub digest: Option<String>,
}

/// A number that a reader wants first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SummaryLine {
    /// Its name, the same in every language.
    pub key: String,
    /// What it is called.
    pub label: String,
    /// It, as people write it.
    pub value: String,
}

/// A part of a report: one table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Section {
    /// Its name, the same in every language.
    pub id: String,
    /// Title.
    pub title: String,
    /// A sentence in place of rows, or below them.
    pub note: Option<String>,
    /// Heads of the columns.
    pub columns: Vec<String>,
    /// Rows.
    pub rows: Vec<Vec<String>>,
}

/// A report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// `loom.report/v1`.
    pub schema_version: String,
    /// Id, made of the digest.
    pub report_id: String,
    /// Title.
    pub title: String,
    /// Name of the profile.
    pub profile: String,
    /// Window.
    pub window: Window,
    /// Language of titles.
    pub language: Lang,
    /// Version of Loom.
    pub version: String,
    /// The end of the window, so that a repetition tells the same.
    #[schemars(with = "String")]
    pub generated_at: Timestamp,
    /// What makes two runs one.
    pub run_key: String,
    /// Sources.
    pub sources: Vec<SourceLine>,
    /// What a reader wants first.
    pub summary: Vec<SummaryLine>,
    /// Sections.
    pub sections: Vec<Section>,
    /// Charts.
    pub charts: Vec<Chart>,
    /// Digest of the document without its id and this.
    pub digest: String,
}

impl Report {
    /// Gives the document its digest and id.
    pub(crate) fn seal(mut self) -> Result<Report> {
        let (digest, id) = self.identity()?;
        (self.digest, self.report_id) = (digest, id);
        Ok(self)
    }

    /// Whether the document has the digest and the id that its content has.
    pub fn is_whole(&self) -> bool {
        self.identity().is_ok_and(|(digest, id)| digest == self.digest && id == self.report_id)
    }

    fn identity(&self) -> Result<(String, String)> {
        let mut value = serde_json::to_value(self).map_err(loom_domain::Error::internal)?;
        if let Some(members) = value.as_object_mut() {
            members.remove("digest");
            members.remove("report_id");
        }
        let hash = Sha256::digest(canonical::to_string(&value));
        let low = hash.first_chunk::<10>().copied().unwrap_or_default();
        let low = low.iter().fold(0_u128, |low, byte| (low << 8) | u128::from(*byte));
        let id = ArtifactId::new(self.generated_at.0, low).to_string();
        Ok((format!("sha256:{}", hex::encode(hash)), id))
    }
}

/// `sha256:` and the digest of a value's canonical text.
pub(crate) fn digest_of(value: &Value) -> String {
    format!("sha256:{}", canonical::sha256_hex(value))
}
