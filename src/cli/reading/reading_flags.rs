//! How documents are read: the flags of every command that reads them.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, Args, Command};
use simtool::corpus::{FileChoice, Format, HtmlText, Reading, Source};
use simtool::engine::collection::InputSettings;
use simtool::io::InputFiles;
use simtool::text::{Choice, WordSet, builtin_stop_words, listed_stop_words};
use simtool::{Error, ErrorKind, Result};

use super::cache_flags::CacheArgs;
use super::found::discover;
use crate::cli::dedup::method_flags::tokenizer;
use crate::cli::process::session::Session;
use crate::cli::values::effect::WordFlags;
use crate::cli::values::size::parse_size;
use crate::cli::values::{self, Named};

/// The fields of documents, and which files to read.
#[derive(Args, Clone, Debug)]
pub struct FieldArgs {
    /// Format of all inputs [default: detected from their content]
    #[arg(
        long, value_name = "FORMAT", value_parser = values::named(&FORMATS),
        help_heading = "Reading"
    )]
    pub format: Option<Format>,

    /// Field of the text; dots lead into nested fields
    #[arg(
        long,
        value_name = "NAME",
        default_value = "text",
        help_heading = "Reading"
    )]
    pub text_field: String,

    /// Field of the id
    #[arg(
        long,
        value_name = "NAME",
        default_value = "id",
        help_heading = "Reading"
    )]
    pub id_field: String,

    /// Field of the URL
    #[arg(
        long,
        value_name = "NAME",
        default_value = "url",
        help_heading = "Reading"
    )]
    pub url_field: String,

    /// Field of the date
    #[arg(
        long,
        value_name = "NAME",
        default_value = "date",
        help_heading = "Reading"
    )]
    pub date_field: String,

    /// Of directories and patterns, read only the files that match this pattern (or another
    /// --include): a file name such as '*.jsonl', with slashes a path, or with one at the end
    /// directories
    #[arg(long, value_name = "PATTERN", help_heading = "Reading")]
    pub include: Vec<String>,

    /// Do not read files that match this pattern
    #[arg(long, value_name = "PATTERN", help_heading = "Reading")]
    pub exclude: Vec<String>,

    #[command(flatten)]
    pub cache: CacheArgs,
}

/// How documents are read.
#[derive(Args, Clone, Debug)]
pub struct DocumentReadingArgs {
    #[command(flatten)]
    pub fields: FieldArgs,

    /// Part of an HTML page that is its text, in any format [default: main]
    #[arg(
        long, value_name = "PART", value_parser = HtmlPart,
        help_heading = "Reading"
    )]
    pub html: Option<HtmlText>,

    /// Documents larger than this are skipped and listed
    #[arg(
        long, value_name = "SIZE", default_value = "16M", value_parser = parse_size,
        help_heading = "Reading"
    )]
    pub max_document: u64,
}

/// How documents are read and split into words.
#[derive(Args, Clone, Debug)]
pub struct ReadingArgs {
    #[command(flatten)]
    pub documents: DocumentReadingArgs,

    /// Kind of words: auto, ascii, unicode, chars or code [default: auto]
    #[arg(
        long, value_name = "KIND", value_parser = values::tokenizer(tokenizer),
        hide_possible_values = true, help_heading = "Reading"
    )]
    pub tokenizer: Option<Choice>,

    /// File of stop words, separated by white space, which methods leave out [default: the common
    /// words of nine languages]
    #[arg(long, value_name = "FILE", help_heading = "Reading")]
    pub stop_words: Option<PathBuf>,
}

/// Bytes of a chunk: so few that the rows of very short documents fit into its memory, too.
const CHUNK_BYTES: usize = 512 << 10;
/// The most bytes of a file of stop words.
const MAX_STOP_WORD_BYTES: u64 = 64 << 20;

impl FieldArgs {
    /// The reading with these flags.
    pub fn reading(&self, html: HtmlText, max_document_bytes: u64) -> Reading {
        Reading {
            format: self.format,
            text_field: self.text_field.clone(),
            id_field: self.id_field.clone(),
            url_field: self.url_field.clone(),
            date_field: self.date_field.clone(),
            fields: Vec::new(),
            html,
            max_document_bytes,
            chunk_bytes: CHUNK_BYTES,
            files: FileChoice {
                include: self.include.clone(),
                exclude: self.exclude.clone(),
                except_directory: None,
                take: None,
            },
            ..Reading::default()
        }
    }
}

impl DocumentReadingArgs {
    /// How documents are read.
    pub fn reading(&self) -> Reading {
        self.fields
            .reading(self.html.unwrap_or_default(), self.max_document)
    }
}

impl ReadingArgs {
    /// How documents are read and tokenized.
    ///
    /// # Errors
    /// Errors of [`Reading::check`] and of [`stop_words`](Self::stop_words).
    pub fn input_settings(&self) -> Result<InputSettings> {
        let reading = self.reading();
        reading.check()?;
        Ok(InputSettings {
            reading,
            tokenizer: self.tokenizer(),
            stop_words: self.stop_words()?,
        })
    }

    /// The given flags but those of words and of the cache, for another command line.
    pub fn given(&self) -> Vec<String> {
        let fields = &self.documents.fields;
        let format = FORMATS
            .iter()
            .find(|(.., format)| Some(*format) == fields.format);
        let html = HTML_PARTS
            .iter()
            .find(|(.., part)| Some(*part) == self.documents.html);
        let named = |name: &str, value: &str, by_default: &str| {
            (value != by_default).then(|| [format!("--{name}"), value.to_owned()])
        };
        let words = [
            named("format", format.map_or("", |(name, ..)| name), ""),
            named("text-field", &fields.text_field, "text"),
            named("id-field", &fields.id_field, "id"),
            named("url-field", &fields.url_field, "url"),
            named("date-field", &fields.date_field, "date"),
            named("html", html.map_or("", |(name, ..)| name), ""),
            named(
                "max-document",
                &self.documents.max_document.to_string(),
                "16777216",
            ),
        ];
        let patterns = |name: &'static str, list: &[String]| {
            let each = list
                .iter()
                .map(move |pattern| [name.to_owned(), pattern.clone()]);
            each.collect::<Vec<[String; 2]>>()
        };
        let words = words.into_iter().flatten();
        let words = words.chain(patterns("--include", &fields.include));
        words
            .chain(patterns("--exclude", &fields.exclude))
            .flatten()
            .collect()
    }

    /// The files that a command reads with these flags, which no output may replace.
    pub fn files<'a>(&self, sources: impl IntoIterator<Item = &'a Source>) -> InputFiles {
        let mut files = InputFiles::default();
        let sources = sources.into_iter().map(|source| source.path.as_path());
        let all = sources.chain(self.stop_words.as_deref());
        all.for_each(|path| files.add(path));
        files
    }

    /// The reading with these flags.
    pub fn reading(&self) -> Reading {
        self.documents.reading()
    }

    /// Which of the flags about words are given.
    pub fn word_flags(&self) -> WordFlags {
        WordFlags {
            tokenizer: self.tokenizer.is_some(),
            stop_words: self.stop_words.is_some(),
        }
    }

    /// The kind of words.
    pub fn tokenizer(&self) -> Choice {
        self.tokenizer.unwrap_or_default()
    }

    /// The stop words.
    ///
    /// # Errors
    /// [`ErrorKind::Read`] if the file cannot be read; [`ErrorKind::Content`] if it is too large.
    pub fn stop_words(&self) -> Result<WordSet> {
        match &self.stop_words {
            Some(path) => stop_words(path),
            None => Ok(builtin_stop_words()),
        }
    }
}

/// The stop words in the file `path`.
///
/// # Errors
/// [`ErrorKind::Read`] if the file cannot be read; [`ErrorKind::Content`] if it is too large.
pub fn stop_words(path: &Path) -> Result<WordSet> {
    let unreadable = |cause| Error::unreadable(path, cause);
    let bytes = std::fs::metadata(path).map_err(unreadable)?.len();
    if bytes > MAX_STOP_WORD_BYTES {
        let message = format!("{bytes} bytes of stop words: expected at most 64 MiB");
        return Err(Error::new(ErrorKind::Content, message).in_file(path));
    }
    Ok(listed_stop_words(&std::fs::read(path).map_err(unreadable)?))
}

/// The files of each group of inputs, which can be read more than once.
///
/// # Errors
/// Errors of [`discover`]; [`ErrorKind::Parameter`] for standard input and pipes.
pub fn files<const N: usize>(
    groups: [&[PathBuf]; N],
    reading: &Reading,
    session: &Session,
) -> Result<[Vec<Source>; N]> {
    let sources = discover(groups, reading, session)?;
    match sources.iter().flatten().find(|source| source.is_stream()) {
        None => Ok(sources),
        Some(stream) => {
            let message = "is a stream, and has to be read more than once: copy it to a file";
            Err(Error::new(ErrorKind::Parameter, message).in_file(&stream.path))
        }
    }
}

/// The values of --format.
const FORMATS: [Named<Format>; 7] = [
    (
        "form-feed",
        "Pages separated by form feeds, headed by a line with the id",
        Format::FormFeed,
    ),
    ("whole-file", "Each file is a document", Format::WholeFile),
    ("html", "Each file is an HTML page", Format::Html),
    ("jsonl", "A JSON object per line", Format::Jsonl),
    ("warc", "WARC and WET", Format::Warc),
    ("arc", "The web archives before 2009", Format::Arc),
    ("parquet", "Parquet", Format::Parquet),
];

/// The values of --html.
const HTML_PARTS: [Named<HtmlText>; 3] = [
    (
        "main",
        "The main text, without menus and the like",
        HtmlText::Main,
    ),
    ("visible", "All visible text", HtmlText::Visible),
    ("markup", "The unchanged markup", HtmlText::Markup),
];

/// A parser of the values of --html.
#[derive(Clone)]
pub struct HtmlPart;

impl TypedValueParser for HtmlPart {
    type Value = HtmlText;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> std::result::Result<HtmlText, clap::Error> {
        // The name of an extractor of earlier builds.
        if value == "article" {
            let refused = |_| Err::<HtmlText, _>("this extractor is gone: use main (the default)");
            return StringValueParser::new()
                .try_map(refused)
                .parse_ref(command, argument, value);
        }
        values::named(&HTML_PARTS).parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let known = HTML_PARTS.iter();
        Some(Box::new(known.map(|(name, help, _)| {
            PossibleValue::new(*name).help(*help)
        })))
    }
}
