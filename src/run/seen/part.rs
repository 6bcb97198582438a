//! Documents on their way from inputs to an index.

use super::{Payload, Take, Texts};
use crate::Result;
use crate::corpus::{Chunk, Document, Parsed, Parser, Place, Reason, Source};
use crate::index::{Entry, MOST_ID_BYTES, MOST_PAYLOAD_BYTES, MOST_SKETCH_BYTES};
use crate::report::json_lines::{self, At, Skipped};
use crate::run::Stage;
use crate::run::collection::Inputs;
use crate::run::naming::name;
use crate::run::pipeline::Event;

/// Documents of a chunk with their sketches, end to end.
pub(super) struct Part {
    /// The file they are of, as it was named.
    pub file: String,
    bytes: Vec<u8>,
    /// Where id, sketch and payload of each end.
    ends: Vec<[usize; 3]>,
    places: Vec<Place>,
    /// Documents that could not be read, or that no index takes.
    pub skipped: u64,
    /// A line for each of them.
    skipped_lines: Vec<u8>,
}

impl Part {
    fn read(
        source: &Source,
        chunk: &Chunk,
        parser: &mut Parser,
        texts: &mut Texts<'_>,
        payload: Option<Payload>,
    ) -> Part {
        let mut part = Part {
            file: source.path.to_string_lossy().into_owned(),
            bytes: Vec::new(),
            ends: Vec::new(),
            places: Vec::new(),
            skipped: 0,
            skipped_lines: Vec::new(),
        };
        parser.for_each(
            source.format,
            chunk,
            &|_| true,
            &mut |_, parsed| match parsed {
                Parsed::Document(document) => {
                    let id = name(source, document.id, document.place);
                    part.take(&id, &document, texts, payload);
                }
                Parsed::Skipped(skip) => {
                    let id = name(source, &skip.id, skip.place);
                    part.skip(&id, skip.place, skip.reason, &skip.detail);
                }
                Parsed::Unwanted => {}
            },
        );
        part
    }

    fn take(
        &mut self,
        id: &[u8],
        document: &Document<'_>,
        texts: &mut Texts<'_>,
        payload: Option<Payload>,
    ) {
        let kept = payload.unwrap_or_default().of(document);
        let entry = Entry {
            id,
            sketch: texts.sketch(document.text).unwrap_or_default(),
            payload: &kept,
        };
        // Whoever only asks may ask for anything.
        match payload.and_then(|_| too_long(&entry)) {
            Some(detail) => self.skip(id, document.place, Reason::TooLarge, &detail),
            None => self.push(&entry, document.place),
        }
    }

    fn push(&mut self, entry: &Entry<'_>, place: Place) {
        let ends = [entry.id, entry.sketch, entry.payload].map(|bytes| {
            self.bytes.extend_from_slice(bytes);
            self.bytes.len()
        });
        self.ends.push(ends);
        self.places.push(place);
    }

    fn skip(&mut self, id: &[u8], place: Place, reason: Reason, detail: &str) {
        let skipped = Skipped {
            id,
            at: At::new(&self.file, place),
            reason: reason.name().as_bytes(),
            detail: detail.as_bytes(),
        };
        // Writing to memory cannot fail.
        let _ = json_lines::skipped(&skipped, &mut self.skipped_lines);
        self.skipped += 1;
    }

    /// The documents, as an index wants them.
    pub fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        let starts = std::iter::once(0).chain(self.ends.iter().map(|ends| ends[2]));
        starts
            .zip(&self.ends)
            .map(|(start, &[id, sketch, payload])| Entry {
                id: &self.bytes[start..id],
                sketch: &self.bytes[id..sketch],
                payload: &self.bytes[sketch..payload],
            })
    }

    /// The documents and where they stand.
    pub fn documents(&self) -> impl Iterator<Item = (Entry<'_>, Place)> {
        self.entries().zip(self.places.iter().copied())
    }

    /// How many documents there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// What it holds in memory, about.
    pub fn bytes(&self) -> usize {
        self.bytes.len() + self.len() * (size_of::<[usize; 3]>() + size_of::<Place>())
    }
}

/// What is too long for an index, and how much would not be; none if it may be added.
pub fn too_long(entry: &Entry<'_>) -> Option<String> {
    let parts = [
        ("an id", entry.id, MOST_ID_BYTES),
        ("a sketch", entry.sketch, MOST_SKETCH_BYTES),
        ("a payload", entry.payload, MOST_PAYLOAD_BYTES),
    ];
    let (what, bytes, most) = parts
        .into_iter()
        .find(|(_, bytes, most)| bytes.len() > *most)?;
    Some(format!(
        "{what} of {} bytes: an index takes at most {most}",
        bytes.len()
    ))
}

/// Hands the documents of `inputs` to `take`, chunk by chunk, in input order, and lines of those
/// that were skipped to `skipped`. What is to be added has a payload; questions have none.
pub(super) fn read<'a>(
    inputs: Inputs<'_>,
    stage: Stage,
    payload: Option<Payload>,
    texts: impl Fn() -> Texts<'a> + Sync,
    skipped: Take<'_>,
    mut take: impl FnMut(Part) -> Result<()>,
) -> Result<()> {
    inputs.progress.begin(stage, inputs.bytes());
    let start = || (Parser::new(&inputs.manner.reading), texts());
    let work = |(parser, texts): &mut (Parser, Texts<'a>), chunk: &Chunk| {
        let source = inputs.pipeline().source(chunk.source)?;
        Ok(Part::read(source, chunk, parser, texts, payload))
    };
    // One behind another, so that the order of what comes out is that of the inputs.
    for unit in inputs.units() {
        inputs.pipeline().run(&[unit], start, work, |_, event| {
            let Event::Chunk { result: part, .. } = event else {
                return Ok(());
            };
            if part.skipped > 0 {
                skipped(&part.skipped_lines)?;
            }
            take(part)
        })?;
    }
    inputs.progress.end(inputs.bytes());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_index_takes_is_named() {
        let zeros = vec![0; MOST_SKETCH_BYTES + 1];
        let most = Entry {
            id: &zeros[..MOST_ID_BYTES],
            sketch: &zeros[..MOST_SKETCH_BYTES],
            payload: &zeros[..MOST_PAYLOAD_BYTES],
        };
        assert_eq!(too_long(&most), None);
        let id = &zeros[..MOST_ID_BYTES + 1];
        let (sketch, payload) = (&zeros[..], &zeros[..]);
        for (entry, expected) in [
            (Entry { id, ..most }, "an id of 65536 bytes"),
            (Entry { sketch, ..most }, "a sketch of 16777217 bytes"),
            (Entry { payload, ..most }, "a payload of 16777217 bytes"),
        ] {
            let detail = too_long(&entry).unwrap();
            assert!(detail.starts_with(expected), "{detail}");
        }
    }
}
