//! Documents of a chunk that are looked up in an index or added to it.

use super::payload::Payload;
use super::text_sketcher::TextSketcher;
use crate::Result;
use simtool_corpus::{Document, Place, Reason};
use simtool_engine::Stage;
use simtool_engine::collection::Inputs;
use simtool_engine::documents::ChunkDocuments;
use simtool_engine::doubts::Doubts;
use simtool_engine::naming::{content_suffix, name};
use simtool_index::{Entry, Index, MAX_ID_BYTES, MAX_PAYLOAD_BYTES, MAX_SKETCH_BYTES};
use simtool_report::json_lines::{self, At, Skipped};

/// A function that receives JSON Lines in input order.
pub type LineSink<'a> = &'a mut dyn FnMut(&[u8]) -> Result<()>;

/// Documents of a chunk with their sketches, end to end.
///
/// The id of a document without an own one is its place, which may have held another text before,
/// such as yesterday's output of the same name. [`Part::make_ids_unique`] finds these documents and
/// appends a digest of the text to their ids, so that no text replaces another one.
pub(super) struct Part {
    /// The file of the documents, as it was given.
    pub file: String,
    bytes: Vec<u8>,
    ends: Vec<DocumentEnds>,
    places: Vec<Place>,
    /// Documents that could not be read, or that are too long for an index.
    pub skipped: u64,
    /// Documents whose characters may be wrong.
    pub doubts: Doubts,
    /// A line for each skipped document.
    skipped_lines: Vec<u8>,
}

/// The ends of the parts of a document in the bytes of a [`Part`].
struct DocumentEnds {
    /// The end of the own id, or of the place.
    name: usize,
    /// The end of the digest of the text, which follows the place if there is no own id.
    digest: usize,
    sketch: usize,
    payload: usize,
    /// Whether the digest is a part of the id.
    has_digest: bool,
}

impl DocumentEnds {
    fn id(&self) -> usize {
        match self.has_digest {
            true => self.digest,
            false => self.name,
        }
    }

    /// Whether the document has no own id.
    fn is_unnamed(&self) -> bool {
        self.digest > self.name
    }
}

impl Part {
    fn read(
        documents: ChunkDocuments<'_>,
        texts: &mut TextSketcher<'_>,
        payload: Option<Payload>,
    ) -> Result<Part> {
        let source = documents.source;
        let mut part = Part {
            file: source.path.to_string_lossy().into_owned(),
            bytes: Vec::new(),
            ends: Vec::new(),
            places: Vec::new(),
            skipped: 0,
            doubts: Doubts::default(),
            skipped_lines: Vec::new(),
        };
        documents.for_each(|found| {
            match found {
                Ok(document) => {
                    let id = name(source, document.id, document.place);
                    part.doubts.note(document.doubt, document.place);
                    part.take(&id, &document, texts, payload);
                }
                Err(skip) => {
                    let id = name(source, &skip.id, skip.place);
                    part.skip(&id, skip.place, skip.reason, &skip.detail);
                }
            }
            Ok(())
        })?;
        Ok(part)
    }

    fn take(
        &mut self,
        id: &[u8],
        document: &Document<'_>,
        texts: &mut TextSketcher<'_>,
        payload: Option<Payload>,
    ) {
        let kept = payload.unwrap_or_default().of(document);
        let digest = match document.id {
            [] => content_suffix(document.text),
            _ => String::new(),
        };
        let whole = [id, digest.as_bytes()].concat();
        let entry = Entry {
            id: &whole,
            sketch: texts.sketch(document.text).unwrap_or_default(),
            payload: &kept,
        };
        // Queries have no limits on lengths.
        match payload.and_then(|_| too_long(&entry)) {
            Some(detail) => self.skip(id, document.place, Reason::TooLarge, &detail),
            None => self.push(&entry, id.len(), document.place),
        }
    }

    /// Appends a document. The first `name` bytes of its id are its own id or its place.
    fn push(&mut self, entry: &Entry<'_>, name: usize, place: Place) {
        let start = self.bytes.len();
        let [digest, sketch, payload] = [entry.id, entry.sketch, entry.payload].map(|bytes| {
            self.bytes.extend_from_slice(bytes);
            self.bytes.len()
        });
        let name = start + name;
        self.ends.push(DocumentEnds {
            name,
            digest,
            sketch,
            payload,
            // Two documents without features at one place cannot be distinguished by their
            // sketches.
            has_digest: digest > name && entry.sketch.is_empty(),
        });
        self.places.push(place);
    }

    /// Appends the digest of the text to the ids of documents without an own id whose place is the
    /// id of another text in `index`.
    ///
    /// Takes at most two look-ups by id for each such document.
    ///
    /// # Errors
    /// Errors of [`Index::document`].
    pub fn make_ids_unique(&mut self, index: &Index) -> Result<()> {
        let mut start = 0;
        for ends in &mut self.ends {
            if ends.is_unnamed() && !ends.has_digest {
                let sketch = &self.bytes[ends.digest..ends.sketch];
                ends.has_digest = match index.document(&self.bytes[start..ends.name])? {
                    Some(known) => known.sketch != sketch,
                    // It was added while the index had another text, which was removed since.
                    None => index.document(&self.bytes[start..ends.digest])?.is_some(),
                };
            }
            start = ends.payload;
        }
        Ok(())
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

    /// The documents as entries of an index.
    pub fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        let starts = std::iter::once(0).chain(self.ends.iter().map(|ends| ends.payload));
        starts.zip(&self.ends).map(|(start, ends)| Entry {
            id: &self.bytes[start..ends.id()],
            sketch: &self.bytes[ends.digest..ends.sketch],
            payload: &self.bytes[ends.sketch..ends.payload],
        })
    }

    /// The documents with their places.
    pub fn documents(&self) -> impl Iterator<Item = (Entry<'_>, Place)> {
        self.entries().zip(self.places.iter().copied())
    }

    /// The number of documents.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Approximate bytes of memory.
    pub fn bytes(&self) -> usize {
        self.bytes.len() + self.len() * (size_of::<DocumentEnds>() + size_of::<Place>())
    }
}

/// The part that is too long for an index, with the limit; `None` if the document can be added.
pub fn too_long(entry: &Entry<'_>) -> Option<String> {
    let parts = [
        ("an id", entry.id, MAX_ID_BYTES),
        ("a sketch", entry.sketch, MAX_SKETCH_BYTES),
        ("a payload", entry.payload, MAX_PAYLOAD_BYTES),
    ];
    let (what, bytes, most) = parts
        .into_iter()
        .find(|(_, bytes, most)| bytes.len() > *most)?;
    Some(format!(
        "{what} of {} bytes: an index takes at most {most}",
        bytes.len()
    ))
}

/// Passes the documents of `inputs` to `take`, chunk by chunk in input order, and lines of skipped
/// documents to `skipped`. Documents that are to be added have a payload, queries have none.
pub(super) fn read<'a>(
    inputs: Inputs<'_>,
    stage: Stage,
    payload: Option<Payload>,
    texts: impl Fn() -> TextSketcher<'a> + Sync,
    skipped: LineSink<'_>,
    mut take: impl FnMut(Part) -> Result<()>,
) -> Result<()> {
    inputs.progress.begin(stage, inputs.bytes());
    let work = |texts: &mut TextSketcher<'a>, documents: ChunkDocuments<'_>| {
        Part::read(documents, texts, payload)
    };
    inputs
        .pipeline()
        .run_documents_in_order(texts, work, |part| {
            if part.skipped > 0 {
                skipped(&part.skipped_lines)?;
            }
            take(part)
        })?;
    inputs.progress.end(inputs.bytes());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_are_too_long_are_named() {
        let zeros = vec![0; MAX_SKETCH_BYTES + 1];
        let most = Entry {
            id: &zeros[..MAX_ID_BYTES],
            sketch: &zeros[..MAX_SKETCH_BYTES],
            payload: &zeros[..MAX_PAYLOAD_BYTES],
        };
        assert_eq!(too_long(&most), None);
        let id = &zeros[..MAX_ID_BYTES + 1];
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
