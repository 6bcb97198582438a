//! Documents whose characters may be wrong.

use simtool_corpus::{Compression, Doubt, Format, NO_MEMBER, Place, Source};

/// How many documents have characters that may be wrong, and where the first of them stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Doubts {
    /// Documents with bytes or JSON escapes that are not valid characters.
    pub broken: Doubtful,
    /// Documents that name a character set that is not supported.
    pub unknown_charset: Doubtful,
}

/// Documents with the same doubt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Doubtful {
    /// How many there are.
    pub documents: u64,
    /// Where the first one stands.
    pub first: Option<Place>,
}

impl Doubts {
    /// Counts a document.
    pub fn note(&mut self, doubt: Doubt, place: Place) {
        let doubtful = match doubt {
            Doubt::None => return,
            Doubt::Broken => &mut self.broken,
            Doubt::UnknownCharset => &mut self.unknown_charset,
        };
        doubtful.add(&Doubtful {
            documents: 1,
            first: Some(place),
        });
    }

    /// Counts those of `other` too.
    pub fn add(&mut self, other: &Doubts) {
        self.broken.add(&other.broken);
        self.unknown_charset.add(&other.unknown_charset);
    }

    /// What to tell the user, for documents of `sources`: the number of documents and a message.
    pub fn messages(&self, sources: &[Source]) -> Vec<(u64, String)> {
        let broken = self.broken.message(sources, |documents, place, source| {
            format!(
                "{documents} with bytes or escapes that are not valid characters, such as Latin-1 \
                 where UTF-8 is expected; U+FFFD replaces them (the first: {place}). {}",
                advice(source, "WINDOWS-1252")
            )
        });
        let unknown = self.unknown_charset.message(sources, |documents, place, source| {
            format!(
                "{documents} in a character set that is not supported; another one was guessed, so \
                 the text may be wrong (the first: {place}). {}",
                advice(source, "CHARSET")
            )
        });
        broken.into_iter().chain(unknown).collect()
    }
}

impl Doubtful {
    fn add(&mut self, other: &Doubtful) {
        self.documents += other.documents;
        let order = |place: &Place| (place.source, place.member, place.offset);
        let both = [self.first, other.first].into_iter().flatten();
        self.first = both.min_by_key(order);
    }

    fn message(
        &self,
        sources: &[Source],
        text: impl Fn(String, String, &Source) -> String,
    ) -> Option<(u64, String)> {
        let place = self.first?;
        let source = sources.get(place.source as usize)?;
        let plural = if self.documents == 1 { "" } else { "s" };
        let documents = format!("{} document{plural}", self.documents);
        let message = text(documents, described(source, place), source);
        Some((self.documents, message))
    }
}

/// What to do about the characters of a document in `source`, perhaps of the character set `from`.
fn advice(source: &Source, from: &str) -> String {
    let unpack = match source.compression {
        Compression::None => None,
        Compression::Gzip => Some("zcat"),
        Compression::Zstd => Some("zstdcat"),
    };
    // A copy is that of a stream, which has to be converted before.
    let (file, converted) = match source.copy.is_some() {
        true => ("", ""),
        false => (" FILE", " > CONVERTED"),
    };
    let convert = match unpack {
        None => format!("iconv -f {from} -t UTF-8{file}{converted}"),
        Some(unpack) => format!("{unpack}{file} | iconv -f {from} -t UTF-8{converted}"),
    };
    match source.format {
        Format::Warc | Format::Arc => "Do not convert it: an archive holds what the server \
            sent, and all valid characters are used"
            .to_owned(),
        Format::Parquet => "Write such tables again with text in UTF-8".to_owned(),
        Format::Jsonl => format!(
            "Convert files of another character set and run again ({convert}). An escape that is \
             half a character, such as \\ud800, must be corrected by the program that wrote the \
             file"
        ),
        Format::FormFeed | Format::WholeFile | Format::Html => {
            format!("Convert such files and run again ({convert})")
        }
    }
}

/// Where a document stands, for people.
fn described(source: &Source, place: Place) -> String {
    let Place { member, offset, .. } = place;
    let file = source.path.display();
    match source.format {
        format if format.is_whole_file() => file.to_string(),
        Format::Parquet => format!("row {offset} of {file}"),
        _ if member == NO_MEMBER => format!("at byte {offset} of {file}"),
        _ => format!("at byte {offset} of the decompressed member at byte {member} of {file}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_corpus::{Reading, Source, SourceCopy};

    #[test]
    fn advice_fits_the_file() {
        let source = |format, compression| Source {
            path: "file".into(),
            bytes: Some(1),
            format,
            compression,
            copy: None,
            object: None,
        };
        let of = |format, compression| advice(&source(format, compression), "WINDOWS-1252");
        let stream = Source {
            copy: Some(SourceCopy::File("copy".into())),
            ..source(Format::WholeFile, Compression::Gzip)
        };
        assert!(advice(&stream, "KOI8-R").contains("(zcat | iconv -f KOI8-R -t UTF-8)"));
        let plain = of(Format::WholeFile, Compression::None);
        assert!(plain.contains("(iconv -f WINDOWS-1252 -t UTF-8 FILE > CONVERTED)"));
        let lines = of(Format::Jsonl, Compression::Gzip);
        assert!(lines.contains("(zcat FILE | iconv -f WINDOWS-1252 -t UTF-8 > CONVERTED)"));
        assert!(lines.contains("\\ud800"), "{lines}");
        assert!(of(Format::FormFeed, Compression::Zstd).contains("zstdcat FILE | iconv"));
        for (format, word) in [
            (Format::Warc, "what the server sent"),
            (Format::Arc, "what the server sent"),
            (Format::Parquet, "Write such tables again"),
        ] {
            let advice = of(format, Compression::Gzip);
            assert!(
                advice.contains(word) && !advice.contains("iconv"),
                "{advice}"
            );
        }
    }

    #[test]
    fn the_first_in_input_order_is_named_whatever_the_order_of_counting() {
        let directory = tempfile::tempdir().unwrap();
        let source = |name: &str| {
            let path = directory.path().join(name);
            std::fs::write(&path, "{\"text\": \"a\"}\n").unwrap();
            Source::of_file(&path, &Reading::default()).unwrap()
        };
        let sources = [source("a.jsonl"), source("b.jsonl")];
        let place = |source, member, offset| Place::new(source, member, offset, 9);
        let places = [
            place(1, NO_MEMBER, 0),
            place(0, 70, 5),
            place(0, 30, 900),
            place(0, 70, 0),
        ];
        let mut doubts = Doubts::default();
        assert!(doubts.messages(&sources).is_empty());
        for place in places {
            let mut part = Doubts::default();
            part.note(Doubt::Broken, place);
            part.note(Doubt::None, place);
            doubts.add(&part);
        }
        doubts.note(Doubt::UnknownCharset, place(1, NO_MEMBER, 17));
        let messages = doubts.messages(&sources);
        assert_eq!(messages.len(), 2);
        assert_eq!((messages[0].0, messages[1].0), (4, 1));
        let (broken, unknown) = (&messages[0].1, &messages[1].1);
        assert!(broken.starts_with("4 documents with"), "{broken}");
        assert!(broken.contains("at byte 900 of the decompressed member at byte 30 of "));
        assert!(broken.contains("a.jsonl") && broken.contains("iconv"));
        assert!(unknown.starts_with("1 document in"), "{unknown}");
        assert!(unknown.contains("at byte 17 of ") && unknown.contains("b.jsonl"));
    }
}
