//! JSON Lines of a deduplication and of a search: one object per line, UTF-8.
//!
//! An id that is not UTF-8 has replacement characters, and its bytes are in `id_base64` (or
//! `kept_base64`).

use std::borrow::Cow;
use std::io::{self, Write};

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::columns::ColumnValue;
pub use super::location::{At, base64_if_needed};
use super::pairs::{COLUMNS, ClusterCounts, Pair};
use simtool_core::sketch::Score;

/// A document that was not read.
#[derive(Clone, Copy, Debug)]
pub struct Skipped<'a> {
    /// Its id, or its place.
    pub id: &'a [u8],
    /// Its location.
    pub at: At<'a>,
    /// The name of the reason.
    pub reason: &'a [u8],
    /// The error.
    pub detail: &'a [u8],
}

#[derive(Serialize)]
struct SkippedLine<'a> {
    id: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id_base64: Option<String>,
    #[serde(flatten)]
    at: At<'a>,
    reason: Cow<'a, str>,
    detail: Cow<'a, str>,
}

/// A row of the list of pairs, as an object.
struct Row<'a>(&'a Pair<'a>);

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(COLUMNS.len()))?;
        for (column, cell) in COLUMNS.iter().zip(self.0.cells()) {
            match cell {
                ColumnValue::Text(text) => map.serialize_entry(column.name, &text)?,
                ColumnValue::Whole(number) => map.serialize_entry(column.name, &number)?,
                ColumnValue::Decimal(number) => map.serialize_entry(column.name, &number)?,
                ColumnValue::Flag(flag) => map.serialize_entry(column.name, &flag)?,
            }
        }
        map.end()
    }
}

/// Writes the line of a pair.
///
/// # Errors
/// Errors of `out`.
pub fn pair(pair: &Pair<'_>, out: &mut dyn Write) -> io::Result<()> {
    line(&Row(pair), out)
}

/// Writes the line of a document that was not read.
///
/// # Errors
/// Errors of `out`.
pub fn skipped(skipped: &Skipped<'_>, out: &mut dyn Write) -> io::Result<()> {
    line(
        &SkippedLine {
            id: String::from_utf8_lossy(skipped.id),
            id_base64: base64_if_needed(skipped.id),
            at: skipped.at,
            reason: String::from_utf8_lossy(skipped.reason),
            detail: String::from_utf8_lossy(skipped.detail),
        },
        out,
    )
}

/// A member of a cluster.
#[derive(Clone, Copy, Debug)]
pub struct Member<'a> {
    /// Its id, or its place.
    pub id: &'a [u8],
    /// Its URL; empty if unknown.
    pub url: &'a [u8],
    /// Its location; `None` if it is only known to an index.
    pub at: Option<At<'a>>,
    /// Whether it stays.
    pub stays: bool,
}

/// Writes the line of a cluster up to `[` before its members. `kept` is the id of the document that
/// stays, if any.
///
/// # Errors
/// Errors of `out`.
pub fn begin_cluster(
    cluster: u64,
    kept: Option<&[u8]>,
    counts: ClusterCounts,
    out: &mut dyn Write,
) -> io::Result<()> {
    write!(out, "{{\"cluster\":{cluster},\"kept\":")?;
    serde_json::to_writer(&mut *out, &kept.map(String::from_utf8_lossy))?;
    out.write_all(b",\"kept_base64\":")?;
    serde_json::to_writer(&mut *out, &kept.and_then(base64_if_needed))?;
    let ClusterCounts {
        size,
        sources,
        sites,
    } = counts;
    write!(
        out,
        ",\"size\":{size},\"sources\":{sources},\"sites\":{sites},\"members\":["
    )
}

/// Writes a member of the current cluster.
///
/// # Errors
/// Errors of `out`.
pub fn member(member: &Member<'_>, is_first: bool, out: &mut dyn Write) -> io::Result<()> {
    #[derive(Serialize)]
    struct MemberObject<'a> {
        id: Cow<'a, str>,
        id_base64: Option<String>,
        url: Option<Cow<'a, str>>,
        file: Option<&'a str>,
        start: Option<u64>,
        length: Option<u64>,
        member: Option<u64>,
        kept: bool,
    }
    if !is_first {
        out.write_all(b",")?;
    }
    let Member { id, url, at, stays } = *member;
    let object = MemberObject {
        id: String::from_utf8_lossy(id),
        id_base64: base64_if_needed(id),
        url: (!url.is_empty()).then(|| String::from_utf8_lossy(url)),
        file: at.map(|at| at.file),
        start: at.map(|at| at.start),
        length: at.map(|at| at.length),
        member: at.and_then(|at| at.member),
        kept: stays,
    };
    serde_json::to_writer(out, &object).map_err(io::Error::from)
}

/// Ends the line of the current cluster.
///
/// # Errors
/// Errors of `out`.
pub fn end_cluster(out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"]}\n")
}

/// A neighbour of a document.
#[derive(Clone, Copy, Debug)]
pub struct Neighbour<'a> {
    /// Its id, or its place.
    pub id: &'a [u8],
    /// Its score.
    pub score: Score,
    /// Its location.
    pub at: At<'a>,
}

/// Appends the line of a document and its neighbours.
pub fn neighbours<'a>(
    id: &[u8],
    at: At<'_>,
    near: impl Iterator<Item = Neighbour<'a>>,
    out: &mut Vec<u8>,
) {
    #[derive(Serialize)]
    struct MatchedDocument<'a> {
        id: Cow<'a, str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        id_base64: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        distance: Option<u32>,
        #[serde(skip_serializing_if = "Option::is_none")]
        similarity: Option<[u64; 2]>,
        #[serde(flatten)]
        at: At<'a>,
    }
    #[derive(Serialize)]
    struct MatchesLine<'a> {
        id: Cow<'a, str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        id_base64: Option<String>,
        #[serde(flatten)]
        at: At<'a>,
        matches: Vec<MatchedDocument<'a>>,
    }
    let found = |near: Neighbour<'a>| {
        let (distance, similarity) = match near.score {
            Score::Distance(bits) => (Some(bits), None),
            Score::Fraction(part, whole) => (None, Some([part, whole])),
        };
        MatchedDocument {
            id: String::from_utf8_lossy(near.id),
            id_base64: base64_if_needed(near.id),
            distance,
            similarity,
            at: near.at,
        }
    };
    // Writing to memory cannot fail.
    let _ = line(
        &MatchesLine {
            id: String::from_utf8_lossy(id),
            id_base64: base64_if_needed(id),
            at,
            matches: near.map(found).collect(),
        },
        out,
    );
}

/// Writes the line of a document that stays.
///
/// # Errors
/// Errors of `out`.
pub fn id(id: &[u8], at: At<'_>, out: &mut dyn Write) -> io::Result<()> {
    #[derive(Serialize)]
    struct IdLine<'a> {
        id: Cow<'a, str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        id_base64: Option<String>,
        #[serde(flatten)]
        at: At<'a>,
    }
    line(
        &IdLine {
            id: String::from_utf8_lossy(id),
            id_base64: base64_if_needed(id),
            at,
        },
        out,
    )
}

fn line(value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    out.write_all(b"\n")
}

#[cfg(test)]
mod tests {
    use super::super::pairs::tests::{COUNTS, examples};
    use super::*;
    use serde_json::{Value, json};
    use simtool_corpus::{NO_MEMBER, Place};

    fn parsed(line: &[u8]) -> Value {
        assert_eq!(line.last(), Some(&b'\n'));
        assert_eq!(line.iter().filter(|&&byte| byte == b'\n').count(), 1);
        serde_json::from_slice(line).unwrap()
    }

    #[test]
    fn pairs_have_the_columns_that_others_rely_on() {
        let lines = examples().into_iter().map(|example| {
            let mut line = Vec::new();
            pair(&example, &mut line).unwrap();
            let text = std::str::from_utf8(&line).unwrap();
            // In the order of the table.
            let places = COLUMNS.map(|column| text.find(&format!("\"{}\":", column.name)).unwrap());
            assert!(places.is_sorted(), "{text}");
            parsed(&line)
        });
        let lines: Vec<Value> = lines.collect();
        let near = json!({
            "id": "=cmd(\"x\")", "id_base64": null, "url": "http://a.example/\u{fffd}",
            "file": "in.jsonl", "start": 5, "length": 6, "member": null,
            "kept": "a,b\n\u{fffd}", "kept_base64": "YSxiCv8=", "kept_url": "http://b.example/",
            "kept_file": "in.gz", "kept_start": 8, "kept_length": 9, "kept_member": 70,
            "cluster": 7, "cluster_size": 3, "cluster_sources": 2, "cluster_sites": 1, "method": "simhash", "distance": 2, "estimate": null,
            "similarity": 0.9, "shared": 9, "shingles": 10, "newest": null, "newest_base64": null,
        });
        assert_eq!(lines[0], near);
        let of = |line: &Value| {
            ["distance", "estimate", "similarity", "shared", "shingles"]
                .map(|name| line[name].clone())
        };
        let null = Value::Null;
        assert_eq!(
            of(&lines[1]),
            [
                null.clone(),
                1.0.into(),
                1.0.into(),
                null.clone(),
                null.clone()
            ]
        );
        assert_eq!(of(&lines[2])[1], 0.85);
        assert_eq!(
            (&lines[2]["kept"], &lines[2]["kept_file"]),
            (&json!("z"), &null)
        );
        assert_eq!(of(&lines[3]), [(); 5].map(|()| null.clone()));
        assert_eq!((&lines[3]["kept"], &lines[3]["kept_file"]), (&null, &null));
        assert_eq!(of(&lines[4]), [(); 5].map(|()| null.clone()));
        assert_eq!(lines[4]["newest_base64"], "dv8=");
    }

    #[test]
    fn clusters_and_ids_are_whole_lines() {
        let at = At::new("f", Place::new(0, NO_MEMBER, 1, 2));
        let mut line = Vec::new();
        begin_cluster(7, Some(b"k"), COUNTS, &mut line).unwrap();
        let known = Member {
            id: b"k",
            url: b"",
            at: None,
            stays: true,
        };
        let other = Member {
            id: b"\xff",
            url: b"http://a.example/",
            at: Some(at),
            stays: false,
        };
        for (number, of_cluster) in [known, other].into_iter().enumerate() {
            member(&of_cluster, number == 0, &mut line).unwrap();
        }
        end_cluster(&mut line).unwrap();
        let expected = json!({"cluster": 7, "kept": "k", "kept_base64": null, "size": 3,
            "sources": 2, "sites": 1, "members": [
            {"id": "k", "id_base64": null, "url": null, "file": null, "start": null,
             "length": null, "member": null, "kept": true},
            {"id": "\u{fffd}", "id_base64": "/w==", "url": "http://a.example/", "file": "f",
             "start": 1, "length": 2, "member": null, "kept": false},
        ]});
        assert_eq!(parsed(&line), expected);

        line.clear();
        begin_cluster(7, Some(b"\xff"), COUNTS, &mut line).unwrap();
        end_cluster(&mut line).unwrap();
        let begun = parsed(&line);
        assert_eq!(begun["kept_base64"], json!("/w=="));

        line.clear();
        id(b"x", at, &mut line).unwrap();
        let expected = json!({"id": "x", "file": "f", "start": 1, "length": 2, "member": null});
        assert_eq!(parsed(&line), expected);
        line.clear();
        let lost = Skipped {
            id: b"f:1",
            at,
            reason: b"damaged",
            detail: b"\x1b odd",
        };
        skipped(&lost, &mut line).unwrap();
        assert_eq!(parsed(&line)["reason"], json!("damaged"));
    }
}
