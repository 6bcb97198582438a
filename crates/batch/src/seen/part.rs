//! Documents of a chunk that are looked up in an index or added to it.

use std::os::unix::ffi::OsStrExt as _;

use xxhash_rust::xxh3::xxh3_64;

use super::payload::Payload;
use super::text_sketcher::TextSketcher;
use crate::Result;
use crate::dedup::keep_facts;
use crate::scope::path_of;
use simtool_core::dedup::keep;
use simtool_corpus::{Document, Place, Reason};
use simtool_engine::Stage;
use simtool_engine::collection::Inputs;
use simtool_engine::documents::ChunkDocuments;
use simtool_engine::doubts::Doubts;
use simtool_engine::naming::name;
use simtool_index::{Entry, MAX_ID_BYTES, MAX_PAYLOAD_BYTES, MAX_SKETCH_BYTES};
use simtool_report::json_lines::{self, At, Skipped};

/// A function that receives JSON Lines in input order.
pub type LineSink<'a> = &'a mut dyn FnMut(&[u8]) -> Result<()>;

/// Documents of a chunk as entries of an index, their bytes end to end.
pub(super) struct Part {
    /// The file of the documents, as it was given.
    pub file: String,
    /// The hash of the source that they count for.
    source: u64,
    bytes: Vec<u8>,
    documents: Vec<PartDocument>,
    /// Documents that could not be read, or that are too long for an index.
    pub skipped: u64,
    /// Documents whose characters may be wrong.
    pub doubts: Doubts,
    /// A line for each skipped document.
    skipped_lines: Vec<u8>,
}

/// A document of a [`Part`].
struct PartDocument {
    place: Place,
    /// Where its id, sketch, payload and key end in the bytes of the part.
    ends: [usize; 4],
    words: Option<u128>,
    text: u64,
    site: u64,
    /// Whether its id is its place.
    is_unnamed: bool,
    is_short: bool,
}

impl Part {
    fn read(
        documents: ChunkDocuments<'_>,
        texts: &mut TextSketcher<'_>,
        (payload, fields): (Option<Payload>, &[String]),
    ) -> Result<Part> {
        let source = documents.source;
        let mut part = Part {
            file: source.path.to_string_lossy().into_owned(),
            source: xxh3_64(path_of(source).as_os_str().as_bytes()).max(1),
            bytes: Vec::new(),
            documents: Vec::new(),
            skipped: 0,
            doubts: Doubts::default(),
            skipped_lines: Vec::new(),
        };
        documents.for_each(|found| {
            match found {
                Ok(document) => {
                    let id = name(source, document.id, document.place);
                    part.doubts.note(document.doubt, document.place);
                    part.take(&id, &document, texts, (payload, fields));
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
        (payload, fields): (Option<Payload>, &[String]),
    ) {
        let kept = payload.unwrap_or_default().of(document);
        let (of_document, field) = keep_facts(document);
        let field = |name: &str| {
            let place = fields.iter().position(|field| field == name);
            place.and_then(&field)
        };
        let facts = texts.read_with(document.text, of_document, field);
        let entry = Entry {
            id,
            payload: &kept,
            ..facts.entry()
        };
        // Queries have no limits on lengths.
        if let Some(detail) = payload.and_then(|_| too_long(&entry)) {
            return self.skip(id, document.place, Reason::TooLarge, &detail);
        }
        let ends = [entry.id, entry.sketch, entry.payload, entry.keep].map(|bytes| {
            self.bytes.extend_from_slice(bytes);
            self.bytes.len()
        });
        self.documents.push(PartDocument {
            place: document.place,
            ends,
            words: facts.words,
            text: facts.text,
            site: keep::site(document.url).unwrap_or_default(),
            is_unnamed: document.id.is_empty(),
            is_short: facts.is_short,
        });
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
        self.documents().map(|(entry, ..)| entry)
    }

    /// The documents with their places, and whether they are too short to be compared by sketches.
    pub fn documents(&self) -> impl Iterator<Item = (Entry<'_>, Place, bool)> {
        let mut start = 0;
        self.documents.iter().map(move |document| {
            let [id, sketch, payload, keep] = document.ends;
            let entry = Entry {
                id: &self.bytes[start..id],
                words: document.words,
                text: document.text,
                sketch: &self.bytes[id..sketch],
                payload: &self.bytes[sketch..payload],
                is_place: document.is_unnamed,
                source: self.source,
                site: document.site,
                keep: &self.bytes[payload..keep],
            };
            start = keep;
            (entry, document.place, document.is_short)
        })
    }

    /// The number of documents.
    pub fn len(&self) -> usize {
        self.documents.len()
    }

    /// Approximate bytes of memory.
    pub fn bytes(&self) -> usize {
        self.bytes.len() + self.len() * size_of::<PartDocument>()
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
    let fields = &inputs.settings.reading.fields[..];
    let work = |texts: &mut TextSketcher<'a>, documents: ChunkDocuments<'_>| {
        Part::read(documents, texts, (payload, fields))
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
            ..Entry::default()
        };
        assert_eq!(too_long(&most), None);
        let id = &zeros[..MAX_ID_BYTES + 1];
        let (sketch, payload) = (&zeros[..], &zeros[..MAX_PAYLOAD_BYTES + 1]);
        for (entry, expected) in [
            (Entry { id, ..most }, "an id of 65536 bytes"),
            (Entry { sketch, ..most }, "a sketch of 268435457 bytes"),
            (Entry { payload, ..most }, "a payload of 16777217 bytes"),
        ] {
            let detail = too_long(&entry).unwrap();
            assert!(detail.starts_with(expected), "{detail}");
        }
    }
}
