//! The JSON Lines of a deduplication and of a search: one object a line, UTF-8.
//!
//! An id that is not UTF-8 is shown with replacement characters, and beside it stands `id_base64`
//! (or `kept_base64`) with its bytes.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;

use crate::corpus::{NO_MEMBER, Place};
use crate::sketch::Score;

/// Where a document stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct At<'a> {
    /// The file, as it was named.
    pub file: &'a str,
    /// Offset in the file, or in what the member decompresses to.
    pub offset: u64,
    /// Bytes, decompressed.
    pub length: u64,
    /// Offset of the compressed member in the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub member: Option<u64>,
}

/// How near two documents are, by the method that found them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Nearness {
    /// Bits that differ.
    #[serde(rename = "distance")]
    Distance(u32),
    /// A fraction.
    #[serde(rename = "similarity")]
    Similarity([u32; 2]),
}

/// A document that goes (or that was proposed and stays), and the one that stays.
#[derive(Clone, Copy, Debug)]
pub struct Pair<'a> {
    /// The document's id.
    pub id: &'a [u8],
    /// Its URL, or nothing.
    pub url: &'a [u8],
    /// The id of the one that stays, unless none does.
    pub kept: Option<&'a [u8]>,
    /// The cluster: the number of the document that stays.
    pub cluster: u64,
    /// What found them.
    pub method: &'a str,
    /// How near they are.
    pub nearness: Nearness,
    /// Shared and all shingles; none if the texts were not compared.
    pub verified: Option<[u32; 2]>,
    /// Where the document stands.
    pub at: At<'a>,
    /// Where the one stands that stays; nowhere if it is only known to an index.
    pub kept_at: Option<At<'a>>,
}

/// A document that was not read.
#[derive(Clone, Copy, Debug)]
pub struct Skipped<'a> {
    /// Its id, or its place.
    pub id: &'a [u8],
    /// Where it stands.
    pub at: At<'a>,
    /// The reason's name.
    pub reason: &'a [u8],
    /// What was wrong.
    pub detail: &'a [u8],
}

impl<'a> At<'a> {
    /// A place in `file`.
    pub fn new(file: &'a str, place: Place) -> At<'a> {
        At {
            file,
            offset: place.offset,
            length: place.length,
            member: (place.member != NO_MEMBER).then_some(place.member),
        }
    }
}

#[derive(Serialize)]
struct PairLine<'a> {
    id: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id_base64: Option<String>,
    #[serde(skip_serializing_if = "str::is_empty")]
    url: &'a str,
    kept: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kept_base64: Option<String>,
    cluster: u64,
    method: &'a str,
    #[serde(flatten)]
    nearness: Nearness,
    verified: Option<[u32; 2]>,
    at: At<'a>,
    kept_at: Option<At<'a>>,
}

#[derive(Serialize)]
struct SkippedLine<'a> {
    id: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id_base64: Option<String>,
    at: At<'a>,
    reason: Cow<'a, str>,
    detail: Cow<'a, str>,
}

/// Appends the line of a pair.
pub fn pair(pair: &Pair<'_>, out: &mut Vec<u8>) {
    line(
        &PairLine {
            id: String::from_utf8_lossy(pair.id),
            id_base64: base64_if_needed(pair.id),
            url: std::str::from_utf8(pair.url).unwrap_or_default(),
            kept: pair.kept.map(String::from_utf8_lossy),
            kept_base64: pair.kept.and_then(base64_if_needed),
            cluster: pair.cluster,
            method: pair.method,
            nearness: pair.nearness,
            verified: pair.verified,
            at: pair.at,
            kept_at: pair.kept_at,
        },
        out,
    );
}

/// Appends the line of a document that was not read.
pub fn skipped(skipped: &Skipped<'_>, out: &mut Vec<u8>) {
    line(
        &SkippedLine {
            id: String::from_utf8_lossy(skipped.id),
            id_base64: base64_if_needed(skipped.id),
            at: skipped.at,
            reason: String::from_utf8_lossy(skipped.reason),
            detail: String::from_utf8_lossy(skipped.detail),
        },
        out,
    );
}

/// Appends a cluster's line up to its members: `[` is open.
pub fn begin_cluster(cluster: u64, kept: &[u8], size: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(format!("{{\"cluster\":{cluster},\"kept\":").as_bytes());
    string(kept, out);
    out.extend_from_slice(format!(",\"size\":{size},\"members\":[").as_bytes());
}

/// Appends a member of the cluster that was begun.
pub fn member(id: &[u8], is_first: bool, out: &mut Vec<u8>) {
    if !is_first {
        out.push(b',');
    }
    string(id, out);
}

/// Ends the line of the cluster that was begun.
pub fn end_cluster(out: &mut Vec<u8>) {
    out.extend_from_slice(b"]}\n");
}

/// A neighbour of a document.
#[derive(Clone, Copy, Debug)]
pub struct Near<'a> {
    /// Its id, or its place.
    pub id: &'a [u8],
    /// How near it is.
    pub score: Score,
    /// Where it stands.
    pub at: At<'a>,
}

/// Appends the line of a document and its neighbours.
pub fn neighbours<'a>(
    id: &[u8],
    at: At<'_>,
    near: impl Iterator<Item = Near<'a>>,
    out: &mut Vec<u8>,
) {
    #[derive(Serialize)]
    struct Match<'a> {
        id: Cow<'a, str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        id_base64: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        distance: Option<u32>,
        #[serde(skip_serializing_if = "Option::is_none")]
        similarity: Option<[u64; 2]>,
        at: At<'a>,
    }
    #[derive(Serialize)]
    struct Line<'a> {
        id: Cow<'a, str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        id_base64: Option<String>,
        at: At<'a>,
        matches: Vec<Match<'a>>,
    }
    let found = |near: Near<'a>| {
        let (distance, similarity) = match near.score {
            Score::Distance(bits) => (Some(bits), None),
            Score::Fraction(part, whole) => (None, Some([part, whole])),
        };
        Match {
            id: String::from_utf8_lossy(near.id),
            id_base64: base64_if_needed(near.id),
            distance,
            similarity,
            at: near.at,
        }
    };
    line(
        &Line {
            id: String::from_utf8_lossy(id),
            id_base64: base64_if_needed(id),
            at,
            matches: near.map(found).collect(),
        },
        out,
    );
}

/// Appends the line of a document that stays.
pub fn id(id: &[u8], at: At<'_>, out: &mut Vec<u8>) {
    #[derive(Serialize)]
    struct IdLine<'a> {
        id: Cow<'a, str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        id_base64: Option<String>,
        at: At<'a>,
    }
    line(
        &IdLine {
            id: String::from_utf8_lossy(id),
            id_base64: base64_if_needed(id),
            at,
        },
        out,
    );
}

fn string(text: &[u8], out: &mut Vec<u8>) {
    // Writing to memory cannot fail.
    let _ = serde_json::to_writer(out, &String::from_utf8_lossy(text));
}

fn line(value: &impl Serialize, out: &mut Vec<u8>) {
    let _ = serde_json::to_writer(&mut *out, value);
    out.push(b'\n');
}

fn base64_if_needed(id: &[u8]) -> Option<String> {
    std::str::from_utf8(id)
        .is_err()
        .then(|| STANDARD.encode(id))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn parsed(line: &[u8]) -> Value {
        assert_eq!(line.last(), Some(&b'\n'));
        assert_eq!(line.iter().filter(|&&byte| byte == b'\n').count(), 1);
        serde_json::from_slice(line).unwrap()
    }

    #[test]
    fn pairs_have_the_fields_that_others_rely_on() {
        let at = At::new("a.jsonl", Place::new(0, NO_MEMBER, 10, 20));
        let kept_at = At::new("b.gz", Place::new(1, 5, 0, 7));
        let mut line = Vec::new();
        let with = |nearness, id: &'static [u8]| Pair {
            id,
            url: b"",
            kept: Some(b"two\n\""),
            cluster: 4,
            method: "simhash",
            nearness,
            verified: Some([9, 10]),
            at,
            kept_at: Some(kept_at),
        };
        pair(&with(Nearness::Distance(3), b"one"), &mut line);
        let expected = json!({
            "id": "one", "kept": "two\n\"", "cluster": 4, "method": "simhash", "distance": 3,
            "verified": [9, 10], "at": {"file": "a.jsonl", "offset": 10, "length": 20},
            "kept_at": {"file": "b.gz", "offset": 0, "length": 7, "member": 5},
        });
        assert_eq!(parsed(&line), expected);
        line.clear();
        pair(&with(Nearness::Similarity([1, 2]), b"\xff"), &mut line);
        let value = parsed(&line);
        assert_eq!(value["similarity"], json!([1, 2]));
        assert_eq!(
            (&value["id"], &value["id_base64"]),
            (&json!("\u{fffd}"), &json!("/w=="))
        );
        line.clear();
        let known = Pair {
            verified: None,
            kept_at: None,
            ..with(Nearness::Distance(3), b"one")
        };
        pair(&known, &mut line);
        let value = parsed(&line);
        assert_eq!(
            (&value["verified"], &value["kept_at"]),
            (&json!(null), &json!(null))
        );
    }

    #[test]
    fn clusters_and_ids_are_whole_lines() {
        let mut line = Vec::new();
        begin_cluster(7, b"k", 3, &mut line);
        for (number, name) in [b"k", b"a", b"b"].into_iter().enumerate() {
            member(name, number == 0, &mut line);
        }
        end_cluster(&mut line);
        let expected = json!({"cluster": 7, "kept": "k", "size": 3, "members": ["k", "a", "b"]});
        assert_eq!(parsed(&line), expected);

        let at = At::new("f", Place::new(0, NO_MEMBER, 1, 2));
        line.clear();
        id(b"x", at, &mut line);
        assert_eq!(parsed(&line)["id"], json!("x"));
        line.clear();
        let lost = Skipped {
            id: b"f:1",
            at,
            reason: b"damaged",
            detail: b"\x1b odd",
        };
        skipped(&lost, &mut line);
        assert_eq!(parsed(&line)["reason"], json!("damaged"));
    }
}
