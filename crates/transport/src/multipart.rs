//! `multipart/form-data` bodies; file parts are streamed from open handles.

use bytes::Bytes;

use crate::body::{Body, Chunk, FileBody};

/// A form of text and file parts.
#[derive(Debug, Clone, Default)]
pub struct Multipart {
    parts: Vec<Part>,
}

#[derive(Debug, Clone)]
struct Part {
    name: String,
    file_name: Option<String>,
    content_type: Option<String>,
    content: Chunk,
}

impl Multipart {
    /// An empty form.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a text part.
    pub fn text(mut self, name: &str, value: impl Into<String>) -> Self {
        let content = Chunk::Bytes(Bytes::from(value.into()));
        self.parts.push(Part { name: name.to_owned(), file_name: None, content_type: None, content });
        self
    }

    /// Adds a file part whose bytes are read while sending.
    pub fn file(self, name: &str, file_name: &str, content_type: &str, file: FileBody) -> Self {
        self.part(name, file_name, content_type, Chunk::File(file))
    }

    /// Adds a file part out of memory.
    pub fn bytes(self, name: &str, file_name: &str, content_type: &str, bytes: impl Into<Bytes>) -> Self {
        self.part(name, file_name, content_type, Chunk::Bytes(bytes.into()))
    }

    fn part(mut self, name: &str, file_name: &str, content_type: &str, content: Chunk) -> Self {
        self.parts.push(Part {
            name: name.to_owned(),
            file_name: Some(file_name.to_owned()),
            content_type: Some(content_type.to_owned()),
            content,
        });
        self
    }

    /// The body with its boundary in place.
    pub(crate) fn into_body(self, boundary: &str) -> Body {
        let mut body = Body::default();
        for part in self.parts {
            let mut head =
                format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{}\"", quoted(&part.name));
            if let Some(file_name) = &part.file_name {
                head.push_str("; filename=\"");
                head.push_str(&quoted(file_name));
                head.push('"');
            }
            if let Some(kind) = &part.content_type {
                head.push_str("\r\nContent-Type: ");
                head.extend(kind.chars().filter(|c| !c.is_control()));
            }
            head.push_str("\r\n\r\n");
            body.push(Chunk::Bytes(Bytes::from(head)));
            body.push(part.content);
            body.push(Chunk::Bytes(Bytes::from_static(b"\r\n")));
        }
        body.push(Chunk::Bytes(Bytes::from(format!("--{boundary}--\r\n"))));
        body
    }
}

/// Escapes a name as browsers do: quotes and line breaks are percent-encoded.
fn quoted(text: &str) -> String {
    text.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A")
}
