//! Where each value of a document stands: its line and column by JSON pointer.

use std::collections::BTreeMap;

use serde_saphyr::granit_parser::{Event, Parser};

/// Line and column, both from 1.
pub(super) type Place = (u64, u64);

/// The places of a document.
#[derive(Debug, Default)]
pub(super) struct Places(BTreeMap<String, Place>);

enum Frame {
    Map { pointer: String, key: Option<String> },
    List { pointer: String, index: usize },
}

impl Places {
    /// Reads the places of a document that was read before; what cannot be read has no place.
    pub(super) fn of(text: &str) -> Self {
        let mut places = BTreeMap::new();
        let mut stack: Vec<Frame> = Vec::new();
        for event in Parser::new_from_str(text) {
            let Ok((event, span)) = event else { break };
            let place = (span.start.line() as u64, span.start.col() as u64 + 1);
            match event {
                Event::Scalar(text, ..) => {
                    if let Some(Frame::Map { pointer, key: key @ None }) = stack.last_mut() {
                        places.insert(below(pointer, &text), place);
                        *key = Some(text.into_owned());
                        continue;
                    }
                    let pointer = next(&mut stack);
                    places.entry(pointer).or_insert(place);
                }
                Event::SequenceStart(..) | Event::MappingStart(..) => {
                    let pointer = next(&mut stack);
                    places.entry(pointer.clone()).or_insert(place);
                    stack.push(match event {
                        Event::MappingStart(..) => Frame::Map { pointer, key: None },
                        _ => Frame::List { pointer, index: 0 },
                    });
                }
                Event::SequenceEnd | Event::MappingEnd => {
                    stack.pop();
                }
                _ => {}
            }
        }
        Places(places)
    }

    /// The place of a pointer, or of the nearest value around it.
    pub(super) fn find(&self, pointer: &str) -> Place {
        let mut pointer = pointer;
        loop {
            if let Some(place) = self.0.get(pointer) {
                return *place;
            }
            match pointer.rsplit_once('/') {
                Some((around, _)) => pointer = around,
                None => return (1, 1),
            }
        }
    }
}

/// The pointer of the value that comes now.
fn next(stack: &mut [Frame]) -> String {
    match stack.last_mut() {
        None => String::new(),
        Some(Frame::Map { pointer, key }) => below(pointer, &key.take().unwrap_or_default()),
        Some(Frame::List { pointer, index }) => {
            let here = format!("{pointer}/{index}");
            *index += 1;
            here
        }
    }
}

/// The pointer of a member.
pub(super) fn below(pointer: &str, key: &str) -> String {
    format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_in_block_and_flow_style() {
        let places = Places::of("a: 1\nlist:\n  - x: 1\n    y: {deep: [7, 8]}\n  - z/w: 2\n");
        for (pointer, place) in [
            ("/a", (1, 1)),
            ("/list", (2, 1)),
            ("/list/0/x", (3, 5)),
            ("/list/0/y/deep", (4, 9)),
            ("/list/0/y/deep/1", (4, 19)),
            ("/list/1/z~1w", (5, 5)),
            ("/list/1/gone", (5, 5)),
            ("/nowhere", (1, 1)),
        ] {
            assert_eq!(places.find(pointer), place, "{pointer}");
        }
    }
}
