//! All facts of a company, concept by concept while the answer arrives: it is never held as a whole.

use std::fmt;
use std::io::{self, Read};

use loom_domain::Result;
use loom_transport::ByteStream;
use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, Visitor};
use tokio::sync::mpsc;

use super::Concept;
use crate::finance_probe::client::unreadable;
use crate::{Flow, StopReason};

/// Pieces of the answer, and concepts of it, that wait for their reader.
const WAITING: usize = 4;

/// A concept with its taxonomy and tag.
type Named = (String, String, Concept);

/// The age that a cache in between tells, in seconds.
pub(super) fn age(body: &ByteStream) -> u64 {
    body.header("age").and_then(|age| age.trim().parse().ok()).unwrap_or(0)
}

/// Hands every concept over, until one says to stop.
pub(super) async fn read(
    mut body: ByteStream,
    mut take: impl FnMut(&str, &str, Concept) -> Result<Flow> + Send,
) -> Result<StopReason> {
    let kind = body.header("content-type").unwrap_or_default().split(';').next().unwrap_or_default();
    if !kind.trim().eq_ignore_ascii_case("application/json") {
        return Err(unreadable("the answer is not of a JSON content type"));
    }
    let (give_bytes, bytes) = mpsc::channel(WAITING);
    let (give_concepts, mut concepts) = mpsc::channel::<Named>(WAITING);
    // It ends when the bytes end, or when nobody takes concepts any more; both happen when this future is dropped.
    let parsed = tokio::task::spawn_blocking(move || {
        parse(Pieces { bytes, piece: Vec::new(), at: 0 }, &give_concepts)
    });
    let pump = async move {
        while let Some(piece) = body.chunk().await {
            let piece = piece?;
            if give_bytes.send(piece.to_vec()).await.is_err() {
                break;
            }
        }
        Ok(())
    };
    let drain = async move {
        while let Some((taxonomy, tag, concept)) = concepts.recv().await {
            if let stop @ Flow::Stop(_) = take(&taxonomy, &tag, concept)? {
                return Ok(stop);
            }
        }
        Ok(Flow::Continue)
    };
    let (pumped, drained): (Result<()>, Result<Flow>) = tokio::join!(pump, drain);
    if let Flow::Stop(reason) = drained? {
        return Ok(reason);
    }
    // A body that broke is the cause of JSON that did.
    pumped?;
    parsed.await.map_err(loom_domain::Error::internal)?.map_err(|trouble| match trouble.classify() {
        serde_json::error::Category::Eof => unreadable("the JSON of the answer is truncated"),
        serde_json::error::Category::Data => {
            unreadable("the JSON of the answer does not have the expected form")
        }
        _ => unreadable("the answer is not valid JSON"),
    })?;
    Ok(StopReason::End)
}

/// The pieces as one reader.
struct Pieces {
    bytes: mpsc::Receiver<Vec<u8>>,
    piece: Vec<u8>,
    at: usize,
}

impl Read for Pieces {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.at >= self.piece.len() {
            let Some(piece) = self.bytes.blocking_recv() else { return Ok(0) };
            (self.piece, self.at) = (piece, 0);
        }
        let mut rest = self.piece.get(self.at..).unwrap_or_default();
        let read = rest.read(into)?;
        self.at += read;
        Ok(read)
    }
}

fn parse(pieces: Pieces, give: &mpsc::Sender<Named>) -> serde_json::Result<()> {
    let mut json = serde_json::Deserializer::from_reader(io::BufReader::new(pieces));
    Document(give).deserialize(&mut json)?;
    json.end()
}

/// The whole answer: `facts`, and what is passed over.
struct Document<'a>(&'a mpsc::Sender<Named>);
/// `facts`: taxonomies.
struct Taxonomies<'a>(&'a mpsc::Sender<Named>);
/// A taxonomy: its concepts.
struct Concepts<'a>(&'a mpsc::Sender<Named>, String);

macro_rules! an_object {
    ($of:ident) => {
        impl<'de> DeserializeSeed<'de> for $of<'_> {
            type Value = ();
            fn deserialize<D: serde::Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
                from.deserialize_map(self)
            }
        }
    };
}
an_object!(Document);
an_object!(Taxonomies);
an_object!(Concepts);

impl<'de> Visitor<'de> for Document<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the facts of a company")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut has_facts = false;
        while let Some(name) = map.next_key::<String>()? {
            if name == "facts" {
                has_facts = true;
                map.next_value_seed(Taxonomies(self.0))?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        if has_facts { Ok(()) } else { Err(A::Error::missing_field("facts")) }
    }
}

impl<'de> Visitor<'de> for Taxonomies<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("taxonomies")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(taxonomy) = map.next_key::<String>()? {
            map.next_value_seed(Concepts(self.0, taxonomy))?;
        }
        Ok(())
    }
}

impl<'de> Visitor<'de> for Concepts<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("concepts")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(tag) = map.next_key::<String>()? {
            let concept = map.next_value::<Concept>()?;
            if self.0.blocking_send((self.1.clone(), tag, concept)).is_err() {
                return Err(A::Error::custom("nobody takes more"));
            }
        }
        Ok(())
    }
}
