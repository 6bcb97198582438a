//! Document ids and document numbers.

use std::sync::Arc;

use ahash::AHashMap;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::{Error, ErrorKind, Result};

/// An unordered pair of two different documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pair {
    low: u32,
    high: u32,
}

impl Pair {
    /// The pair of two documents; `None` if they are the same.
    pub fn new(a: u32, b: u32) -> Option<Pair> {
        (a != b).then(|| Pair {
            low: a.min(b),
            high: a.max(b),
        })
    }

    /// The two documents, the smaller number first.
    pub fn documents(self) -> [u32; 2] {
        [self.low, self.high]
    }
}

/// A map between the ids of documents, which are byte strings, and their numbers.
///
/// It is either that of a collection, in which an unknown id is an error, or open, so that an
/// unknown id becomes the next document.
#[derive(Clone, Debug)]
pub struct Ids {
    names: Vec<Arc<[u8]>>,
    numbers: AHashMap<Arc<[u8]>, Number>,
    is_open: bool,
}

#[derive(Clone, Copy, Debug)]
enum Number {
    One(u32),
    /// More than one document has this id.
    Several,
}

impl Ids {
    /// An empty, open map: each new id becomes a document.
    pub fn open() -> Ids {
        Ids {
            names: Vec::new(),
            numbers: AHashMap::new(),
            is_open: true,
        }
    }

    /// The documents of a collection, numbered from 0 in this order.
    ///
    /// Ids may repeat; a file that refers to such an id is rejected.
    ///
    /// # Errors
    /// [`Content`](ErrorKind::Content) beyond 2^32 - 1 documents.
    pub fn of_collection<'a>(ids: impl IntoIterator<Item = &'a [u8]>) -> Result<Ids> {
        let mut all = Ids::open();
        for id in ids {
            let number = all.next()?;
            let name: Arc<[u8]> = id.into();
            let known = all.numbers.entry(name.clone());
            known
                .and_modify(|known| *known = Number::Several)
                .or_insert(Number::One(number));
            all.names.push(name);
        }
        all.is_open = false;
        Ok(all)
    }

    /// The number of documents.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are no documents.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The id of a document.
    ///
    /// # Panics
    /// If there is no such document.
    pub fn name(&self, number: u32) -> &[u8] {
        &self.names[number as usize]
    }

    /// The document with this id, if there is exactly one.
    pub fn number(&self, id: &[u8]) -> Option<u32> {
        match self.numbers.get(id)? {
            Number::One(number) => Some(*number),
            Number::Several => None,
        }
    }

    /// The number of the document with the id, as read from a file.
    pub(super) fn resolve(&mut self, id: &[u8]) -> Result<u32> {
        match self.numbers.get(id) {
            Some(Number::One(number)) => Ok(*number),
            Some(Number::Several) => Err(content(format!(
                "found the id {}, which several documents have; expected ids that name one \
                 document",
                shown(id)
            ))),
            None if self.is_open => {
                let number = self.next()?;
                let name: Arc<[u8]> = id.into();
                self.names.push(name.clone());
                self.numbers.insert(name, Number::One(number));
                Ok(number)
            }
            None => Err(content(format!(
                "found the id {}, which no document has; expected an id of one of the {} \
                 documents",
                shown(id),
                self.names.len()
            ))),
        }
    }

    fn next(&self) -> Result<u32> {
        let next = u32::try_from(self.names.len()).ok();
        next.filter(|&number| number < u32::MAX).ok_or_else(|| {
            content(format!(
                "found more than {} documents, the most that can be evaluated",
                u32::MAX
            ))
        })
    }
}

pub(crate) fn content(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Content, message)
}

/// Bytes of a file for a message: quoted, on one line, and truncated.
pub(crate) fn shown(bytes: &[u8]) -> String {
    const MAX_CHARACTERS: usize = 60;
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(4 * MAX_CHARACTERS)]);
    let mut quoted: String = text.chars().take(MAX_CHARACTERS).collect();
    if quoted.len() < text.len() || bytes.len() > 4 * MAX_CHARACTERS {
        quoted.push('…');
    }
    format!("{quoted:?}")
}

/// The bytes of an id, from its text or its Base64 form.
pub(super) fn decoded(id: String, base64: Option<String>) -> Result<Vec<u8>> {
    match base64 {
        None => Ok(id.into_bytes()),
        Some(base64) => STANDARD.decode(&base64).map_err(|error| {
            content(format!(
                "found {}, expected Base64: {error}",
                shown(base64.as_bytes())
            ))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_and_repeated_ids_of_a_collection_are_refused() {
        let mut ids = Ids::of_collection([&b"a"[..], b"b", b"a", b""]).unwrap();
        assert_eq!((ids.len(), ids.name(2)), (4, &b"a"[..]));
        assert_eq!((ids.number(b"b"), ids.number(b"a")), (Some(1), None));
        assert_eq!(ids.resolve(b"").unwrap(), 3);
        let several = ids.resolve(b"a").unwrap_err().to_string();
        assert!(several.contains("several documents"), "{several}");
        let unknown = ids.resolve(b"\x1b[1m\xff").unwrap_err().to_string();
        assert!(
            unknown.contains("\"\\u{1b}[1m\u{fffd}\", which no document has"),
            "{unknown}"
        );
    }

    #[test]
    fn open_ids_grow() {
        let mut ids = Ids::open();
        let numbers = [&b"x"[..], b"y", b"x"].map(|id| ids.resolve(id).unwrap());
        assert_eq!((numbers, ids.len()), ([0, 1, 0], 2));
    }

    #[test]
    fn pairs_have_no_order_and_two_sides() {
        assert_eq!(Pair::new(2, 1), Pair::new(1, 2));
        assert_eq!(Pair::new(2, 1).unwrap().documents(), [1, 2]);
        assert_eq!(Pair::new(7, 7), None);
    }

    #[test]
    fn long_ids_are_cut_in_messages() {
        assert!(shown(&[b'x'; 10_000]).len() < 100);
        assert!(shown("漢".repeat(100).as_bytes()).ends_with("…\""));
    }
}
