//! From pieces of a body to its lines.

use std::collections::VecDeque;

use super::problem::Problem;

/// A line, or what is wrong with it.
#[derive(Debug)]
pub struct Line {
    /// Counted from 1, blank ones too.
    pub number: u64,
    pub text: Result<Vec<u8>, Problem>,
}

/// Lines that are still coming; blank ones are left out.
pub struct Lines {
    most: usize,
    number: u64,
    begun: Vec<u8>,
    /// The line that is coming is too long; the rest of it is passed over.
    too_long: bool,
    whole: VecDeque<Line>,
}

impl Lines {
    /// Lines of at most so many bytes.
    pub fn new(most: usize) -> Lines {
        Lines {
            most,
            number: 1,
            begun: Vec::new(),
            too_long: false,
            whole: VecDeque::new(),
        }
    }

    /// Takes the next piece.
    pub fn push(&mut self, mut piece: &[u8]) {
        while let Some(end) = memchr::memchr(b'\n', piece) {
            self.extend(&piece[..end]);
            self.finish();
            piece = &piece[end + 1..];
        }
        self.extend(piece);
    }

    fn extend(&mut self, part: &[u8]) {
        if self.begun.len() + part.len() > self.most {
            self.too_long = true;
            self.begun = Vec::new();
        }
        if !self.too_long {
            self.begun.extend_from_slice(part);
        }
    }

    fn finish(&mut self) {
        let text = std::mem::take(&mut self.begun);
        let number = self.number;
        self.number += 1;
        let text = match std::mem::take(&mut self.too_long) {
            true => Err(Problem::large(self.most)),
            false if text.trim_ascii().is_empty() => return,
            false => Ok(text),
        };
        self.whole.push_back(Line { number, text });
    }

    /// There are no more pieces; the last line may lack its end.
    pub fn end(&mut self) {
        self.finish();
    }

    /// There are no more pieces, because something went wrong.
    pub fn fail(&mut self, problem: Problem) {
        let (number, text) = (self.number, Err(problem));
        self.whole.push_back(Line { number, text });
    }

    /// The next line that is whole.
    pub fn next(&mut self) -> Option<Line> {
        self.whole.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(lines: &mut Lines) -> Vec<(u64, Option<Vec<u8>>)> {
        std::iter::from_fn(|| lines.next())
            .map(|line| (line.number, line.text.ok()))
            .collect()
    }

    proptest! {
        #[test]
        fn pieces_do_not_matter(text in "[a\n ]{0,60}", cut in 1usize..20) {
            let mut lines = Lines::new(5);
            text.as_bytes().chunks(cut).for_each(|piece| lines.push(piece));
            lines.end();
            let expected: Vec<_> = (1..)
                .zip(text.split('\n'))
                .filter(|(_, line)| !line.trim().is_empty() || line.len() > 5)
                .map(|(number, line)| {
                    (number, (line.len() <= 5).then(|| line.as_bytes().to_vec()))
                })
                .collect();
            prop_assert_eq!(all(&mut lines), expected);
        }
    }
}
