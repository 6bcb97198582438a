//! Marks of documents in clusters, in the formats that have a place for one.
//!
//! A record gets the mark of this run. Earlier marks of the same names are replaced, or removed if
//! the document is in no cluster. The names begin with `duplicate_`, because records may have fields
//! of their own called `cluster` or `similarity`.

use memchr::memmem;
use serde::de::{Deserializer as _, MapAccess, Visitor};
use serde_json::value::RawValue;

use simtool_corpus::Format;
use simtool_corpus::web::warc;
use simtool_report::pairs::ClusterCounts;

/// The keys of a mark in a JSON line.
const KEYS: [&str; 6] = [
    "duplicate_of",
    "duplicate_cluster",
    "duplicate_cluster_size",
    "duplicate_cluster_sources",
    "duplicate_cluster_sites",
    "duplicate_similarity",
];
/// The headers of a mark in a WARC record.
const HEADERS: [&str; 6] = [
    "WARC-Simtool-Duplicate-Of",
    "WARC-Simtool-Duplicate-Cluster",
    "WARC-Simtool-Duplicate-Cluster-Size",
    "WARC-Simtool-Duplicate-Cluster-Sources",
    "WARC-Simtool-Duplicate-Cluster-Sites",
    "WARC-Simtool-Duplicate-Similarity",
];

/// What a mark says of a document.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// The id of the kept document; `None` if the document itself is kept.
    pub duplicate_of: Option<Vec<u8>>,
    /// The number of the cluster.
    pub cluster: u32,
    /// The documents of the cluster, their sources and their sites.
    pub counts: ClusterCounts,
    /// The similarity to the kept document; `None` for itself, and for pairs that were not verified.
    pub similarity: Option<f64>,
}

/// Whether some records of a format may have a mark.
pub fn may_have_marks(format: Format, records: &[u8]) -> bool {
    let names = match format {
        Format::Warc => HEADERS,
        _ => KEYS,
    };
    // Every mark has one of these.
    let [of, cluster, ..] = names;
    [of, cluster]
        .iter()
        .any(|name| memmem::find(records, name.as_bytes()).is_some())
}

/// A record with a mark, or without one if `mark` is `None`. `None` if there is no mark to remove, or
/// no place for one.
pub fn marked(format: Format, raw: &[u8], mark: Option<&Mark>) -> Option<Vec<u8>> {
    match format {
        Format::Jsonl => line(raw, mark),
        Format::Warc => record(raw, mark),
        _ => None,
    }
}

/// The values of a mark as text, in the order of the names: the id quoted by `quoted`.
fn values(mark: &Mark, quoted: impl Fn(&[u8]) -> Vec<u8>) -> [Option<Vec<u8>>; 6] {
    let number = |number: u32| Some(number.to_string().into_bytes());
    let decimal = |number: f64| {
        let mut text = Vec::new();
        // Writing to memory cannot fail.
        let _ = serde_json::to_writer(&mut text, &number);
        text
    };
    [
        mark.duplicate_of.as_deref().map(quoted),
        number(mark.cluster),
        number(mark.counts.size),
        number(mark.counts.sources),
        number(mark.counts.sites),
        mark.similarity.map(decimal),
    ]
}

fn line(raw: &[u8], mark: Option<&Mark>) -> Option<Vec<u8>> {
    let unmarked = may_have_marks(Format::Jsonl, raw)
        .then(|| without_keys(raw))
        .flatten();
    let Some(mark) = mark else {
        return unmarked;
    };
    let raw = unmarked.as_deref().unwrap_or(raw);
    let end = raw.iter().rposition(|&byte| byte == b'}');
    let (head, tail) = raw.split_at(end.unwrap_or(raw.len()));
    let mut out = head.to_vec();
    let mut is_first = head.trim_ascii_end().ends_with(b"{");
    let quoted = |id: &[u8]| {
        let mut text = Vec::new();
        // Writing to memory cannot fail.
        let _ = serde_json::to_writer(&mut text, &String::from_utf8_lossy(id));
        text
    };
    for (key, value) in KEYS.into_iter().zip(values(mark, quoted)) {
        if let Some(value) = value {
            let comma = if is_first { "" } else { "," };
            out.extend_from_slice(format!("{comma}\"{key}\":").as_bytes());
            out.extend_from_slice(&value);
            is_first = false;
        }
    }
    out.extend_from_slice(tail);
    Some(out)
}

/// The line without the members named in [`KEYS`]; `None` if there are none.
fn without_keys(raw: &[u8]) -> Option<Vec<u8>> {
    let mut members = Vec::new();
    let mut json = serde_json::Deserializer::from_slice(raw);
    json.deserialize_map(Members(&mut members)).ok()?;
    if !members.iter().any(|(is_key, _)| *is_key) {
        return None;
    }
    let mut begin = memchr::memchr(b'{', raw)? + 1;
    let mut out = raw[..begin].to_vec();
    let mut is_first = true;
    for (is_key, value) in members {
        // The value borrows from the line; a comma or the end of the object follows it.
        let value_end = value.as_ptr() as usize - raw.as_ptr() as usize + value.len();
        let end = value_end + memchr::memchr2(b',', b'}', &raw[value_end..])?;
        if !is_key {
            if !is_first {
                out.push(b',');
            }
            out.extend_from_slice(&raw[begin..end]);
            is_first = false;
        }
        begin = end + 1;
    }
    out.extend_from_slice(&raw[begin - 1..]);
    Some(out)
}

/// Collects the values of an object, each with whether its key is one of [`KEYS`].
struct Members<'m, 'a>(&'m mut Vec<(bool, &'a str)>);

impl<'a> Visitor<'a> for Members<'_, 'a> {
    type Value = ();

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            let value: &'a RawValue = map.next_value()?;
            self.0.push((KEYS.contains(&&key[..]), value.get()));
        }
        Ok(())
    }
}

fn record(raw: &[u8], mark: Option<&Mark>) -> Option<Vec<u8>> {
    let body = warc::Head::at(raw)?.bytes;
    // Blank lines after the previous record may precede the version.
    let is_blank = |byte: &u8| matches!(byte, b'\r' | b'\n');
    let start = raw.iter().position(|byte| !is_blank(byte))?;
    let mut lines = raw[start..body].split_inclusive(|&byte| byte == b'\n');
    let mut out = raw[..start].to_vec();
    out.extend_from_slice(lines.next()?);
    if let Some(mark) = mark {
        let printable = |id: &[u8]| {
            let bytes = id.iter().filter(|byte| !byte.is_ascii_control());
            bytes.copied().collect()
        };
        for (name, value) in HEADERS.into_iter().zip(values(mark, printable)) {
            if let Some(value) = value {
                out.extend_from_slice(&[name.as_bytes(), b": ", &value, b"\r\n"].concat());
            }
        }
    }
    let mut is_mark = false;
    let mut has_mark = mark.is_some();
    for line in lines {
        // A line that begins with white space continues the previous one.
        if !line.starts_with(b" ") && !line.starts_with(b"\t") {
            let name = line.split(|&byte| byte == b':').next().unwrap_or_default();
            let name = name.trim_ascii();
            let is_name = |mark: &&str| name.eq_ignore_ascii_case(mark.as_bytes());
            is_mark = HEADERS.iter().any(is_name);
        }
        match is_mark {
            true => has_mark = true,
            false => out.extend_from_slice(line),
        }
    }
    out.extend_from_slice(&raw[body..]);
    has_mark.then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Map, Value};

    fn mark(id: &[u8]) -> Mark {
        Mark {
            duplicate_of: Some(id.to_vec()),
            cluster: 7,
            counts: ClusterCounts {
                size: 3,
                sources: 2,
                sites: 1,
            },
            similarity: Some(0.875),
        }
    }

    const CLUSTER: &str = "\"duplicate_cluster\":7,\"duplicate_cluster_size\":3,\
        \"duplicate_cluster_sources\":2,\"duplicate_cluster_sites\":1";

    fn rest() -> String {
        format!("{CLUSTER},\"duplicate_similarity\":0.875}}")
    }

    #[test]
    fn marks_are_valid() {
        for (raw, expected) in [
            (
                "{\"a\":1}\n",
                format!("{{\"a\":1,\"duplicate_of\":\"x\\\"y\",{}\n", rest()),
            ),
            (
                "{ }\r\n",
                format!("{{ \"duplicate_of\":\"x\\\"y\",{}\r\n", rest()),
            ),
        ] {
            let raw = raw.as_bytes();
            let out = marked(Format::Jsonl, raw, Some(&mark(b"x\"y"))).unwrap();
            assert_eq!(String::from_utf8_lossy(&out), expected);
            let value: Value = serde_json::from_slice(&out).unwrap();
            assert_eq!(value["duplicate_of"], "x\"y");
            assert_eq!(marked(Format::Jsonl, raw, None), None);
        }
        // The kept document of a cluster, and one whose earlier mark has fewer values.
        let kept = Mark {
            duplicate_of: None,
            similarity: None,
            ..mark(b"")
        };
        let out = marked(Format::Jsonl, b"{\"duplicate_of\":\"x\"}", Some(&kept)).unwrap();
        assert_eq!(out, format!("{{{CLUSTER}}}").as_bytes());
        assert_eq!(marked(Format::Jsonl, &out, None).unwrap(), b"{}");
    }

    #[test]
    fn a_mark_follows_the_version_line() {
        let head = b"WARC/1.0\r\nA: b\r\nContent-Length: 0\r\n\r\n";
        let expected = b"WARC/1.0\r\nWARC-Simtool-Duplicate-Of: id\r\n\
            WARC-Simtool-Duplicate-Cluster: 7\r\nWARC-Simtool-Duplicate-Cluster-Size: 3\r\n\
            WARC-Simtool-Duplicate-Cluster-Sources: 2\r\n\
            WARC-Simtool-Duplicate-Cluster-Sites: 1\r\n\
            WARC-Simtool-Duplicate-Similarity: 0.875\r\nA: b\r\nContent-Length: 0\r\n\r\n";
        for before in [&b""[..], b"\r\n\r\n", b"\n"] {
            let raw = [before, head, b"\r\n\r\n"].concat();
            let out = marked(Format::Warc, &raw, Some(&mark(b"id\n"))).unwrap();
            assert_eq!(out, [before, &expected[..], b"\r\n\r\n"].concat());
            assert_eq!(marked(Format::Warc, &raw, None), None);
            // Marked again, and unmarked.
            let again = marked(Format::Warc, &out, Some(&mark(b"id")));
            assert_eq!(again, Some(out.clone()));
            assert_eq!(marked(Format::Warc, &out, None), Some(raw));
        }
        let folded = b"WARC/1.0\r\nwarc-simtool-duplicate-of :\r\n x\r\nContent-Length: 0\r\n\r\n";
        let out = marked(Format::Warc, folded, None).unwrap();
        assert_eq!(out, b"WARC/1.0\r\nContent-Length: 0\r\n\r\n");
    }

    #[test]
    fn only_keys_of_the_line_itself_are_marks() {
        for raw in [
            &b"{\"a\":{\"duplicate_of\":1},\"b\":\"duplicate_of\"}"[..],
            b"{\"duplicate_of\": broken",
        ] {
            assert_eq!(marked(Format::Jsonl, raw, None), None);
        }
    }

    proptest! {
        /// Compared with a JSON map.
        /// Promise (Deduplication): Annotations are those of the last …
        #[test]
        fn members_that_are_marks_are_removed(
            members in prop::collection::vec(
                (
                    prop::sample::select(vec!["duplicate_of", "duplicate_cluster", "a", "b"]),
                    0..3u8,
                ),
                0..6,
            ),
            space in prop::sample::select(vec!["", " "]),
        ) {
            let value = |kind: u8| ["{\"duplicate_of\":[1,2]}", "\"},\"", "null"][kind as usize];
            let member = |(key, kind): &(&str, u8)| {
                format!("{space}\"{key}\"{space}:{space}{}{space}", value(*kind))
            };
            let all: Vec<String> = members.iter().map(member).collect();
            let raw = format!("{{{}}}\n", all.join(","));
            let mut expected: Map<String, Value> = serde_json::from_str(&raw).unwrap();
            let had = ["duplicate_of", "duplicate_cluster"].map(|key| expected.remove(key).is_some());
            let had = had.contains(&true);
            let unmarked = marked(Format::Jsonl, raw.as_bytes(), None);
            prop_assert_eq!(unmarked.is_some(), had);
            let found = unmarked.unwrap_or_else(|| raw.clone().into_bytes());
            prop_assert_eq!(&serde_json::from_slice::<Map<String, Value>>(&found).unwrap(), &expected);
            prop_assert!(!String::from_utf8(found).unwrap().contains("\"duplicate_of\":null"));
            let once = marked(Format::Jsonl, raw.as_bytes(), Some(&mark(b"x"))).unwrap();
            let own: Map<String, Value> = serde_json::from_str(&format!("{{\"duplicate_of\":\"x\",{}", rest())).unwrap();
            expected.extend(own);
            prop_assert_eq!(&serde_json::from_slice::<Map<String, Value>>(&once).unwrap(), &expected);
            prop_assert_eq!(marked(Format::Jsonl, &once, Some(&mark(b"x"))), Some(once.clone()));
        }
    }
}
