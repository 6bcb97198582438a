//! Documents at known places, read again.

use std::slice;

use crate::{Error, ErrorKind, Result};
use simtool_corpus::{
    ChunkReader, Compression, Document, Format, Place, Position, Reading, Source,
};

use super::documents::{DocumentReader, Found};
use crate::Progress;

/// The size of the chunks in which single documents are read.
const CHUNK_BYTES: usize = 64 << 10;
/// The most bytes of a file, or rows of a table, that are read to get from one document to the
/// next. Beyond them, the file is opened again at the next document.
pub const SKIPPED_BYTES: u64 = 256 << 10;
const SKIPPED_ROWS: u64 = 4096;
/// The same for an object of a server: the bytes that arrive in about the time of a request.
const SKIPPED_REMOTE_BYTES: u64 = 1 << 20;

/// Passes everything that is read from `begin` on to `visit`, until it returns false.
///
/// # Errors
/// Errors of reading; [`ErrorKind::Interrupted`].
pub fn visit_from(
    source: &Source,
    reading: &Reading,
    begin: Position,
    progress: &Progress,
    mut visit: impl FnMut(Found<'_>) -> bool,
) -> Result<()> {
    let mut reader = ChunkReader::open(source, 0, reading, begin)?;
    let mut documents = DocumentReader::new(slice::from_ref(source), reading);
    let (mut buffer, mut goes_on) = (Vec::new(), true);
    while goes_on {
        progress.check()?;
        let Some(chunk) = reader.next(buffer)? else {
            break;
        };
        documents.documents(&chunk)?.for_each(|found| {
            goes_on = goes_on && visit(found);
            Ok(())
        })?;
        buffer = chunk.into_buffer();
    }
    Ok(())
}

/// Passes the documents of `source` at `places` to `visit`, with their positions in this list, which
/// is in the order of (member, offset). Places at which no document begins are left out.
///
/// Reads from the beginning of a compressed member up to the last of its places, other files only
/// near the places.
///
/// # Errors
/// Errors of reading; [`ErrorKind::Interrupted`].
pub fn documents_at(
    source: &Source,
    reading: &Reading,
    places: &[Place],
    progress: &Progress,
    mut visit: impl FnMut(usize, &Document<'_>),
) -> Result<()> {
    let reading = Reading {
        chunk_bytes: reading.chunk_bytes.min(CHUNK_BYTES),
        ..reading.clone()
    };
    let mut documents = DocumentReader::new(slice::from_ref(source), &reading);
    let (mut next, mut buffer) = (0, Vec::new());
    while let Some(&begin) = places.get(next) {
        let mut reader = ChunkReader::open(source, 0, &reading, position(source, &begin))?;
        let mut is_first = true;
        loop {
            progress.check()?;
            let Some(chunk) = reader.next(std::mem::take(&mut buffer))? else {
                return Ok(());
            };
            let end = (chunk.end.member, chunk.end.offset);
            if places.get(next).is_some_and(|place| order(place) < end) {
                // The first chunk begins with a document at a place. Others are decoded only if one of
                // them is wanted, too.
                let mut in_chunk = places[next..].iter().take_while(|place| order(place) < end);
                let is_only_first = is_first && in_chunk.all(|place| order(place) == order(&begin));
                let is_wanted = |ordinal| !is_only_first || ordinal == 0;
                let documents = documents.documents(&chunk)?;
                documents.for_each_wanted(is_wanted, |_, found| {
                    let Ok(document) = found else {
                        return Ok(());
                    };
                    let at = order(&document.place);
                    while places.get(next).is_some_and(|place| order(place) < at) {
                        next += 1;
                    }
                    while places.get(next).is_some_and(|place| order(place) == at) {
                        visit(next, &document);
                        next += 1;
                    }
                    Ok(())
                })?;
                // No document begins at the rest of the places in this chunk.
                while places.get(next).is_some_and(|place| order(place) < end) {
                    next += 1;
                }
            }
            is_first = false;
            buffer = chunk.into_buffer();
            let is_far = |place: &Place| is_far(source, end, order(place));
            if places.get(next).is_none_or(is_far) {
                break;
            }
        }
    }
    Ok(())
}

/// The bytes that [`documents_at`] reads, or decompresses, to pass places on.
pub struct ReadBytes<'a> {
    source: &'a Source,
    /// Where the last place ends.
    end: Option<(u64, u64)>,
    bytes: u64,
}

impl ReadBytes<'_> {
    /// No bytes, as there are no places yet.
    pub fn new(source: &Source) -> ReadBytes<'_> {
        ReadBytes {
            source,
            end: None,
            bytes: 0,
        }
    }

    /// Adds the next place. Returns whether the file is opened again for it.
    pub fn add(&mut self, place: &Place) -> bool {
        let end = place.offset.saturating_add(place.length);
        let before = self.end.replace((place.member, end));
        let near = before.filter(|&before| !is_far(self.source, before, order(place)));
        let read = match (near, self.source.compression) {
            (Some((_, before)), _) => end.saturating_sub(before),
            (None, Compression::None) => place.length.saturating_add(jump_bytes(self.source)),
            (None, _) => end.saturating_add(jump_bytes(self.source)),
        };
        self.bytes = self.bytes.saturating_add(read);
        near.is_none()
    }

    /// The bytes for all places so far.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// The bytes that are decompressed to get to the end of a document, from the beginning of its
/// member; zero if the file is not compressed.
pub fn decompressed_bytes(source: &Source, place: &Place) -> u64 {
    match source.compression {
        Compression::None => 0,
        Compression::Gzip | Compression::Zstd => place.offset.saturating_add(place.length),
    }
}

fn order(place: &Place) -> (u64, u64) {
    (place.member, place.offset)
}

fn position(source: &Source, place: &Place) -> Position {
    match source.format.is_whole_file() {
        true => Position::default(),
        false => Position {
            chunk: 0,
            member: place.member,
            offset: place.offset,
        },
    }
}

/// The bytes that could be read in the time that it takes to begin at another place.
fn jump_bytes(source: &Source) -> u64 {
    match source.object {
        Some(_) => SKIPPED_REMOTE_BYTES,
        None => CHUNK_BYTES as u64,
    }
}

/// Whether it is faster to open the file at `next` than to read on from `end`.
fn is_far(source: &Source, end: (u64, u64), next: (u64, u64)) -> bool {
    let gap = next.1.saturating_sub(end.1);
    match (source.compression, source.format) {
        (Compression::Gzip | Compression::Zstd, _) => next.0 != end.0,
        (Compression::None, Format::Parquet) => gap > SKIPPED_ROWS,
        (Compression::None, _) if source.object.is_some() => gap > SKIPPED_REMOTE_BYTES,
        (Compression::None, _) => gap > SKIPPED_BYTES,
    }
}

/// Whether a failure means that the file is no longer the one that was read before.
pub fn is_changed(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Changed | ErrorKind::Content)
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_corpus::{NO_MEMBER, discover};
    use std::fs;
    use std::path::PathBuf;

    /// Lines of very different lengths; some lines are no documents.
    fn lines() -> Vec<u8> {
        let mut bytes = Vec::new();
        for number in 0..900_usize {
            let text = "word ".repeat(number * number % 997);
            match number % 50 {
                7 => bytes.extend_from_slice(b"no object\n\n"),
                _ => bytes.extend_from_slice(
                    format!("{{\"id\":\"{number}\",\"text\":\"{number} {text}\"}}\n").as_bytes(),
                ),
            }
        }
        bytes
    }

    /// All documents of a file: places and texts.
    fn all(source: &Source, reading: &Reading) -> Vec<(Place, Vec<u8>)> {
        let mut found = Vec::new();
        let progress = Progress::new();
        visit_from(
            source,
            reading,
            Position::default(),
            &progress,
            |document| {
                if let Ok(document) = document {
                    found.push((document.place, document.text.to_vec()));
                }
                true
            },
        )
        .unwrap();
        found
    }

    fn check(bytes: &[u8], name: &str) {
        let directory = tempfile::tempdir().unwrap();
        let path: PathBuf = directory.path().join(name);
        fs::write(&path, bytes).unwrap();
        let reading = Reading::default();
        let source = discover(&[path], &[], &reading).unwrap().remove(0);
        let all = all(&source, &reading);
        assert!(all.len() > 3, "{name}");
        for step in [1, 2, 37, 300, all.len() - 1] {
            for first in [0, 1, all.len() / 2] {
                let wanted: Vec<&(Place, Vec<u8>)> = all.iter().skip(first).step_by(step).collect();
                let places: Vec<Place> = wanted.iter().map(|(place, _)| *place).collect();
                let mut found = Vec::new();
                documents_at(
                    &source,
                    &reading,
                    &places,
                    &Progress::new(),
                    |number, document| {
                        found.push((number, document.text.to_vec()));
                    },
                )
                .unwrap();
                let expected = wanted.iter().map(|(_, text)| text.clone());
                assert!(
                    found == (0..).zip(expected).collect::<Vec<_>>(),
                    "{name} {step} {first}"
                );
            }
        }
    }

    /// Promise (Methods and their evaluation): The texts of the HTML page …
    #[test]
    fn documents_are_found_in_any_form() {
        let lines = lines();
        check(&lines, "lines.jsonl");
        let members = |bytes: usize| -> Vec<u8> {
            let members = lines.chunks(bytes);
            members
                .flat_map(|member| zstd::encode_all(member, 1).unwrap())
                .collect()
        };
        check(&members(usize::MAX), "one.jsonl.zst");
        // Members end within documents, and documents span members.
        check(&members(100_000), "long.jsonl.zst");
        check(&members(1500), "short.jsonl.zst");
        let pages: String = (1..500)
            .map(|page| format!("page-{page}\n{}\x0c", "text ".repeat(page)))
            .collect();
        check(pages.as_bytes(), "pages.txt");
        let mut marked = "\u{feff}".as_bytes().to_vec();
        marked.extend_from_slice(&lines);
        check(&marked, "marked.jsonl");
    }

    /// Promise (Methods and their evaluation): The texts of the HTML page …
    #[test]
    fn places_without_documents_are_left_out() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lines.jsonl");
        fs::write(&path, lines()).unwrap();
        let reading = Reading::default();
        let source = discover(&[path], &[], &reading).unwrap().remove(0);
        let all = all(&source, &reading);
        let wrong = |offset: u64| Place::new(0, NO_MEMBER, offset, 1);
        let places = [
            all[0].0,
            wrong(all[1].0.offset + 1),
            all[400].0,
            wrong(1 << 40),
        ];
        let mut found = Vec::new();
        documents_at(&source, &reading, &places, &Progress::new(), |number, _| {
            found.push(number);
        })
        .unwrap();
        assert_eq!(found, [0, 2]);
    }
}
