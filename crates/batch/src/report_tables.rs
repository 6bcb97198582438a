//! The reports of `dedup`, `lines`, `spans` and `decontaminate` as tables.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use crate::passages::SPANS;
use crate::passages::{Names, PassageSearch, decontaminate, lines, spans};
use crate::skeleton::skipped::SKIPPED;
use crate::{Error, ErrorKind, Result};
use simtool_report::columns::Kind::{self, Decimal, Flag, Text, Whole};
use simtool_report::pairs::COLUMNS;
use simtool_report::report_batches::RowObject::{Field, Line, Row};
use simtool_report::report_batches::{ReportBatches, ReportTable, TablePart};

/// The id and the location of a document.
const DOCUMENT: [(&str, Kind); 5] = [
    ("id", Text),
    ("file", Text),
    ("start", Whole),
    ("length", Whole),
    ("member", Whole),
];
const CHANGE: [(&str, Kind); 3] = [
    ("text_bytes", Whole),
    ("repeated_bytes", Whole),
    ("dropped", Flag),
];
const SKIP: [(&str, Kind); 2] = [("reason", Text), ("detail", Text)];
const CLUSTER: [(&str, Kind); 4] = [
    ("cluster", Whole),
    ("size", Whole),
    ("sources", Whole),
    ("sites", Whole),
];
const MEMBER: [(&str, Kind); 7] = [
    ("kept", Flag),
    ("id", Text),
    ("url", Text),
    ("file", Text),
    ("start", Whole),
    ("length", Whole),
    ("member", Whole),
];
const LISTED: [(&str, Kind); 8] = [
    ("text", Text),
    ("shortened", Flag),
    ("count", Whole),
    ("removed", Whole),
    ("documents", Whole),
    ("sites", Whole),
    ("bytes", Whole),
    ("share", Decimal),
];
const ITEM: [(&str, Kind); 10] = [
    ("id", Text),
    ("file", Text),
    ("words", Whole),
    ("ngrams", Whole),
    ("found", Whole),
    ("share", Decimal),
    ("ignored", Whole),
    ("documents", Whole),
    ("too_short", Flag),
    ("edited", Flag),
];
const BEST: [(&str, Kind); 6] = [
    ("id", Text),
    ("file", Text),
    ("found", Whole),
    ("share", Decimal),
    ("text_start", Whole),
    ("text_end", Whole),
];

/// The rows of a report of `command` in the output directory `out`: of `dedup`, `duplicates`,
/// `refused`, `clusters` (a row for each member) or `skipped`; of the others, `documents` (those
/// with ranges), `ranges`, `list` (the frequent passages or the reference items) or `skipped`.
///
/// # Errors
/// [`ErrorKind::Parameter`] for a report that does not exist; [`ErrorKind::Read`].
pub fn report_batches(
    out: &Path,
    command: &str,
    name: &str,
) -> Result<ReportBatches<BufReader<File>>> {
    let (file, table) = match (command, name) {
        (_, "skipped") => (SKIPPED, of_lines([&DOCUMENT[..], &SKIP].concat())),
        ("dedup", "duplicates") => ("duplicates.jsonl", pairs()),
        ("dedup", "refused") => ("refused.jsonl", pairs()),
        ("dedup", "clusters") => ("clusters.jsonl", clusters()),
        ("lines", _) => passages(&lines::LinesJob::NAMES, name, ["copies", "kept"])?,
        ("spans", _) => passages(&spans::SpansJob::NAMES, name, ["copies", "kept"])?,
        ("decontaminate", "list") => (decontaminate::DecontaminateJob::NAMES.list, items()),
        ("decontaminate", _) => passages(
            &decontaminate::DecontaminateJob::NAMES,
            name,
            ["ngrams", "item"],
        )?,
        _ => return Err(unknown(name)),
    };
    ReportBatches::open(&out.join(file), table)
}

fn unknown(name: &str) -> Error {
    Error::new(ErrorKind::Parameter, format!("there is no report {name:?}"))
}

/// The file and the columns of a report of passages. The column of the number of a range is called
/// `count`, and that of the document that a range repeats `origin`.
fn passages(
    names: &Names,
    name: &str,
    [count, origin]: [&str; 2],
) -> Result<(&'static str, ReportTable)> {
    match name {
        "documents" => Ok((SPANS, of_lines([&DOCUMENT[..], &CHANGE].concat()))),
        "ranges" => Ok((SPANS, ranges(names, count, origin))),
        "list" => Ok((names.list, listed())),
        _ => Err(unknown(name)),
    }
}

/// A table whose rows are lines.
fn of_lines(columns: Vec<(&'static str, Kind)>) -> ReportTable {
    ReportTable {
        list: None,
        parts: vec![TablePart::new(Row, &columns)],
    }
}

fn pairs() -> ReportTable {
    of_lines(COLUMNS.map(|column| (column.name, column.kind)).into())
}

fn clusters() -> ReportTable {
    ReportTable {
        list: Some("members"),
        parts: vec![TablePart::new(Line, &CLUSTER), TablePart::new(Row, &MEMBER)],
    }
}

fn ranges(names: &Names, count: &str, origin: &str) -> ReportTable {
    let range = [
        ("start", Whole),
        ("end", Whole),
        (names.count, Whole),
        ("why", Text),
        ("words", Whole),
    ];
    let place = [&DOCUMENT[..], &[("text_start", Whole), ("text_end", Whole)]].concat();
    let of_range = TablePart::new(Row, &range).named(|field| match field {
        "start" | "end" => format!("text_{field}"),
        field if field == names.count => count.to_owned(),
        field => field.to_owned(),
    });
    ReportTable {
        list: Some("ranges"),
        parts: vec![
            TablePart::new(Line, &DOCUMENT),
            of_range,
            TablePart::new(Field(names.origin), &place).named(|field| named(origin, field)),
        ],
    }
}

fn listed() -> ReportTable {
    ReportTable {
        list: None,
        parts: vec![
            TablePart::new(Row, &LISTED),
            TablePart::new(Field("first"), &DOCUMENT[..2]),
        ],
    }
}

fn items() -> ReportTable {
    ReportTable {
        list: None,
        parts: vec![
            TablePart::new(Row, &ITEM),
            TablePart::new(Field("best"), &BEST).named(|field| named("best", field)),
        ],
    }
}

/// The name of a column about another document, which the column of its id is called after.
fn named(document: &str, field: &str) -> String {
    match field {
        "id" => document.to_owned(),
        field => format!("{document}_{field}"),
    }
}
