//! The documents of an index as rows of a table.

use std::borrow::Cow;

use serde::Serialize;

use super::columns::Kind::{Decimal, Flag, Text, Whole};
use super::columns::{Column, ColumnValue, column};
use super::location::base64_if_needed;

/// A document of an index with what was decided about it, and the counts of its cluster: the kept
/// document and all its copies.
///
/// Texts that are not UTF-8 have replacement characters; the bytes of an id are in `id_base64` then.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct IndexRow<'a> {
    /// The id.
    pub id: Cow<'a, str>,
    /// The bytes of an id that is not UTF-8.
    pub id_base64: Option<String>,
    /// The label of the dump that it was added with.
    pub dump: &'a str,
    /// Whether it is no copy.
    pub kept: bool,
    /// Whether it is the best of its cluster by the keep order of the index: the kept one, unless the
    /// order is another than that of addition.
    pub best: bool,
    /// The id of the document of which it is a copy; nothing if that was removed.
    pub of: Option<Cow<'a, str>>,
    /// What found it to be a copy: `exact`, `normalized` or the method.
    pub method: Option<&'a str>,
    /// The similarity of the two.
    pub similarity: Option<f64>,
    /// The number of shingles that both have, if it is exact.
    pub shared: Option<u64>,
    /// The number of shingles that one of them has, if it is exact.
    pub shingles: Option<u64>,
    /// The number of the cluster: that of the kept document among all that were added.
    pub cluster: u64,
    /// The counts of the cluster.
    #[serde(flatten)]
    pub counts: SeenCounts<'a>,
    /// What was stored with the document; nothing if it is empty.
    pub payload: Option<Cow<'a, str>>,
}

/// How often the text of a cluster was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SeenCounts<'a> {
    /// Documents, the kept one included.
    pub size: u64,
    /// Different sources.
    pub sources: u64,
    /// Different hosts of URLs.
    pub sites: u64,
    /// The label of the dump of the first document.
    pub first_dump: &'a str,
    /// The label of the dump of the last one.
    pub last_dump: &'a str,
    /// Different dumps.
    pub dumps: u64,
}

/// Columns whose texts may have any length.
pub const LONG: [&str; 4] = ["id", "id_base64", "of", "payload"];

/// The columns, in the order of [`IndexRow::cells`].
pub const COLUMNS: [Column; 18] = [
    column("id", Text, false),
    column("id_base64", Text, true),
    column("dump", Text, false),
    column("kept", Flag, false),
    column("best", Flag, false),
    column("of", Text, true),
    column("method", Text, true),
    column("similarity", Decimal, true),
    column("shared", Whole, true),
    column("shingles", Whole, true),
    column("cluster", Whole, false),
    column("size", Whole, false),
    column("sources", Whole, false),
    column("sites", Whole, false),
    column("first_dump", Text, false),
    column("last_dump", Text, false),
    column("dumps", Whole, false),
    column("payload", Text, true),
];

impl<'a> IndexRow<'a> {
    /// The values of the [`COLUMNS`].
    pub fn cells(&self) -> [ColumnValue<'_>; 18] {
        use ColumnValue as Value;
        let text = |text: &'a str| Value::Text(Some(Cow::Borrowed(text)));
        let whole = |number: u64| Value::Whole(Some(number));
        let shown = |text: &'_ Option<Cow<'a, str>>| Value::Text(text.clone());
        let counts = &self.counts;
        [
            Value::Text(Some(self.id.clone())),
            Value::Text(self.id_base64.as_deref().map(Cow::Borrowed)),
            text(self.dump),
            Value::Flag(Some(self.kept)),
            Value::Flag(Some(self.best)),
            shown(&self.of),
            Value::Text(self.method.map(Cow::Borrowed)),
            Value::Decimal(self.similarity),
            Value::Whole(self.shared),
            Value::Whole(self.shingles),
            whole(self.cluster),
            whole(counts.size),
            whole(counts.sources),
            whole(counts.sites),
            text(counts.first_dump),
            text(counts.last_dump),
            whole(counts.dumps),
            shown(&self.payload),
        ]
    }

    /// Appends the row as a line of JSON.
    pub fn write(&self, out: &mut Vec<u8>) {
        // Writing to memory cannot fail.
        let _ = serde_json::to_writer(&mut *out, self);
        out.push(b'\n');
    }

    /// The id as text, and its bytes if it is none.
    pub fn named(id: &'a [u8]) -> (Cow<'a, str>, Option<String>) {
        (String::from_utf8_lossy(id), base64_if_needed(id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_the_columns_of_tables() {
        let row = IndexRow {
            id: "a".into(),
            id_base64: None,
            dump: "1",
            kept: false,
            best: false,
            of: Some("b".into()),
            method: Some("minhash"),
            similarity: Some(0.9),
            shared: Some(9),
            shingles: Some(10),
            cluster: 3,
            counts: SeenCounts {
                size: 2,
                sources: 1,
                sites: 0,
                first_dump: "0",
                last_dump: "1",
                dumps: 2,
            },
            payload: None,
        };
        let mut line = Vec::new();
        row.write(&mut line);
        let object: serde_json::Map<String, serde_json::Value> =
            serde_json::from_slice(&line).unwrap();
        let mut names = COLUMNS.map(|column| column.name);
        names.sort_unstable();
        let mut keys: Vec<&str> = object.keys().map(String::as_str).collect();
        keys.sort_unstable();
        assert_eq!(keys, names);
        assert_eq!(row.cells().len(), COLUMNS.len());
    }
}
