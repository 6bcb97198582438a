//! Lists of sketches of one method.

use std::ops::Range;

use crate::sketch::Compare;

/// A view of sketches of one method, stored contiguously.
#[derive(Clone, Copy, Debug)]
pub struct Sketches<'a> {
    bytes: &'a [u8],
    borders: Borders<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Borders<'a> {
    /// All have one length.
    Every(usize),
    /// The start of each, and the end of the last, as offsets; `origin` is that of the first byte.
    At { origin: u64, borders: &'a [u64] },
}

impl<'a> Sketches<'a> {
    /// Sketches of `length` bytes each; a length of zero counts as one.
    pub fn of_length(bytes: &'a [u8], length: usize) -> Sketches<'a> {
        Sketches {
            bytes,
            borders: Borders::Every(length.max(1)),
        }
    }

    /// Sketches of any length: `borders` are the start of each and the end of the last, ascending;
    /// `bytes` starts at the first border.
    ///
    /// # Panics
    /// If there are no borders, or the length of `bytes` is not the difference of the first and
    /// last border.
    pub fn between(bytes: &'a [u8], borders: &'a [u64]) -> Sketches<'a> {
        let (first, last) = (borders[0], borders[borders.len() - 1]);
        assert_eq!(last - first, bytes.len() as u64, "bytes between borders");
        Sketches {
            bytes,
            borders: Borders::At {
                origin: first,
                borders,
            },
        }
    }

    /// The number of sketches.
    pub fn count(self) -> usize {
        match self.borders {
            Borders::Every(length) => self.bytes.len() / length,
            Borders::At { borders, .. } => borders.len() - 1,
        }
    }

    /// The sketch at index `number`.
    ///
    /// # Panics
    /// If `number` is out of range.
    #[inline]
    pub fn get(self, number: usize) -> &'a [u8] {
        match self.borders {
            Borders::Every(length) => &self.bytes[number * length..][..length],
            Borders::At { origin, borders } => {
                let place = |number: usize| (borders[number] - origin) as usize;
                &self.bytes[place(number)..place(number + 1)]
            }
        }
    }

    /// The sketches of a range of indices.
    ///
    /// # Panics
    /// If an index is out of range.
    #[must_use]
    pub fn range(self, range: Range<usize>) -> Sketches<'a> {
        match self.borders {
            Borders::Every(length) => Sketches {
                bytes: &self.bytes[range.start * length..range.end * length],
                ..self
            },
            Borders::At { origin, borders } => Sketches {
                borders: Borders::At {
                    origin,
                    borders: &borders[range.start..=range.end],
                },
                ..self
            },
        }
    }

    /// Iterates over all sketches, in order.
    pub fn iter(self) -> impl ExactSizeIterator<Item = &'a [u8]> + Clone {
        (0..self.count()).map(move |number| self.get(number))
    }

    /// The bytes of all sketches if they have a fixed length.
    pub fn end_to_end(self) -> Option<&'a [u8]> {
        matches!(self.borders, Borders::Every(_)).then_some(self.bytes)
    }
}

/// A growable list of sketches of one method, stored contiguously.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SketchList {
    /// All sketches.
    pub bytes: Vec<u8>,
    /// The start of each sketch and the end of the last; empty if all have one length.
    pub borders: Vec<u64>,
}

impl SketchList {
    /// An empty list for sketches of `method`.
    pub fn new(method: &dyn Compare) -> SketchList {
        SketchList {
            bytes: Vec::new(),
            borders: match method.sketch_bytes() {
                Some(_) => Vec::new(),
                None => vec![0],
            },
        }
    }

    /// Removes all sketches; keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.borders.truncate(1);
        self.borders.fill(0);
    }

    /// Appends the bytes that `write` appends, as one sketch.
    pub fn push_with<T>(&mut self, write: impl FnOnce(&mut Vec<u8>) -> T) -> T {
        let before = self.bytes.len();
        let value = write(&mut self.bytes);
        if let Some(&last) = self.borders.last() {
            self.borders.push(last + (self.bytes.len() - before) as u64);
        }
        value
    }

    /// Appends a sketch.
    pub fn push(&mut self, sketch: &[u8]) {
        self.push_with(|bytes| bytes.extend_from_slice(sketch));
    }

    /// Appends all sketches of another list of the same method.
    pub fn append(&mut self, next: &SketchList) {
        append_borders(&mut self.borders, &next.borders);
        self.bytes.extend_from_slice(&next.bytes);
    }

    /// Removes, in place, the sketches at positions for which `keep` is false. All must be of
    /// `method`.
    pub fn retain(&mut self, method: &dyn Compare, keep: impl Fn(usize) -> bool) {
        let length = method.sketch_bytes();
        let (mut end, mut kept) = (0, 0);
        for position in 0..self.all(method).count() {
            let sketch = match length {
                Some(length) => position * length..(position + 1) * length,
                None => self.borders[position] as usize..self.borders[position + 1] as usize,
            };
            if keep(position) {
                let bytes = sketch.len();
                self.bytes.copy_within(sketch, end);
                end += bytes;
                kept += 1;
                if length.is_none() {
                    self.borders[kept] = end as u64;
                }
            }
        }
        self.bytes.truncate(end);
        self.borders.truncate(kept + 1);
    }

    /// A view of all sketches, which must be of `method`.
    pub fn all(&self, method: &dyn Compare) -> Sketches<'_> {
        match method.sketch_bytes() {
            Some(length) => Sketches::of_length(&self.bytes, length),
            None => Sketches::between(&self.bytes, &self.borders),
        }
    }
}

/// Appends the borders of a list of sketches to those of the sketches before it.
pub fn append_borders(borders: &mut Vec<u64>, next: &[u64]) {
    if borders.is_empty() {
        borders.extend(next.first());
    }
    if let (Some(&last), Some(&first)) = (borders.last(), next.first()) {
        borders.extend(next[1..].iter().map(|border| last + border - first));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sketches_are_where_they_were_put() {
        let words: [&[u8]; 5] = [b"ab", b"", b"cde", b"", b"f"];
        let mut list = SketchList {
            bytes: Vec::new(),
            borders: vec![0],
        };
        words.iter().for_each(|word| list.push(word));
        let mut twice = list.clone();
        twice.append(&list);
        let all = Sketches::between(&twice.bytes, &twice.borders);
        let expected = [words, words].concat();
        assert_eq!(all.count(), 10);
        assert_eq!(all.iter().collect::<Vec<_>>(), expected);
        for start in 0..10 {
            for end in start..=10 {
                let part = all.range(start..end);
                assert_eq!(part.iter().collect::<Vec<_>>(), expected[start..end]);
                let again = part.range(0..part.count());
                assert_eq!(again.iter().collect::<Vec<_>>(), expected[start..end]);
            }
        }
        assert_eq!(all.end_to_end(), None);
        list.clear();
        assert_eq!((list.bytes.len(), &list.borders[..]), (0, &[0][..]));
    }

    #[test]
    fn sketches_of_one_length() {
        let all = Sketches::of_length(b"aabbcc", 2);
        assert_eq!(all.iter().collect::<Vec<_>>(), [b"aa", b"bb", b"cc"]);
        assert_eq!(all.range(1..3).get(0), b"bb");
        assert_eq!(all.end_to_end(), Some(&b"aabbcc"[..]));
        assert_eq!(Sketches::of_length(b"", 0).count(), 0);
    }
}
