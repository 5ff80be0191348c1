//! File Parts: the upload shows nothing, the message after it does.

use loom_domain::outbox::Step;
use loom_transport::{FileBody, Method, Multipart};
use serde_json::{Value, json};

use super::super::Inner;
use super::super::api::Call;
use super::super::errors::NO_IMAGE;
use super::super::http::Content;
use super::super::wire::{data, text};
use super::Place;
use crate::sending::{commit, file_of, open_checked};
use crate::{Fault, FaultClass, OutFile, Progress, SendPart, SentIds};

/// Largest image, bytes; a larger one goes as a file.
const IMAGE_BYTES_MAX: u64 = 10 * 1024 * 1024;
/// Endings of files that are shown as images.
const IMAGES: &[&str] = &["jpg", "jpeg", "png", "webp", "gif", "bmp", "ico", "tiff", "heic"];

/// An uploaded file as a message names it: the type of the message and the key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct Sendable {
    kind: String,
    pub(in super::super) key: String,
}

impl Sendable {
    /// Reads what [`Sendable::provider_key`] wrote.
    pub(in super::super) fn parse(provider_key: &str) -> Option<Self> {
        let (kind, key) = provider_key.split_once(':')?;
        Some(Sendable { kind: kind.to_owned(), key: key.to_owned() })
    }

    /// The form that is stored with the attempt.
    fn provider_key(&self) -> String {
        format!("{}:{}", self.kind, self.key)
    }

    fn content(&self) -> Value {
        match self.kind.as_str() {
            "image" => json!({"image_key": self.key}),
            _ => json!({"file_key": self.key}),
        }
    }
}

impl Inner {
    pub(super) async fn deliver_file(
        &self,
        part: &SendPart,
        progress: &dyn Progress,
    ) -> Result<SentIds, Fault> {
        let file = file_of(part)?;
        let body = open_checked(file).await?;
        let place = self.place(part).await?;
        commit(progress, Step::Upload, None).await?;
        let uploaded = self.upload(file, body).await?;
        commit(progress, Step::Publish, Some(&uploaded.provider_key())).await?;
        self.publish_file(part, &place, &uploaded).await
    }

    /// Sends the message of an uploaded file.
    pub(in super::super) async fn publish_file(
        &self,
        part: &SendPart,
        place: &Place,
        uploaded: &Sendable,
    ) -> Result<SentIds, Fault> {
        let ids = self.publish(part, place, &uploaded.kind, &uploaded.content()).await?;
        Ok(SentIds { file_id: Some(uploaded.key.clone()), ..ids })
    }

    async fn upload(&self, file: &OutFile, body: FileBody) -> Result<Sendable, Fault> {
        if is_image(file) {
            match self.upload_image(file, body.clone()).await {
                Err(fault) if NO_IMAGE.contains(&fault.code.as_str()) => {}
                uploaded => return uploaded,
            }
        }
        self.upload_file(file, body).await
    }

    async fn upload_image(&self, file: &OutFile, body: FileBody) -> Result<Sendable, Fault> {
        let form = Multipart::new().text("image_type", "message");
        let form = form.file("image", &file.name, &file.mime_type, body);
        self.uploaded("im/v1/images", form, "image_key", "image").await
    }

    async fn upload_file(&self, file: &OutFile, body: FileBody) -> Result<Sendable, Fault> {
        let (file_type, kind) = types(&file.name);
        let form = Multipart::new().text("file_type", file_type).text("file_name", file.name.clone());
        let form = form.file("file", &file.name, &file.mime_type, body);
        self.uploaded("im/v1/files", form, "file_key", kind).await
    }

    async fn uploaded(&self, path: &str, form: Multipart, key: &str, kind: &str) -> Result<Sendable, Fault> {
        let mut call = Call::quiet("upload", Method::POST, path);
        call.ask.content = Content::Form(form);
        let body = self.api.call(&call).await?;
        match text(data(&body), key) {
            Some(key) => Ok(Sendable { kind: kind.to_owned(), key: key.to_owned() }),
            None => Err(Fault::new(FaultClass::Retryable, "missing_key", "upload: the answer names no file")),
        }
    }
}

fn ending(name: &str) -> String {
    name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase()).unwrap_or_default()
}

fn is_image(file: &OutFile) -> bool {
    file.size <= IMAGE_BYTES_MAX && IMAGES.contains(&ending(&file.name).as_str())
}

/// Type of the upload and type of the message; the platform refuses a film or a sound as a mere file.
fn types(name: &str) -> (&'static str, &'static str) {
    match ending(name).as_str() {
        "mp4" => ("mp4", "media"),
        "opus" => ("opus", "audio"),
        "pdf" => ("pdf", "file"),
        "doc" | "docx" => ("doc", "file"),
        "xls" | "xlsx" => ("xls", "file"),
        "ppt" | "pptx" => ("ppt", "file"),
        _ => ("stream", "file"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, size: u64) -> OutFile {
        let (path, mime_type, sha256) = (std::path::PathBuf::new(), String::new(), String::new());
        OutFile { path, name: name.to_owned(), mime_type, size, sha256 }
    }

    /// MSG-170: an image of 11 MB goes as a file.
    #[test]
    fn msg_170_images_up_to_ten_mib_are_images() {
        assert!(is_image(&file("a.JPG", IMAGE_BYTES_MAX)) && is_image(&file("b.heic", 1)));
        assert!(
            !is_image(&file("a.jpg", 11_000_000))
                && !is_image(&file("jpg", 1))
                && !is_image(&file("a.pdf", 1))
        );
    }

    #[test]
    fn names_say_the_type() {
        let of = |name| types(name);
        assert_eq!(
            (of("a.DOCX"), of("film.mp4"), of("a.opus")),
            (("doc", "file"), ("mp4", "media"), ("opus", "audio"))
        );
        assert_eq!((of("a.tar.gz"), of("none")), (("stream", "file"), ("stream", "file")));
        let sendable = Sendable { kind: "image".to_owned(), key: "img_v3_a:b".to_owned() };
        assert_eq!(Sendable::parse(&sendable.provider_key()), Some(sendable));
    }
}
