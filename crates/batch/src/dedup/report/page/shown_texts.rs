//! Documents that are shown, with the beginnings of their texts, which are read again.

use std::collections::BTreeMap;

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use crate::dedup::report::reports::DedupReports;
use crate::{Error, ErrorKind, Result};
use simtool_core::sketch::digest;
use simtool_corpus::{Place, Reading, Source};
use simtool_engine::Progress;
use simtool_engine::documents::source_of;
use simtool_engine::naming::name;
use simtool_engine::places::{decompressed_bytes, documents_at, is_changed};
use simtool_report::dedup::{ShownDocument, ShownText};

/// The most bytes of compressed members that are decompressed to reach texts: this many, or this
/// part of the text of the whole input.
const LEAST_DECOMPRESSED: u64 = 256 << 20;
const PART_DECOMPRESSED: u64 = 8;
/// The most bytes that are kept at each end of an id or a URL.
const NAME_BYTES: usize = 2 << 10;

const IN_INDEX: &str = "the index has no texts";
const CHANGED: &str = "the file no longer has this text at this place";
const FAR: &str =
    "not shown: too much of a compressed file would be decompressed to reach this text";

/// The documents that are shown.
pub struct ShownTexts(BTreeMap<u32, ShownDocument>);

/// A document whose text is to be read.
struct WantedText {
    document: u32,
    place: Place,
    digest: u64,
    /// The most bytes that are kept.
    most: usize,
}

impl ShownTexts {
    /// Reads `documents` and at most as many bytes of their texts. Texts that are far into
    /// compressed members are left out when too much was decompressed for the documents before
    /// them: `text_bytes` is the text of the whole input. `readers` files are read at a time.
    ///
    /// # Errors
    /// Errors of reading; interruption.
    pub fn read(
        documents: impl Iterator<Item = (u32, usize)>,
        reports: &DedupReports<'_>,
        text_bytes: u64,
        readers: usize,
    ) -> Result<ShownTexts> {
        let mut shown: BTreeMap<u32, ShownDocument> = BTreeMap::new();
        let mut wanted: Vec<WantedText> = Vec::new();
        for (document, most) in documents {
            if shown.contains_key(&document) {
                let wanted = wanted.iter_mut().find(|wanted| wanted.document == document);
                if let Some(wanted) = wanted {
                    wanted.most = wanted.most.max(most);
                }
                continue;
            }
            let named = reports.named(document)?;
            let place = match &named.place {
                Some((_, place)) => {
                    let row = reports.table.rows.get(document.into())?;
                    wanted.push(WantedText {
                        document,
                        place: *place,
                        digest: row.text_digest,
                        most,
                    });
                    Some(name(source_of(reports.sources, place.source)?, b"", *place))
                }
                None => None,
            };
            shown.insert(
                document,
                ShownDocument {
                    id: ends(named.id),
                    url: ends(named.url),
                    text: ShownText::Unknown(if place.is_some() { FAR } else { IN_INDEX }),
                    place,
                },
            );
        }
        let near = near_texts(wanted, reports.sources, text_bytes)?;
        for (document, text) in read_texts(near, reports, readers)? {
            if let Some(shown) = shown.get_mut(&document) {
                shown.text = text;
            }
        }
        Ok(ShownTexts(shown))
    }

    /// A document that was read.
    ///
    /// # Errors
    /// [`ErrorKind::Content`] if it was not.
    pub fn get(&self, document: u32) -> Result<ShownDocument> {
        let shown = self.0.get(&document).cloned();
        shown.ok_or_else(|| Error::new(ErrorKind::Content, "a document of the page was not read"))
    }
}

/// The first and the last bytes of a name, between which a page leaves out some.
fn ends(mut name: Vec<u8>) -> Vec<u8> {
    if name.len() > 2 * NAME_BYTES {
        let end = name.split_off(name.len() - NAME_BYTES);
        name.truncate(NAME_BYTES);
        name.extend_from_slice(&end);
        name.shrink_to_fit();
    }
    name
}

/// The texts that can be reached by decompressing a bounded number of bytes, the first ones first.
fn near_texts(
    wanted: Vec<WantedText>,
    sources: &[Source],
    text_bytes: u64,
) -> Result<Vec<WantedText>> {
    let mut left = (text_bytes / PART_DECOMPRESSED).max(LEAST_DECOMPRESSED);
    // What is decompressed of each member.
    let mut reached: BTreeMap<(u32, u64), u64> = BTreeMap::new();
    let mut near = Vec::new();
    for wanted in wanted {
        let place = &wanted.place;
        let end = decompressed_bytes(source_of(sources, place.source)?, place);
        let reached = reached.entry((place.source, place.member)).or_default();
        let more = end.saturating_sub(*reached);
        if more <= left {
            left -= more;
            *reached = end.max(*reached);
            near.push(wanted);
        }
    }
    Ok(near)
}

/// Reads texts, each file on one thread.
fn read_texts(
    mut wanted: Vec<WantedText>,
    reports: &DedupReports<'_>,
    readers: usize,
) -> Result<Vec<(u32, ShownText)>> {
    wanted.sort_by_key(|wanted| {
        let place = wanted.place;
        (place.source, place.member, place.offset)
    });
    let files: Vec<&[WantedText]> = wanted
        .chunk_by(|a, b| a.place.source == b.place.source)
        .collect();
    // Each reader may need memory for a long document.
    let mut shares: Vec<Vec<&[WantedText]>> = vec![Vec::new(); readers.max(1)];
    for (number, file) in files.into_iter().enumerate() {
        let share = number % shares.len();
        shares[share].push(file);
    }
    let read = |share: &Vec<&[WantedText]>| -> Result<Vec<(u32, ShownText)>> {
        let mut texts = Vec::new();
        for file in share {
            let reading = &reports.job.reading;
            texts.extend(read_file(file, reports.sources, reading, reports.progress)?);
        }
        Ok(texts)
    };
    let texts: Vec<Result<Vec<(u32, ShownText)>>> = shares.par_iter().map(read).collect();
    let texts: Vec<Vec<(u32, ShownText)>> = texts.into_iter().collect::<Result<_>>()?;
    Ok(texts.into_iter().flatten().collect())
}

/// Reads texts of one file.
fn read_file(
    wanted: &[WantedText],
    sources: &[Source],
    reading: &Reading,
    progress: &Progress,
) -> Result<Vec<(u32, ShownText)>> {
    let Some(first) = wanted.first() else {
        return Ok(Vec::new());
    };
    let source = source_of(sources, first.place.source)?;
    let places: Vec<Place> = wanted.iter().map(|wanted| wanted.place).collect();
    let mut texts: Vec<ShownText> = vec![ShownText::Unknown(CHANGED); wanted.len()];
    let read = documents_at(source, reading, &places, progress, |number, document| {
        let WantedText { digest, most, .. } = wanted[number];
        if digest::of_text(document.text) as u64 == digest {
            let text = &document.text[..document.text.len().min(most)];
            texts[number] = ShownText::Known(text.to_vec());
        }
    });
    match read {
        Err(error) if !is_changed(&error) => return Err(error),
        // The texts before the change are shown.
        Ok(()) | Err(_) => {}
    }
    let documents = wanted.iter().map(|wanted| wanted.document);
    Ok(documents.zip(texts).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_corpus::{Compression, Format, NO_MEMBER};

    fn source(compression: Compression) -> Source {
        Source {
            path: "x".into(),
            bytes: Some(1 << 40),
            format: Format::Jsonl,
            compression,
            copy: None,
            object: None,
        }
    }

    /// Promise (Methods and their evaluation): The texts of the HTML page …
    #[test]
    fn texts_far_into_compressed_members_are_left_out() {
        let sources = [Compression::Gzip, Compression::None, Compression::Zstd].map(source);
        let wanted = |document: u32, source: u32, member: u64, offset: u64| WantedText {
            document,
            place: Place::new(source, member, offset << 20, 1 << 20),
            digest: 0,
            most: 9,
        };
        let list = || {
            vec![
                wanted(0, 0, 0, 99),
                // Nothing more is decompressed for it.
                wanted(1, 0, 0, 7),
                wanted(2, 0, 0, 149),
                wanted(3, 2, 0, 106),
                wanted(4, 2, 50, 0),
                wanted(5, 1, NO_MEMBER, 1 << 20),
            ]
        };
        let near = |text_bytes: u64| -> Vec<u32> {
            let near = near_texts(list(), &sources, text_bytes).unwrap();
            near.iter().map(|wanted| wanted.document).collect()
        };
        assert_eq!(near(0), [0, 1, 2, 4, 5]);
        assert_eq!(near(8 * (257 << 20)), [0, 1, 2, 3, 5]);
        assert_eq!(near(8 * (258 << 20)), [0, 1, 2, 3, 4, 5]);
    }

    /// Promise (Methods and their evaluation): The texts of the HTML page …
    #[test]
    fn texts_that_changed_are_called_so() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.jsonl");
        let line = |text: &str| format!("{{\"text\":\"{text}\"}}\n");
        let lines = [line("one text"), line("another"), line("the last one")];
        std::fs::write(&path, lines.concat()).unwrap();
        let reading = Reading::default();
        let source = [Source::of_file(&path, &reading).unwrap()];
        let mut offset = 0;
        let texts = ["one text", "earlier", "the last one"];
        let wanted = (0..)
            .zip(&lines)
            .zip(texts)
            .map(|((document, line), text)| {
                let place = Place::new(0, NO_MEMBER, offset, line.len() as u64);
                offset += line.len() as u64;
                WantedText {
                    document,
                    place,
                    digest: digest::of_text(text.as_bytes()) as u64,
                    most: 8,
                }
            });
        let wanted: Vec<WantedText> = wanted.collect();
        let read = || {
            let texts = read_file(&wanted, &source, &reading, &Progress::new()).unwrap();
            texts.into_iter().map(|(_, text)| text).collect::<Vec<_>>()
        };
        let changed = ShownText::Unknown(CHANGED);
        let known = |text: &str| ShownText::Known(text.into());
        assert_eq!(
            read(),
            [known("one text"), changed.clone(), known("the last")]
        );
        // A file of another length is not read.
        std::fs::write(&path, &lines[0]).unwrap();
        assert_eq!(read(), [changed.clone(), changed.clone(), changed]);
    }

    #[test]
    fn long_names_keep_their_ends() {
        assert_eq!(ends(b"abc".to_vec()), b"abc");
        let name: Vec<u8> = (0..20_000_u32).map(|place| (place % 251) as u8).collect();
        let kept = ends(name.clone());
        assert_eq!(kept.len(), 2 * NAME_BYTES);
        assert!(kept.starts_with(&name[..NAME_BYTES]));
        assert!(kept.ends_with(&name[name.len() - NAME_BYTES..]));
    }
}
