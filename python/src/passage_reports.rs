//! The reports of searches for passages: of files as tables, of rows one by one.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, RecordBatch, UInt64Array};
use simtool::report::pairs::Kind;
use simtool::{Error, ErrorKind, Result};

use crate::reports::{Builder, Kept, Object, lines, row_number};
use crate::table::text_column;

/// What the reports of a search for passages are called.
pub struct Search {
    /// The file of frequent passages, or of reference items.
    pub list: &'static str,
    /// The column of the number of a range.
    pub count: &'static str,
    /// What the names of the columns of the place that a range repeats begin with.
    pub origin: &'static str,
    /// Whether the list has reference items.
    pub has_items: bool,
}

/// What the reports of a command are called.
///
/// # Errors
/// [`ErrorKind::Parameter`] for another command.
pub fn search(command: &str) -> Result<Search> {
    let of_passages = |list| Search {
        list,
        count: "copies",
        origin: "kept",
        has_items: false,
    };
    match command {
        "lines" => Ok(of_passages("boilerplate.jsonl")),
        "spans" => Ok(of_passages("repeated.jsonl")),
        "decontaminate" => Ok(Search {
            list: "items.jsonl",
            count: "ngrams",
            origin: "item",
            has_items: true,
        }),
        _ => {
            let message = format!("{command:?} is no search for passages");
            Err(Error::new(ErrorKind::Parameter, message))
        }
    }
}

/// The columns of a range; those of the place that it repeats follow.
const RANGE: [(&str, Kind); 7] = [
    ("id", Kind::Text),
    ("file", Kind::Text),
    ("start", Kind::Whole),
    ("length", Kind::Whole),
    ("member", Kind::Whole),
    ("text_start", Kind::Whole),
    ("text_end", Kind::Whole),
];
/// The columns of the place that a range repeats, besides its id.
const ORIGIN: [(&str, Kind); 6] = [
    ("file", Kind::Text),
    ("start", Kind::Whole),
    ("length", Kind::Whole),
    ("member", Kind::Whole),
    ("text_start", Kind::Whole),
    ("text_end", Kind::Whole),
];

/// The ranges in `spans.jsonl`, a row for each.
///
/// # Errors
/// Errors of [`pairs`](crate::reports::pairs).
pub fn ranges(path: &Path, search: &Search) -> Result<RecordBatch> {
    let of_origin = |name: &str| format!("{}_{name}", search.origin);
    let columns = RANGE.map(|(name, kind)| (name.to_owned(), kind));
    let own = [
        (search.count.to_owned(), Kind::Whole),
        ("why".to_owned(), Kind::Text),
        ("words".to_owned(), Kind::Whole),
        (search.origin.to_owned(), Kind::Text),
    ];
    let origin = ORIGIN.map(|(name, kind)| (of_origin(name), kind));
    let mut table = Builder::new(columns.into_iter().chain(own).chain(origin));
    lines(path, |line| {
        let document: Object<'_> = serde_json::from_slice(line)?;
        let found = document.get("ranges").map_or("[]", |found| found.get());
        for range in serde_json::from_str::<Vec<Object<'_>>>(found)? {
            let kept = range.get("kept_at").or(range.get("reference"));
            let kept: Object<'_> = serde_json::from_str(kept.map_or("{}", |kept| kept.get()))?;
            let range = renamed(range, |name| match name {
                "start" => "text_start".to_owned(),
                "end" => "text_end".to_owned(),
                "count" => search.count.to_owned(),
                name => name.to_owned(),
            });
            let kept = renamed(kept, |name| match name {
                "id" => search.origin.to_owned(),
                name => of_origin(name),
            });
            table.push(&[&range, &kept, &document]);
        }
        Ok(())
    })?;
    table.finish()
}

/// Fields under other names.
fn renamed<'a>(object: Object<'a>, name: impl Fn(&str) -> String) -> Object<'a> {
    let fields = object.into_iter();
    fields
        .map(|(old, value)| (name(&old).into(), value))
        .collect()
}

/// The columns of a reference item; those of the document that has most of it follow.
const ITEM: [(&str, Kind); 8] = [
    ("id", Kind::Text),
    ("file", Kind::Text),
    ("words", Kind::Whole),
    ("ngrams", Kind::Whole),
    ("found", Kind::Whole),
    ("share", Kind::Decimal),
    ("ignored", Kind::Whole),
    ("documents", Kind::Whole),
];
const BEST: [(&str, Kind); 6] = [
    ("best", Kind::Text),
    ("best_file", Kind::Text),
    ("best_found", Kind::Whole),
    ("best_share", Kind::Decimal),
    ("best_text_start", Kind::Whole),
    ("best_text_end", Kind::Whole),
];

/// The reference items in `items.jsonl`, each with its id and file, and with those of the document
/// that has most of it.
///
/// # Errors
/// Errors of [`pairs`](crate::reports::pairs).
pub fn items(path: &Path) -> Result<RecordBatch> {
    let mut table = Builder::new(ITEM.into_iter().chain(BEST));
    table.insert_flag(ITEM.len(), "too_short");
    lines(path, |line| {
        let item: Object<'_> = serde_json::from_slice(line)?;
        let best = item.get("best").map_or("null", |best| best.get());
        let best: Option<Object<'_>> = serde_json::from_str(best)?;
        let best = renamed(best.unwrap_or_default(), |name| match name {
            "id" => "best".to_owned(),
            name => format!("best_{name}"),
        });
        table.push(&[&best, &item]);
        Ok(())
    })?;
    table.finish()
}

/// A passage of the list of the most frequent ones.
#[derive(serde::Deserialize)]
pub struct Passage {
    text: String,
    shortened: bool,
    count: u64,
    removed: u64,
    documents: u64,
    sites: u64,
    bytes: u64,
    share: f64,
}

/// The columns of passages: text, whether it is shortened, its occurrences, those that the action
/// concerns, the documents and sites that have it, the bytes of the latter and their share.
pub fn passage_columns<'a>(
    passages: impl Iterator<Item = &'a Passage>,
) -> [(&'static str, ArrayRef); 8] {
    let passages: Vec<&Passage> = passages.collect();
    let whole = |of: fn(&Passage) -> u64| -> ArrayRef {
        let values = passages.iter().map(|passage| Some(of(passage)));
        Arc::new(values.collect::<UInt64Array>())
    };
    let texts = passages.iter().map(|passage| Some(passage.text.clone()));
    let shortened = passages.iter().map(|passage| Some(passage.shortened));
    let shares = passages.iter().map(|passage| Some(passage.share));
    [
        ("text", text_column(texts)),
        ("shortened", Arc::new(shortened.collect::<BooleanArray>())),
        ("count", whole(|passage| passage.count)),
        ("removed", whole(|passage| passage.removed)),
        ("documents", whole(|passage| passage.documents)),
        ("sites", whole(|passage| passage.sites)),
        ("bytes", whole(|passage| passage.bytes)),
        ("share", Arc::new(shares.collect::<Float64Array>())),
    ]
}

/// A line of the list.
#[derive(serde::Deserialize)]
struct Listed<'a> {
    #[serde(flatten)]
    passage: Passage,
    #[serde(borrow)]
    first: First<'a>,
}

#[derive(serde::Deserialize)]
struct First<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow)]
    file: Cow<'a, str>,
}

/// The most frequent passages in a list, each with the document of its first occurrence.
///
/// # Errors
/// Errors of [`pairs`](crate::reports::pairs).
pub fn passages(path: &Path) -> Result<RecordBatch> {
    let (mut found, mut ids, mut files) = (Vec::new(), Vec::new(), Vec::new());
    lines(path, |line| {
        let listed: Listed<'_> = serde_json::from_slice(line)?;
        found.push(listed.passage);
        ids.push(Some(listed.first.id.into_owned()));
        files.push(Some(listed.first.file.into_owned()));
        Ok(())
    })?;
    let places = [("id", text_column(ids)), ("file", text_column(files))];
    let columns = passage_columns(found.iter()).into_iter().chain(places);
    RecordBatch::try_from_iter_with_nullable(columns.map(|(name, column)| (name, column, true)))
        .map_err(|error| Error::new(ErrorKind::Content, error.to_string()))
}

/// Calls `take` with each passage of a list about rows, and the document of its first occurrence.
///
/// # Errors
/// Errors of [`pairs`](crate::reports::pairs).
pub fn row_passages(
    path: &Path,
    files: &RowFiles<'_>,
    mut take: impl FnMut(Passage, Kept),
) -> Result<()> {
    lines(path, |line| {
        let listed: Listed<'_> = serde_json::from_slice(line)?;
        let First { id, file } = &listed.first;
        take(listed.passage, files.document(id, file)?);
        Ok(())
    })
}

/// The files of the rows, and of those that they were compared with.
pub struct RowFiles<'a> {
    pub data: &'a str,
    pub others: Option<&'a str>,
}

impl RowFiles<'_> {
    /// A document of a file, whose id is its number if it is a row.
    ///
    /// # Errors
    /// If a row has no number.
    pub fn document(&self, id: &str, file: &str) -> serde_json::Result<Kept> {
        if file == self.data {
            Ok(Kept::Row(row_number(id)?))
        } else if Some(file) == self.others {
            Ok(Kept::Against(row_number(id)?))
        } else {
            Ok(Kept::Known(id.to_owned()))
        }
    }
}

/// A range of a row, in bytes of its text.
pub struct RowRange<'a> {
    pub bytes: [u64; 2],
    /// The number of its copies, or of its n-grams.
    pub count: u64,
    pub why: &'a str,
    pub words: Option<u64>,
    /// The document and the bytes that it repeats.
    pub kept: Option<(Kept, [u64; 2])>,
}

/// Calls `take` with each row that has ranges, whether it is dropped, and the ranges.
///
/// # Errors
/// Errors of [`pairs`](crate::reports::pairs).
pub fn row_ranges(
    path: &Path,
    files: &RowFiles<'_>,
    mut take: impl FnMut(u64, bool, Vec<RowRange<'_>>),
) -> Result<()> {
    #[derive(serde::Deserialize)]
    struct Origin<'a> {
        #[serde(borrow)]
        id: Cow<'a, str>,
        #[serde(borrow)]
        file: Cow<'a, str>,
        text_start: u64,
        text_end: u64,
    }
    #[derive(serde::Deserialize)]
    struct JsonRange<'a> {
        start: u64,
        end: u64,
        #[serde(alias = "copies", alias = "ngrams")]
        count: u64,
        #[serde(borrow)]
        why: &'a str,
        words: Option<u64>,
        #[serde(borrow, alias = "reference")]
        kept_at: Option<Origin<'a>>,
    }
    #[derive(serde::Deserialize)]
    struct Spans<'a> {
        #[serde(borrow)]
        id: Cow<'a, str>,
        #[serde(borrow)]
        ranges: Vec<JsonRange<'a>>,
        dropped: bool,
    }
    lines(path, |line| {
        let spans: Spans<'_> = serde_json::from_slice(line)?;
        let ranges = spans.ranges.into_iter().map(|range| {
            let kept = range.kept_at.map(|at| {
                let bytes = [at.text_start, at.text_end];
                Ok((files.document(&at.id, &at.file)?, bytes))
            });
            Ok(RowRange {
                bytes: [range.start, range.end],
                count: range.count,
                why: range.why,
                words: range.words,
                kept: kept.transpose()?,
            })
        });
        let ranges = ranges.collect::<serde_json::Result<_>>()?;
        take(row_number(&spans.id)?, spans.dropped, ranges);
        Ok(())
    })
}

/// A reference item, and the document that has most of it.
pub struct RowItem {
    pub item: Kept,
    pub words: u64,
    pub ngrams: u64,
    pub found: u64,
    pub share: f64,
    pub ignored: u64,
    pub too_short: bool,
    pub documents: u64,
    /// The document, the number of n-grams in it, and the bytes of the stretch with the most.
    pub best: Option<(Kept, u64, [u64; 2])>,
}

/// Calls `take` with each reference item of a list about rows.
///
/// # Errors
/// Errors of [`pairs`](crate::reports::pairs).
pub fn row_items(path: &Path, files: &RowFiles<'_>, mut take: impl FnMut(RowItem)) -> Result<()> {
    #[derive(serde::Deserialize)]
    struct Best<'a> {
        #[serde(borrow)]
        id: Cow<'a, str>,
        #[serde(borrow)]
        file: Cow<'a, str>,
        found: u64,
        text_start: u64,
        text_end: u64,
    }
    #[derive(serde::Deserialize)]
    struct ItemLine<'a> {
        #[serde(borrow)]
        id: Cow<'a, str>,
        #[serde(borrow)]
        file: Cow<'a, str>,
        words: u64,
        ngrams: u64,
        found: u64,
        share: f64,
        ignored: u64,
        too_short: bool,
        documents: u64,
        #[serde(borrow)]
        best: Option<Best<'a>>,
    }
    lines(path, |line| {
        let item: ItemLine<'_> = serde_json::from_slice(line)?;
        let best = item.best.map(|best| {
            let bytes = [best.text_start, best.text_end];
            Ok((files.document(&best.id, &best.file)?, best.found, bytes))
        });
        take(RowItem {
            item: files.document(&item.id, &item.file)?,
            words: item.words,
            ngrams: item.ngrams,
            found: item.found,
            share: item.share,
            ignored: item.ignored,
            too_short: item.too_short,
            documents: item.documents,
            best: best.transpose()?,
        });
        Ok(())
    })
}

/// Calls `take` with the number and the text of each row in the file `path`, in order.
///
/// # Errors
/// Errors of [`pairs`](crate::reports::pairs).
pub fn row_texts(path: &Path, mut take: impl FnMut(u64, Option<&[u8]>)) -> Result<()> {
    /// A string whose bytes need not be UTF-8.
    struct Bytes(Vec<u8>);

    impl<'de> serde::Deserialize<'de> for Bytes {
        fn deserialize<D: serde::Deserializer<'de>>(
            from: D,
        ) -> std::result::Result<Bytes, D::Error> {
            struct Visitor;
            impl serde::de::Visitor<'_> for Visitor {
                type Value = Bytes;

                fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    out.write_str("a string")
                }

                fn visit_bytes<E>(self, bytes: &[u8]) -> std::result::Result<Bytes, E> {
                    Ok(Bytes(bytes.to_vec()))
                }
            }
            from.deserialize_bytes(Visitor)
        }
    }
    #[derive(serde::Deserialize)]
    struct Row {
        #[serde(rename = "#id")]
        id: u64,
        #[serde(rename = "#text")]
        text: Option<Bytes>,
    }
    lines(path, |line| {
        let row: Row = serde_json::from_slice(line)?;
        take(row.id, row.text.as_ref().map(|text| text.0.as_slice()));
        Ok(())
    })
}
