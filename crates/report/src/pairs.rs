//! The list of pairs: one table for every format.
//!
//! `duplicates.jsonl`, `.csv` and `.parquet` have the columns of [`COLUMNS`], with these names, in
//! this order. No name needs quotes in PostgreSQL or DuckDB.

use std::borrow::Cow;

use super::columns::{Column, ColumnValue, Kind, column};
use super::location::{At, base64_if_needed};

/// A removed document (or a proposed one that stays), and the one that stays.
#[derive(Clone, Copy, Debug)]
pub struct Pair<'a> {
    /// The document's id.
    pub id: &'a [u8],
    /// Its URL, or nothing.
    pub url: &'a [u8],
    /// Its location.
    pub at: At<'a>,
    /// The document that stays; `None` if no copy stays.
    pub kept: Option<Kept<'a>>,
    /// The cluster: the number of its leading document.
    pub cluster: u64,
    /// The counts of the cluster; `None` for a pair that is in no cluster.
    pub counts: Option<ClusterCounts>,
    /// The method that found the pair.
    pub method: &'a str,
    /// The score of the method; `None` if the document was not compared.
    pub nearness: Option<Nearness>,
    /// The result of the comparison of the texts; `None` if they were not compared.
    pub verified: Option<Verified>,
    /// The id of the newest document with the same URL, if the pair was found by URL and that
    /// document does not stay either.
    pub newest: Option<&'a [u8]>,
}

/// The counts of a cluster, including its kept document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClusterCounts {
    /// Documents.
    pub size: u32,
    /// Different sources (input files, or directories of files that are one document each) that
    /// they come from.
    pub sources: u32,
    /// Different hosts of their URLs.
    pub sites: u32,
}

/// The document that stays.
#[derive(Clone, Copy, Debug)]
pub struct Kept<'a> {
    /// Its id.
    pub id: &'a [u8],
    /// Its URL, or nothing.
    pub url: &'a [u8],
    /// Its location; `None` if it is only known to an index.
    pub at: Option<At<'a>>,
}

/// The score of a pair, by the method that found it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nearness {
    /// The number of differing bits.
    Distance(u32),
    /// An estimate of the similarity: part and whole.
    Estimate([u32; 2]),
}

/// The result of the comparison of two texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verified {
    /// Both have the same words in the same order.
    Equal,
    /// The numbers of shared and of all shingles.
    Shingles([u32; 2]),
    /// An estimate of the similarity from signatures: part and whole.
    Estimate([u32; 2]),
}

/// The number of columns.
pub const WIDTH: usize = 26;

/// Columns whose texts may have any length.
pub const LONG: [&str; 6] = ["id", "id_base64", "url", "kept", "kept_base64", "kept_url"];

/// The columns of the table, in order.
pub const COLUMNS: [Column; WIDTH] = [
    column("id", Kind::Text, false),
    column("id_base64", Kind::Text, true),
    column("url", Kind::Text, true),
    column("file", Kind::Text, false),
    column("start", Kind::Whole, false),
    column("length", Kind::Whole, false),
    column("member", Kind::Whole, true),
    column("kept", Kind::Text, true),
    column("kept_base64", Kind::Text, true),
    column("kept_url", Kind::Text, true),
    column("kept_file", Kind::Text, true),
    column("kept_start", Kind::Whole, true),
    column("kept_length", Kind::Whole, true),
    column("kept_member", Kind::Whole, true),
    column("cluster", Kind::Whole, false),
    column("cluster_size", Kind::Whole, true),
    column("cluster_sources", Kind::Whole, true),
    column("cluster_sites", Kind::Whole, true),
    column("method", Kind::Text, false),
    column("distance", Kind::Whole, true),
    column("estimate", Kind::Decimal, true),
    column("similarity", Kind::Decimal, true),
    column("shared", Kind::Whole, true),
    column("shingles", Kind::Whole, true),
    column("newest", Kind::Text, true),
    column("newest_base64", Kind::Text, true),
];

impl<'a> Pair<'a> {
    /// The row of the pair: a cell for each of [`COLUMNS`], of its type.
    pub fn cells(&self) -> [ColumnValue<'a>; WIDTH] {
        let text = |text: &'a str| ColumnValue::Text(Some(text.into()));
        let id = |id: &'a [u8]| ColumnValue::Text(Some(String::from_utf8_lossy(id)));
        let bytes = |id| ColumnValue::Text(base64_if_needed(id).map(Cow::from));
        let whole = |number: u32| ColumnValue::Whole(Some(number.into()));
        let none = || ColumnValue::Text(None);
        let count = |count: fn(&ClusterCounts) -> u32| {
            ColumnValue::Whole(self.counts.as_ref().map(count).map(u64::from))
        };

        let kept = self.kept;
        let at = kept.and_then(|kept| kept.at);
        let (distance, estimate) = match self.nearness {
            Some(Nearness::Distance(bits)) => (whole(bits), None),
            Some(Nearness::Estimate(share)) => (ColumnValue::Whole(None), decimal(share)),
            None => (ColumnValue::Whole(None), None),
        };
        let (similarity, shingles) = match self.verified {
            Some(Verified::Equal) => (Some(1.0), None),
            Some(Verified::Shingles(share)) => (decimal(share), Some(share)),
            Some(Verified::Estimate(share)) => (decimal(share), None),
            None => (None, None),
        };
        let [shared, all] = [0, 1].map(|part| match shingles {
            Some(share) => whole(share[part]),
            None => ColumnValue::Whole(None),
        });
        [
            id(self.id),
            bytes(self.id),
            url(self.url),
            text(self.at.file),
            ColumnValue::Whole(Some(self.at.start)),
            ColumnValue::Whole(Some(self.at.length)),
            ColumnValue::Whole(self.at.member),
            kept.map_or_else(none, |kept| id(kept.id)),
            kept.map_or_else(none, |kept| bytes(kept.id)),
            kept.map_or_else(none, |kept| url(kept.url)),
            at.map_or_else(none, |at| text(at.file)),
            ColumnValue::Whole(at.map(|at| at.start)),
            ColumnValue::Whole(at.map(|at| at.length)),
            ColumnValue::Whole(at.and_then(|at| at.member)),
            ColumnValue::Whole(Some(self.cluster)),
            count(|counts| counts.size),
            count(|counts| counts.sources),
            count(|counts| counts.sites),
            text(self.method),
            distance,
            ColumnValue::Decimal(estimate),
            ColumnValue::Decimal(similarity),
            shared,
            all,
            self.newest.map_or_else(none, id),
            self.newest.map_or_else(none, bytes),
        ]
    }
}

fn url(url: &[u8]) -> ColumnValue<'_> {
    let shown = (!url.is_empty()).then(|| String::from_utf8_lossy(url));
    ColumnValue::Text(shown)
}

/// A fraction as a number; `None` if the denominator is 0.
fn decimal([part, whole]: [u32; 2]) -> Option<f64> {
    (whole > 0).then(|| f64::from(part) / f64::from(whole))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use simtool_corpus::{NO_MEMBER, Place};

    /// The counts of a cluster.
    pub const COUNTS: ClusterCounts = ClusterCounts {
        size: 3,
        sources: 2,
        sites: 1,
    };

    /// Pairs of every kind: near, equal, known to an index, without a copy that stays, of one URL.
    pub fn examples() -> Vec<Pair<'static>> {
        let near = Pair {
            id: b"=cmd(\"x\")",
            url: b"http://a.example/\xff",
            at: At::new("in.jsonl", Place::new(0, NO_MEMBER, 5, 6)),
            kept: Some(Kept {
                id: b"a,b\n\xff",
                url: b"http://b.example/",
                at: Some(At::new("in.gz", Place::new(1, 70, 8, 9))),
            }),
            cluster: 7,
            counts: Some(COUNTS),
            method: "simhash",
            nearness: Some(Nearness::Distance(2)),
            verified: Some(Verified::Shingles([9, 10])),
            newest: None,
        };
        let equal = Pair {
            id: b"x",
            url: b"",
            nearness: Some(Nearness::Estimate([1, 1])),
            verified: Some(Verified::Equal),
            method: "exact",
            ..near
        };
        let known = Pair {
            id: b"y",
            kept: Some(Kept {
                id: b"z",
                url: b"",
                at: None,
            }),
            method: "minhash",
            nearness: Some(Nearness::Estimate([17, 20])),
            verified: None,
            ..equal
        };
        let alone = Pair {
            id: b"w",
            kept: None,
            nearness: None,
            verified: None,
            ..equal
        };
        let older = Pair {
            id: b"u",
            method: "url",
            nearness: None,
            verified: None,
            newest: Some(b"v\xff"),
            ..near
        };
        vec![near, equal, known, alone, older]
    }

    #[test]
    fn cells_are_of_their_columns() {
        for pair in examples() {
            for (cell, column) in pair.cells().iter().zip(COLUMNS) {
                let (kind, lacks) = match cell {
                    ColumnValue::Text(text) => (Kind::Text, text.is_none()),
                    ColumnValue::Whole(number) => (Kind::Whole, number.is_none()),
                    ColumnValue::Decimal(number) => (Kind::Decimal, number.is_none()),
                    ColumnValue::Flag(flag) => (Kind::Flag, flag.is_none()),
                };
                assert_eq!(kind, column.kind, "{}", column.name);
                assert!(!lacks || column.may_lack, "{}", column.name);
            }
        }
    }

    #[test]
    fn no_column_needs_quotes_in_sql() {
        // Some of the reserved words of PostgreSQL and DuckDB.
        let reserved = [
            "all",
            "at",
            "group",
            "limit",
            "offset",
            "order",
            "select",
            "table",
            "union",
            "user",
            "where",
            "with",
            "end",
            "references",
        ];
        assert!(
            COLUMNS
                .iter()
                .all(|column| !reserved.contains(&column.name))
        );
    }
}
