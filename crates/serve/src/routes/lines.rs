//! Splitting a body into lines.

use bytes::Bytes;

use crate::problem::Problem;

/// A line, or its problem.
#[derive(Debug)]
pub struct Line {
    /// Counted from 1, including blank lines.
    pub number: u64,
    pub text: Result<Vec<u8>, Problem>,
}

/// Splits pieces of a body into lines; blank lines are left out.
///
/// A line is copied when it is taken, or when its piece ends; later lines stay in the piece.
pub struct Lines {
    most: usize,
    number: u64,
    begun: Vec<u8>,
    /// The incomplete line is too long; the rest of it is skipped.
    too_long: bool,
    piece: Bytes,
    /// Set when no pieces follow: the last line may lack its line break, or the body failed.
    pub end: Option<Result<(), Problem>>,
}

impl Lines {
    /// Lines of at most `most` bytes.
    pub fn new(most: usize) -> Lines {
        Lines {
            most,
            number: 1,
            begun: Vec::new(),
            too_long: false,
            piece: Bytes::new(),
            end: None,
        }
    }

    /// Takes the next piece; all lines of the last one have been consumed.
    pub fn push(&mut self, piece: Bytes) {
        debug_assert!(self.piece.is_empty());
        self.piece = piece;
    }

    /// The next complete line.
    pub fn next(&mut self) -> Option<Line> {
        while let Some(end) = memchr::memchr(b'\n', &self.piece) {
            let part = self.piece.split_to(end + 1);
            self.extend(&part[..end]);
            if let Some(line) = self.finish() {
                return Some(line);
            }
        }
        let rest = std::mem::take(&mut self.piece);
        self.extend(&rest);
        match self.end.take()? {
            Ok(()) => self.finish(),
            Err(problem) => Some(Line {
                number: self.number,
                text: Err(problem),
            }),
        }
    }

    /// The number of the next line.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Bytes of the incomplete line.
    pub fn begun(&self) -> usize {
        self.begun.len()
    }

    fn extend(&mut self, part: &[u8]) {
        let length = self.begun.len() + part.len();
        if length > self.most {
            self.too_long = true;
            self.begun = Vec::new();
        }
        if self.too_long {
            return;
        }
        if length > self.begun.capacity() {
            // Doubled, up to the limit.
            let wanted = (2 * length).min(self.most);
            self.begun.reserve_exact(wanted - self.begun.len());
        }
        self.begun.extend_from_slice(part);
    }

    fn finish(&mut self) -> Option<Line> {
        let mut text = std::mem::take(&mut self.begun);
        let number = self.number;
        self.number += 1;
        let text = match std::mem::take(&mut self.too_long) {
            true => Err(Problem::large(self.most)),
            false if text.trim_ascii().is_empty() => return None,
            false => {
                text.shrink_to_fit();
                Ok(text)
            }
        };
        Some(Line { number, text })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn lines_do_not_depend_on_the_pieces(text in "[a\n ]{0,60}", cut in 1usize..20) {
            let mut lines = Lines::new(5);
            let mut found = Vec::new();
            let mut all = |lines: &mut Lines| {
                let lines = std::iter::from_fn(|| lines.next());
                found.extend(lines.map(|line| (line.number, line.text.ok())));
            };
            for piece in text.as_bytes().chunks(cut) {
                lines.push(Bytes::copy_from_slice(piece));
                all(&mut lines);
                prop_assert!(lines.begun() <= 5);
            }
            lines.end = Some(Ok(()));
            all(&mut lines);
            let expected: Vec<_> = (1..)
                .zip(text.split('\n'))
                .filter(|(_, line)| !line.trim().is_empty() || line.len() > 5)
                .map(|(number, line)| {
                    (number, (line.len() <= 5).then(|| line.as_bytes().to_vec()))
                })
                .collect();
            prop_assert_eq!(found, expected);
        }
    }
}
