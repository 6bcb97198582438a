//! Scopes: groups of documents, within which documents are compared.

mod language;
mod language_codes;

use std::fmt;
use std::path::Path;

use ahash::AHashMap;
use xxhash_rust::xxh3::xxh3_64;

use crate::{Error, ErrorKind, Result};
use simtool_core::dedup::keep;
use simtool_corpus::{Document, Source};

pub use language::FIELDS as LANGUAGE_FIELDS;

/// Which documents are compared with each other: those of one group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Scope {
    /// All documents form one group.
    #[default]
    Global,
    /// The host of the URL.
    Site,
    /// The input file. Files that are one document each form a group with the others of their
    /// directory.
    Source,
    /// The language: as a field or header says, or as detected in the text.
    Language,
    /// The extension of the document's id or, without one, of its file, in lower case: for source
    /// code, the programming language. Documents without an extension are a group, too.
    Extension,
    /// The value of this field, a string, a number or a boolean.
    Field(String),
}

/// The group of documents whose group is unknown.
pub const UNKNOWN: u64 = 0;

impl Scope {
    /// Reads `global`, `site`, `source`, `language`, `extension` or `field:NAME`.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] for anything else.
    pub fn parse(name: &str) -> Result<Scope> {
        match (name, name.split_once(':')) {
            ("global", _) => Ok(Scope::Global),
            ("site", _) => Ok(Scope::Site),
            ("source", _) => Ok(Scope::Source),
            ("language", _) => Ok(Scope::Language),
            ("extension", _) => Ok(Scope::Extension),
            (_, Some(("field", field))) if !field.is_empty() => Ok(Scope::Field(field.to_owned())),
            _ => {
                let message = format!(
                    "scope {name:?}: expected field:NAME (the documents with one value of this \
                     field), site, source (an input file), language, extension (of the id) or global"
                );
                Err(Error::new(ErrorKind::Parameter, message))
            }
        }
    }

    /// The fields that it reads, the preferred one first.
    pub fn fields(&self) -> Vec<String> {
        match self {
            Scope::Global | Scope::Site | Scope::Source | Scope::Extension => Vec::new(),
            Scope::Language => language::FIELDS.map(str::to_owned).to_vec(),
            Scope::Field(name) => vec![name.clone()],
        }
    }

    /// The group of a document: a hash of its name, which is never zero; `None` if it is unknown.
    /// `values` are those of its [`fields`](Self::fields) that are not empty, in their order; `path`
    /// is that of its file, or for [`Scope::Extension`] the path with the extension.
    ///
    /// Two groups have the same hash with a probability of 2⁻⁶⁴; then they are one group.
    pub fn group_of<'d>(
        &self,
        path: &Path,
        url: &[u8],
        mut values: impl Iterator<Item = &'d [u8]>,
        text: &[u8],
    ) -> Option<u64> {
        let group = match self {
            Scope::Global => None,
            Scope::Site => keep::site(url),
            Scope::Source => Some(xxh3_64(path.as_os_str().as_encoded_bytes())),
            Scope::Language => {
                let written = values.find_map(language::written);
                let found = written.or_else(|| language::detected(text));
                found.map(|language| xxh3_64(&language))
            }
            Scope::Extension => {
                let extension = path.extension().unwrap_or_default();
                Some(xxh3_64(&extension.as_encoded_bytes().to_ascii_lowercase()))
            }
            Scope::Field(_) => values.next().map(xxh3_64),
        };
        group.map(|group| group.max(UNKNOWN + 1))
    }

    /// Why a document has no group, for a warning; `None` if each document has one.
    pub(crate) fn missing(&self) -> Option<String> {
        match self {
            Scope::Global | Scope::Source | Scope::Extension => None,
            Scope::Site => Some("have no URL with a host".to_owned()),
            Scope::Language => Some(
                "have no field or header of their language, and texts too short or too mixed \
                      to detect it"
                    .to_owned(),
            ),
            Scope::Field(name) => Some(format!(
                "have no string, number or boolean in the field {name:?}"
            )),
        }
    }
}

/// In the format of [`Scope::parse`].
impl fmt::Display for Scope {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scope::Global => out.write_str("global"),
            Scope::Site => out.write_str("site"),
            Scope::Source => out.write_str("source"),
            Scope::Language => out.write_str("language"),
            Scope::Extension => out.write_str("extension"),
            Scope::Field(name) => write!(out, "field:{name}"),
        }
    }
}

/// Assigns documents to the groups of a scope.
#[derive(Clone, Debug)]
pub(crate) struct Grouper {
    scope: Scope,
    /// The positions of the scope's fields among the requested ones.
    fields: Vec<usize>,
}

impl Grouper {
    /// A grouper for documents with the values of `requested` fields.
    pub fn new(scope: &Scope, requested: &[String]) -> Grouper {
        let place = |name: &String| requested.iter().position(|requested| requested == name);
        Grouper {
            fields: scope.fields().iter().filter_map(place).collect(),
            scope: scope.clone(),
        }
    }

    /// The group of a document, as of [`Scope::group_of`], or [`UNKNOWN`].
    pub fn group(&self, source: &Source, document: &Document<'_>) -> u64 {
        let id = String::from_utf8_lossy(document.id);
        let path = match self.scope {
            Scope::Extension if id.is_empty() => &source.path,
            Scope::Extension => Path::new(&*id),
            _ => path_of(source),
        };
        let group = self
            .scope
            .group_of(path, document.url, self.values(document), document.text);
        group.unwrap_or(UNKNOWN)
    }

    /// The values of the scope's fields that are not empty.
    fn values<'d>(&self, document: &Document<'d>) -> impl Iterator<Item = &'d [u8]> {
        self.fields
            .iter()
            .filter_map(|&place| document.fields.get(place).copied().flatten())
            .map(|value| value.text)
            .filter(|text| !text.is_empty())
    }
}

/// The languages of documents.
#[derive(Clone, Debug)]
pub(crate) struct Languages {
    grouper: Grouper,
    guesses: bool,
}

impl Languages {
    /// Languages as the `requested` fields and headers say. If these do not, and with `guesses`, the
    /// language is detected, which takes 0.1 to 0.2 milliseconds.
    pub fn new(requested: &[String], guesses: bool) -> Languages {
        Languages {
            grouper: Grouper::new(&Scope::Language, requested),
            guesses,
        }
    }

    /// The code of a document's language, if it is known.
    pub fn of(&self, document: &Document<'_>) -> Option<Vec<u8>> {
        let written = self.grouper.values(document).find_map(language::written);
        let detected = || language::detected(document.text);
        written.or_else(|| self.guesses.then(detected).flatten())
    }
}

/// The path that stands for the source of a document.
pub(crate) fn path_of(source: &Source) -> &Path {
    match source.format.is_whole_file() {
        true => source.path.parent().unwrap_or(&source.path),
        false => &source.path,
    }
}

/// The number of each source, from 0 in the order of their first files: files of one
/// [`path`](path_of) have the same number.
pub(crate) fn numbered_sources(sources: &[Source]) -> Vec<u32> {
    let mut numbers: AHashMap<&Path, u32> = AHashMap::new();
    let number = |source| {
        let next = numbers.len() as u32;
        *numbers.entry(path_of(source)).or_insert(next)
    };
    sources.iter().map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_corpus::{Compression, Doubt, FieldValue, Format, MAX_FIELDS, Place};

    #[test]
    fn scopes_are_read_as_they_are_written() {
        for name in [
            "global",
            "site",
            "source",
            "language",
            "extension",
            "field:a.b",
            "field:site",
        ] {
            assert_eq!(Scope::parse(name).unwrap().to_string(), name);
        }
        for name in ["", "field:", "Site", "host", "field", "language:en"] {
            let error = Scope::parse(name).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Parameter);
            assert!(error.to_string().contains("expected field:NAME"), "{error}");
        }
    }

    fn source(path: &str, format: Format) -> Source {
        Source {
            path: path.into(),
            bytes: Some(1),
            format,
            compression: Compression::None,
            copy: None,
            object: None,
        }
    }

    fn document<'a>(url: &'a str, text: &'a str, values: &[Option<&'a str>]) -> Document<'a> {
        let mut fields = [None; MAX_FIELDS];
        for (field, value) in fields.iter_mut().zip(values) {
            *field = value.map(|value| FieldValue {
                text: value.as_bytes(),
                number: None,
            });
        }
        Document {
            place: Place::new(0, 0, 0, 0),
            raw: &[],
            id: &[],
            url: url.as_bytes(),
            date: &[],
            fields,
            text: text.as_bytes(),
            doubt: Doubt::None,
        }
    }

    #[test]
    fn groups_follow_their_definition() {
        let lines = source("d/a.jsonl", Format::Jsonl);
        let group = |scope: &Scope, source: &Source, document: &Document<'_>| {
            let requested = ["other".to_owned(), "dump".to_owned(), "lang".to_owned()];
            Grouper::new(scope, &requested).group(source, document)
        };
        let field = Scope::Field("dump".to_owned());
        let of = |value| group(&field, &lines, &document("", "x", &[Some("y"), value]));
        assert_eq!(of(Some("2024")), of(Some("2024")));
        assert_ne!(of(Some("2024")), of(Some("2025")));
        assert_eq!([of(None), of(Some(""))], [UNKNOWN; 2]);

        let by_extension = |id: &'static str, path| {
            let own = Document {
                id: id.as_bytes(),
                ..document("", "x", &[])
            };
            group(&Scope::Extension, &source(path, Format::Jsonl), &own)
        };
        let python = by_extension("a/b.py", "d/a.txt");
        assert_eq!(python, by_extension("c.PY", "d/a.txt"));
        assert_eq!(python, by_extension("", "d/a.py"));
        assert_ne!(python, by_extension("a.java", "d/a.py"));
        assert_ne!(python, by_extension("py", "d/a.py"));
        assert_eq!(by_extension("x", "a.py"), by_extension(".hidden", "a.py"));
        let site = |url| group(&Scope::Site, &lines, &document(url, "x", &[]));
        assert_eq!(site("http://A.example/1"), site("https://a.example:80/2"));
        assert_ne!(site("http://a.example/"), site("http://b.example/"));
        assert_eq!([site(""), site("path")], [UNKNOWN; 2]);

        let any = document("", "x", &[]);
        let file = |path, format| group(&Scope::Source, &source(path, format), &any);
        assert_ne!(
            file("d/a.jsonl", Format::Jsonl),
            file("d/b.jsonl", Format::Jsonl)
        );
        assert_eq!(
            file("d/a.txt", Format::WholeFile),
            file("d/b.html", Format::Html)
        );
        assert_ne!(
            file("d/a.txt", Format::WholeFile),
            file("e/a.txt", Format::WholeFile)
        );

        let english = "This is a text that is long enough to be recognised as one in English.";
        let language = |value, text| {
            let document = document("", text, &[Some("de"), None, value]);
            group(&Scope::Language, &lines, &document)
        };
        assert_eq!(language(Some("en"), "x"), language(Some("eng_Latn"), "y"));
        assert_eq!(language(Some("en-GB"), "x"), language(None, english));
        assert_ne!(language(Some("fr"), english), language(None, english));
        assert_eq!(language(Some("und"), english), language(None, english));
        assert_eq!(language(None, "1"), UNKNOWN);
        assert_eq!(group(&Scope::Global, &lines, &any), UNKNOWN);
    }
}
