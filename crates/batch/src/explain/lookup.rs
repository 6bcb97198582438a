//! Look-up of documents by place or by id.

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::{Error, ErrorKind, Result};
use simtool_corpus::{Compression, Document, NO_MEMBER, Place, Position, Reading, Source};
use simtool_engine::documents::{ChunkDocuments, Found};
use simtool_engine::item_text::item_text;
use simtool_engine::pipeline::Pipeline;
use simtool_engine::places::visit_from;
use simtool_engine::units::Unit;
use simtool_engine::{Progress, Stage};

/// The most places of an ambiguous id that a message lists.
const MOST_LISTED: usize = 8;
/// The bytes of a byte order mark, which may precede the first document.
const MARK_BYTES: u64 = 3;

/// A document with its id and place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundDocument {
    /// The id in the input; empty if it has none.
    pub id: Vec<u8>,
    /// The URL; empty if it has none.
    pub url: Vec<u8>,
    /// The file as it was given.
    pub file: PathBuf,
    /// The place in the file.
    pub place: Place,
    /// The text, with the further fields that were requested.
    pub text: Vec<u8>,
}

impl FoundDocument {
    fn new(source: &Source, document: &Document<'_>) -> FoundDocument {
        FoundDocument {
            id: document.id.to_vec(),
            url: document.url.to_vec(),
            file: source.path.clone(),
            place: document.place,
            text: item_text(document, &mut Vec::new()).to_vec(),
        }
    }

    /// `FILE:OFFSET`, or `FILE:MEMBER+OFFSET` in a compressed file.
    pub fn at(&self) -> String {
        format!("{}{}", self.file.display(), behind_file(&self.place))
    }
}

/// Looks up documents in files, reading them as a deduplication does.
#[derive(Clone, Copy, Debug)]
pub struct Lookup<'a> {
    /// How files are read.
    pub reading: &'a Reading,
    /// Threads that search for ids.
    pub threads: usize,
    /// Notified of bytes that were read; may stop the search.
    pub progress: &'a Progress,
}

impl Lookup<'_> {
    /// The document that begins at `offset` of a file, or of the decompressed `member`. Stops
    /// reading after the chunk of this document.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] if no document begins there, with the place of the next one, or if
    /// the document cannot be read; those of reading the file.
    pub fn at(&self, file: &Path, member: Option<u64>, offset: u64) -> Result<FoundDocument> {
        let source = Source::of_file(file, self.reading)?;
        let wanted = (checked_member(&source, member)?, offset);
        let mut found = None;
        let begin = before(&source, wanted);
        visit_from(&source, self.reading, begin, self.progress, |next| {
            let place = place_of(&next);
            if (place.member, place.offset) < wanted {
                return true;
            }
            found = Some(match (place.member, place.offset) > wanted {
                true => Err(wrong_place(&wanted, &place)),
                false => whole(&source, &next),
            });
            false
        })?;
        let none = || Err("no document begins there or after it (check the place)".to_owned());
        found.unwrap_or_else(none).map_err(|message| {
            let shown = behind_file(&Place::new(0, wanted.0, offset, 0));
            let message = format!("{}: {message}", &shown[1..]);
            Error::new(ErrorKind::Parameter, message).in_file(file)
        })
    }

    /// The only document of a file.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] if the file has none or several, or if the document cannot be read;
    /// those of reading the file.
    pub fn only(&self, file: &Path) -> Result<FoundDocument> {
        let source = Source::of_file(file, self.reading)?;
        let mut found: Option<std::result::Result<FoundDocument, String>> = None;
        let mut second = None;
        let begin = Position::default();
        visit_from(&source, self.reading, begin, self.progress, |next| {
            match found {
                None => found = Some(whole(&source, &next)),
                Some(_) => second = Some(place_of(&next)),
            }
            second.is_none()
        })?;
        let refuse = |message: String| Error::new(ErrorKind::Parameter, message).in_file(file);
        match (found, second) {
            (Some(_), Some(second)) => Err(refuse(format!(
                "holds more than one document, the second at {} (name one as FILE:OFFSET, or by \
                 its id with --in)",
                &behind_file(&second)[1..]
            ))),
            (Some(found), None) => found.map_err(refuse),
            (None, _) => Err(refuse("holds no document".to_owned())),
        }
    }

    /// The documents of `sources` with the `ids`. A document without an own id has the name that a
    /// deduplication gives it. `None` for an id without a document.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] for an id of several documents, with places in input order;
    /// [`ErrorKind::Content`] for a document that cannot be read; [`ErrorKind::Interrupted`]; those
    /// of reading.
    pub fn by_ids(
        &self,
        sources: &[Source],
        ids: [&[u8]; 2],
    ) -> Result<[Option<FoundDocument>; 2]> {
        let units: Vec<Unit> = (0..sources.len() as u32)
            .map(|number| Unit::whole(number..number + 1))
            .collect();
        let pipeline = Pipeline {
            sources,
            reading: self.reading,
            workers: self.threads,
            readers: self.threads,
            progress: self.progress,
        };
        self.progress.begin(Stage::Sketch, pipeline.bytes());
        let mut matches = ids.map(|_| Matches::default());
        let work = |(): &mut (), documents: ChunkDocuments<'_>| matches_of(documents, ids);
        pipeline.run_documents(
            &units,
            || (),
            work,
            |_, found| {
                let pairs = matches.iter_mut().zip(found);
                pairs.for_each(|(all, more)| all.append(more));
                Ok(())
            },
        )?;
        self.progress.end(pipeline.bytes());
        let [a, b] = matches;
        Ok([a.only(ids[0], sources)?, b.only(ids[1], sources)?])
    }
}

/// The documents with a wanted id.
#[derive(Default)]
struct Matches {
    /// One of the documents, or the reason why it cannot be read.
    one: Option<std::result::Result<FoundDocument, String>>,
    /// Source, member and offset of the first documents.
    places: BTreeSet<(u32, u64, u64)>,
    count: u64,
}

impl Matches {
    fn add(
        &mut self,
        place: Place,
        found: impl FnOnce() -> std::result::Result<FoundDocument, String>,
    ) {
        self.count += 1;
        self.places
            .insert((place.source, place.member, place.offset));
        self.one.get_or_insert_with(found);
    }

    fn append(&mut self, more: Matches) {
        self.count += more.count;
        self.places.extend(more.places);
        while self.places.len() > MOST_LISTED {
            self.places.pop_last();
        }
        self.one = self.one.take().or(more.one);
    }

    fn only(self, id: &[u8], sources: &[Source]) -> Result<Option<FoundDocument>> {
        let shown = String::from_utf8_lossy(id).into_owned();
        if self.count > 1 {
            let places = self.places.iter().filter_map(|&(source, member, offset)| {
                let place = Place::new(source, member, offset, 0);
                let file = sources.get(source as usize)?.path.display();
                Some(format!("{file}{}", behind_file(&place)))
            });
            let mut places = places.collect::<Vec<_>>().join(", ");
            if self.count > self.places.len() as u64 {
                places += ", ...";
            }
            let message = format!(
                "id {shown}: {} documents have it (name one by its place): {places}",
                self.count
            );
            return Err(Error::new(ErrorKind::Parameter, message));
        }
        let unreadable = |why: String| Error::new(ErrorKind::Content, format!("id {shown}: {why}"));
        self.one.transpose().map_err(unreadable)
    }
}

fn matches_of(documents: ChunkDocuments<'_>, ids: [&[u8]; 2]) -> Result<[Matches; 2]> {
    let mut matches = ids.map(|_| Matches::default());
    let source = documents.source;
    documents.for_each(|found| {
        let (own, place) = (own_id(&found), place_of(&found));
        for (id, all) in ids.into_iter().zip(&mut matches) {
            if goes_by(id, own, source, &place) {
                all.add(place, || whole(source, &found));
            }
        }
        Ok(())
    })?;
    Ok(matches)
}

fn goes_by(id: &[u8], own: &[u8], source: &Source, place: &Place) -> bool {
    match own {
        [] => id
            .strip_prefix(source.path.as_os_str().as_bytes())
            .is_some_and(|behind| behind == behind_file(place).as_bytes()),
        own => own == id,
    }
}

fn own_id<'a>(found: &'a Found<'_>) -> &'a [u8] {
    match found {
        Ok(document) => document.id,
        Err(skip) => &skip.id,
    }
}

fn place_of(found: &Found<'_>) -> Place {
    match found {
        Ok(document) => document.place,
        Err(skip) => skip.place,
    }
}

/// The document, or the reason why it cannot be read.
fn whole(source: &Source, found: &Found<'_>) -> std::result::Result<FoundDocument, String> {
    match found {
        Ok(document) => Ok(FoundDocument::new(source, document)),
        Err(skip) => Err(format!(
            "cannot be read as a document ({}): {}",
            skip.reason.name(),
            skip.detail
        )),
    }
}

fn wrong_place(wanted: &(u64, u64), next: &Place) -> String {
    let next = match next.member == wanted.0 {
        true => next.offset.to_string(),
        false => behind_file(next)[1..].to_owned(),
    };
    format!("no document begins there; the next one begins at {next}")
}

/// The member of a place in `source`, which only compressed files have.
fn checked_member(source: &Source, member: Option<u64>) -> Result<u64> {
    let is_compressed = source.compression != Compression::None;
    let message = match (member, is_compressed) {
        (Some(member), true) => return Ok(member),
        (None, false) => return Ok(NO_MEMBER),
        (None, true) => "is compressed: write the place as FILE:MEMBER+OFFSET",
        (Some(_), false) => "is not compressed: write the place as FILE:OFFSET",
    };
    Err(Error::new(ErrorKind::Parameter, message).in_file(&source.path))
}

/// Where to start reading to find out whether a document begins at a place: one byte earlier, which
/// is a separator if one does.
fn before(source: &Source, (member, offset): (u64, u64)) -> Position {
    let offset = match source.format {
        format if format.is_whole_file() => return Position::default(),
        format if format.separator().is_none() => offset,
        _ if offset <= MARK_BYTES => 0,
        _ => offset - 1,
    };
    Position {
        chunk: 0,
        member,
        offset,
    }
}

/// The place without its file: `:OFFSET`, or `:MEMBER+OFFSET`.
fn behind_file(place: &Place) -> String {
    match place.member {
        NO_MEMBER => format!(":{}", place.offset),
        member => format!(":{member}+{}", place.offset),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const LINES: &str = "{\"id\":\"a\",\"text\":\"one\"}\n{\"id\":\"b\",\"text\":\"two\"}\n\
                         {\"text\":\"three\"}\n{\"id\":\"a\",\"text\":\"four\"}\n{\"id\":\"c\"}\n";

    fn with_file<T>(bytes: &[u8], test: impl FnOnce(&Path, Lookup<'_>) -> T) -> T {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("file");
        fs::write(&file, bytes).unwrap();
        let lookup = Lookup {
            reading: &Reading::default(),
            threads: 2,
            progress: &Progress::new(),
        };
        test(&file, lookup)
    }

    #[test]
    fn documents_are_found_at_their_places() {
        with_file(LINES.as_bytes(), |file, lookup| {
            let begins = [0, 24, 48, 65];
            for (offset, text) in begins.into_iter().zip(["one", "two", "three", "four"]) {
                let found = lookup.at(file, None, offset).unwrap();
                assert_eq!(
                    (found.text.as_slice(), found.place.offset),
                    (text.as_bytes(), offset)
                );
                assert_eq!(found.at(), format!("{}:{offset}", file.display()));
            }
            for offset in (0..LINES.len() as u64 + 9).filter(|offset| !begins.contains(offset)) {
                let error = lookup.at(file, None, offset).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Parameter, "{offset}");
            }
            let error = lookup.at(file, None, 25).unwrap_err().to_string();
            assert!(error.ends_with("25: no document begins there; the next one begins at 48"));
            let error = lookup.at(file, None, 90).unwrap_err().to_string();
            assert!(
                error.contains("90: cannot be read as a document (no_text)"),
                "{error}"
            );
            let error = lookup.at(file, Some(0), 0).unwrap_err().to_string();
            assert!(error.contains("is not compressed"));
        });
    }

    #[test]
    fn members_count_in_compressed_files() {
        let member = |text: &str| zstd::encode_all(text.as_bytes(), 1).unwrap();
        let (first, second) = LINES.split_at(48);
        let bytes = [member(first), member(second)].concat();
        let border = member(first).len() as u64;
        with_file(&bytes, |file, lookup| {
            assert_eq!(lookup.at(file, Some(0), 24).unwrap().text, b"two");
            assert_eq!(lookup.at(file, Some(border), 17).unwrap().text, b"four");
            for (member, offset) in [(0, 25), (1, 0), (border, 1), (border + 1, 0), (99_999, 0)] {
                let error = lookup.at(file, Some(member), offset).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Parameter, "{member}+{offset}");
            }
            let error = lookup.at(file, None, 0).unwrap_err().to_string();
            assert!(error.contains("is compressed: write the place as FILE:MEMBER+OFFSET"));
        });
    }

    #[test]
    fn a_mark_before_the_first_document_counts() {
        with_file(format!("\u{feff}{LINES}").as_bytes(), |file, lookup| {
            assert_eq!(lookup.at(file, None, 3).unwrap().text, b"one");
            assert!(lookup.at(file, None, 2).is_err());
            assert_eq!(lookup.at(file, None, 27).unwrap().text, b"two");
        });
    }

    #[test]
    fn a_file_of_one_document_needs_no_place() {
        with_file(b"just text", |file, lookup| {
            assert_eq!(lookup.only(file).unwrap().text, b"just text");
            assert_eq!(lookup.at(file, None, 0).unwrap().text, b"just text");
            assert!(lookup.at(file, None, 5).is_err());
        });
        with_file(LINES.as_bytes(), |file, lookup| {
            let error = lookup.only(file).unwrap_err().to_string();
            assert!(error.contains("more than one document, the second at 24"));
        });
        with_file(b"", |file, lookup| {
            let error = lookup.only(file).unwrap_err().to_string();
            assert!(error.contains("holds no document"));
        });
    }

    #[test]
    fn ids_are_looked_up_and_ambiguous_ones_refused() {
        with_file(LINES.as_bytes(), |file, lookup| {
            let source = [Source::of_file(file, lookup.reading).unwrap()];
            let by_ids = |a: &[u8], b: &[u8]| lookup.by_ids(&source, [a, b]);
            let named = format!("{}:48", file.display());
            let [b, third] = by_ids(b"b", named.as_bytes()).unwrap();
            assert_eq!(
                (b.unwrap().text, third.unwrap().text),
                (b"two".into(), b"three".into())
            );
            assert_eq!(by_ids(b"x", b"").unwrap(), [None, None]);
            let error = by_ids(b"b", b"a").unwrap_err().to_string();
            assert!(error.starts_with("id a: 2 documents have it"));
            assert!(error.ends_with(":65"));
            let error = by_ids(b"b", b"c").unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Content);
        });
    }
}
