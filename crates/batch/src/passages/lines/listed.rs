//! A list of units to remove: a `boilerplate.jsonl` that a person may have edited.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use ahash::AHashSet;
use serde::Deserialize;
use xxhash_rust::xxh3::Xxh3;

use super::per::halves;
use crate::{Error, ErrorKind, Result};
use simtool_core::text::units::{UnitKind, UnitReader};
use simtool_files::read_regular;

/// The longest line of a list, in bytes.
const MOST_LINE_BYTES: u64 = 64 << 20;
/// The memory of a unit of a list.
const UNIT_BYTES: u64 = 48;

/// Units that are removed wherever they occur.
#[derive(Clone, Debug, Default)]
pub struct ListedUnits {
    keys: AHashSet<[u64; 2]>,
    digest: u128,
}

/// A line of a list. Other fields are for people.
#[derive(Deserialize)]
struct ListedLine {
    text: String,
    #[serde(default)]
    shortened: bool,
    xxh3_128: Option<String>,
    unit: Option<String>,
    normalize: Option<String>,
}

impl ListedUnits {
    /// Reads a list of the units of `units`: JSON Lines with the text of a unit in `text`. Where
    /// `shortened` is true, the unit is the one whose hash is in `xxh3_128`, for units of the same
    /// kind and normal form.
    /// Blank lines are ignored. The list may use at most `memory_bytes`.
    ///
    /// # Errors
    /// [`ErrorKind::Read`]; [`ErrorKind::Content`] naming the first line that is not one unit;
    /// [`ErrorKind::Memory`] for too long a list.
    pub fn read(path: &Path, units: &mut UnitReader, memory_bytes: u64) -> Result<ListedUnits> {
        let unreadable = |cause| Error::unreadable(path, cause);
        let mut file = BufReader::new(read_regular(path).map_err(unreadable)?);
        let (mut listed, mut digest) = (ListedUnits::default(), Xxh3::new());
        let (mut line, mut number) = (Vec::new(), 0u64);
        loop {
            line.clear();
            let read = (&mut file)
                .take(MOST_LINE_BYTES)
                .read_until(b'\n', &mut line)
                .map_err(unreadable)?;
            if read == 0 {
                break;
            }
            number += 1;
            digest.update(&line);
            if line.trim_ascii().is_empty() {
                continue;
            }
            let refuse = |what: String| {
                let message = format!("line {number}: {what}");
                Error::new(ErrorKind::Content, message).in_file(path)
            };
            if read as u64 == MOST_LINE_BYTES && !line.ends_with(b"\n") {
                return Err(refuse(format!("is longer than {MOST_LINE_BYTES} bytes")));
            }
            let parsed: ListedLine = serde_json::from_slice(&line)
                .map_err(|error| refuse(format!("expected an object with a text: {error}")))?;
            let hash = parsed.hash(units).map_err(refuse)?;
            listed.keys.insert(halves(hash));
            if listed.keys.len() as u64 * UNIT_BYTES > memory_bytes {
                let message = format!(
                    "has more units than fit into {} MiB, an eighth of the memory (give more \
                     --memory, or a shorter list)",
                    memory_bytes >> 20
                );
                return Err(Error::new(ErrorKind::Memory, message).in_file(path));
            }
        }
        listed.digest = digest.digest128();
        Ok(listed)
    }

    /// Whether a unit with this hash is listed.
    pub fn contains(&self, key: [u64; 2]) -> bool {
        self.keys.contains(&key)
    }

    /// The number of different units.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether no unit is listed.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// xxh3-128 of the file.
    pub fn digest(&self) -> u128 {
        self.digest
    }
}

impl ListedLine {
    /// The hash of the unit, or why there is none.
    fn hash(&self, units: &mut UnitReader) -> std::result::Result<u128, String> {
        let kind = units.kind();
        if !self.shortened {
            let hash = units.hash_of(self.text.as_bytes());
            return hash.ok_or_else(|| match kind {
                UnitKind::Run(words) => format!(
                    "the text is not one unit ({kind}): expected lines with {words} words \
                     together, and with fewer without the first or without the last one"
                ),
                _ => format!("the text is not one unit ({kind})"),
            });
        }
        let own = [kind.to_string(), units.normal().to_string()];
        let written = [&self.unit, &self.normalize];
        if written.map(Option::as_deref) != own.each_ref().map(|name| Some(&name[..])) {
            return Err(format!(
                "the text is shortened, and its hash is that of another unit or normal form: \
                 expected unit {} and normalize {}",
                own[0], own[1]
            ));
        }
        let hash = self.xxh3_128.as_deref().filter(|text| text.len() == 32);
        hash.and_then(|text| u128::from_str_radix(text, 16).ok())
            .ok_or_else(|| "the text is shortened, and xxh3_128 is not 32 digits".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_core::text::Choice;
    use simtool_core::text::units::Normal;

    fn reader(kind: UnitKind) -> UnitReader {
        UnitReader::new(kind, Normal::default(), Choice::Auto)
    }

    fn read(text: &str, kind: &str, memory: u64) -> Result<ListedUnits> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("list");
        std::fs::write(&path, text).unwrap();
        let kind = UnitKind::parse(kind).unwrap();
        ListedUnits::read(&path, &mut reader(kind), memory)
    }

    #[test]
    fn units_are_listed_by_text_or_by_hash() {
        let hash = |text: &str| {
            let mut units = reader(UnitKind::Line);
            units.hash_of(text.as_bytes()).unwrap()
        };
        let list = format!(
            "{{\"text\":\" a  b \",\"count\":9}}\n\n{{\"text\":\"long\",\"shortened\":true,\
             \"xxh3_128\":\"{:032x}\",\"unit\":\"line\",\"normalize\":\"form,spaces\"}}",
            hash("long text")
        );
        let listed = read(&list, "line", 1 << 20).unwrap();
        assert_eq!(listed.len(), 2);
        assert!(listed.contains(halves(hash("a b"))) && listed.contains(halves(hash("long text"))));
        assert!(!listed.contains(halves(hash("long"))));
        assert!(read("", "line", 1 << 20).unwrap().is_empty());
    }

    /// Promise (Repeated units): A list of units can be …
    /// Promise (Repeated units): A list of units with a text of several units is refused, with its
    /// line
    #[test]
    fn lines_that_are_not_one_unit_are_refused() {
        let shortened = |rest: &str| format!("{{\"text\":\"a\",\"shortened\":true{rest}}}");
        for (list, kind, expected) in [
            ("{\"text\":\"a\"}\nx", "line", "line 2: expected an object"),
            ("{\"text\":1}", "line", "line 1: expected an object"),
            ("{\"text\":\" \"}", "line", "the text is not one unit"),
            (
                "{\"text\":\"a\\nb\"}",
                "line",
                "line 1: the text is not one unit (line)",
            ),
            (
                "{\"text\":\"a\\n\\nb\"}",
                "paragraph",
                "the text is not one unit",
            ),
            (
                "{\"text\":\"A. B.\"}",
                "sentences:3",
                "the text is not one unit",
            ),
            (
                "{\"text\":\"a\\nb\\nc\\nd\"}",
                "run:12",
                "line 1: the text is not one unit (run:12): expected lines with 12 words together",
            ),
            (&shortened(""), "line", "is that of another unit"),
            (
                &shortened(",\"unit\":\"line\",\"normalize\":\"form,spaces\",\"xxh3_128\":\"+1\""),
                "line",
                "is not 32 digits",
            ),
        ] {
            let refused = read(list, kind, 1 << 20).unwrap_err().to_string();
            assert!(refused.contains(expected), "{refused}");
        }
        let many: String = (0..100)
            .map(|n| format!("{{\"text\":\"{n}\"}}\n"))
            .collect();
        assert_eq!(
            read(&many, "line", 1000).unwrap_err().kind(),
            ErrorKind::Memory
        );
    }
}
