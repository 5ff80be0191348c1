//! Extractors for what a request holds; each refuses what it does not know.

mod change;
mod doc;
mod params;
mod path;
mod upload;

pub(crate) use change::{Change, Wait};
pub(crate) use doc::Doc;
pub(crate) use params::Params;
pub(crate) use path::{Id, Name, SecondId, SecondName};
pub(crate) use upload::{Upload, UploadLimits};
