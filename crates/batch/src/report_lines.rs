//! Report lines, formatted by all threads in pieces of bounded size.
//!
//! ```text
//! items ─► pieces, a thread each ─► bytes, in order ─► file, while the next ones are made
//!    └───► lines with long labels, one at a time ─────► file
//! ```

use std::io::{self, Write};

use rayon::iter::ParallelIterator;
use rayon::slice::ParallelSlice;

use crate::{Error, Result};
use simtool_files::AtomicFile;

/// Pieces that are formatted at a time.
const PIECES: usize = 128;
/// The most items of a piece.
const MOST_ITEMS: usize = 128;
/// A piece ends when its lines have this many bytes.
const PIECE_BYTES: usize = 128 << 10;
/// A line with a longer label is written directly, not through a piece.
const LABEL_BYTES: usize = 64 << 10;

/// Writes lines in the order of their items.
pub struct ReportLines {
    /// The number of items of the next pieces.
    items: usize,
}

/// The lines of the first `done` items of a piece.
struct PieceLines {
    lines: Vec<u8>,
    done: usize,
}

impl ReportLines {
    /// A writer whose first pieces have the most items.
    pub fn new() -> ReportLines {
        ReportLines { items: MOST_ITEMS }
    }

    /// Writes the line of each item.
    ///
    /// `line` gets a state that `start` makes for each piece, and the most bytes that a label may
    /// have. It returns `false` and writes nothing if a label has more.
    ///
    /// # Errors
    /// Errors of `line`, and of the file.
    pub fn write<T: Sync, S>(
        &mut self,
        items: &[T],
        file: &mut AtomicFile,
        start: impl Fn() -> S + Sync,
        line: impl Fn(&mut S, &T, usize, &mut dyn Write) -> Result<bool> + Sync,
    ) -> Result<()> {
        let (mut rest, mut formatted) = (items, Vec::new());
        while !rest.is_empty() {
            let asked = &rest[..rest.len().min(self.items * PIECES)];
            let make = |items: &[T]| PieceLines::make(items, start(), &line);
            let (written, pieces) = rayon::join(
                || write_all(file, &mut formatted),
                || asked.par_chunks(self.items).map(make).collect::<Vec<_>>(),
            );
            written?;
            let (mut done, mut largest) = (0, 0);
            for (piece, items) in pieces.into_iter().zip(asked.chunks(self.items)) {
                let piece = piece?;
                done += piece.done;
                largest = largest.max(piece.lines.len());
                formatted.push(piece.lines);
                if piece.done < items.len() {
                    self.items = (piece.done / 2).max(1);
                    break;
                }
            }
            if done == 0 {
                let mut direct = Direct {
                    file: &mut *file,
                    failure: None,
                };
                let written = line(&mut start(), &rest[0], usize::MAX, &mut direct);
                direct.failure.map_or(written, Err)?;
                done = 1;
            } else if done == asked.len() && largest < PIECE_BYTES / 4 {
                self.items = (2 * self.items).min(MOST_ITEMS);
            }
            rest = &rest[done..];
        }
        write_all(file, &mut formatted)
    }
}

impl PieceLines {
    fn make<T, S>(
        items: &[T],
        mut state: S,
        line: impl Fn(&mut S, &T, usize, &mut dyn Write) -> Result<bool>,
    ) -> Result<PieceLines> {
        let mut piece = PieceLines {
            lines: Vec::new(),
            done: 0,
        };
        for item in items {
            if piece.lines.len() >= PIECE_BYTES
                || !line(&mut state, item, LABEL_BYTES, &mut piece.lines)?
            {
                break;
            }
            piece.done += 1;
        }
        Ok(piece)
    }
}

/// A file to which a line is written directly; it keeps its own error.
struct Direct<'a> {
    file: &'a mut AtomicFile,
    failure: Option<Error>,
}

impl Write for Direct<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes).map_err(|cause| {
            let kind = cause.kind();
            self.failure = Some(self.file.error(cause));
            kind.into()
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Writes the lines of pieces to a file.
fn write_all(file: &mut AtomicFile, pieces: &mut Vec<Vec<u8>>) -> Result<()> {
    pieces.drain(..).try_for_each(|lines| write(file, &lines))
}

/// Writes bytes to a file.
///
/// # Errors
/// [`ErrorKind::Write`](crate::ErrorKind::Write).
pub fn write(file: &mut AtomicFile, bytes: &[u8]) -> Result<()> {
    file.write_block(bytes).map_err(|cause| file.error(cause))
}

/// The error for a line that cannot be written: to the report, as writing to memory cannot fail.
pub fn failed(cause: io::Error) -> Error {
    Error::new(crate::ErrorKind::Write, "a report cannot be written").caused_by(cause)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn lines_are_in_the_order_of_their_items(
            lengths in prop::collection::vec(
                prop_oneof![8 => 0..200usize, 2 => 2000..9000usize, 1 => 60_000..70_000usize],
                0..1200,
            ),
            batch in 1..2000usize,
        ) {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("lines");
            let mut file = AtomicFile::create(&path).unwrap();
            let items: Vec<(usize, usize)> = lengths.into_iter().enumerate().collect();
            let text = |&(number, length): &(usize, usize)| {
                format!("{number} {}\n", "x".repeat(length))
            };
            let mut lines = ReportLines::new();
            for items in items.chunks(batch) {
                let write = |(): &mut (), item: &(usize, usize), most: usize, out: &mut dyn Write| {
                    if item.1 > most {
                        return Ok(false);
                    }
                    out.write_all(text(item).as_bytes()).map_err(failed)?;
                    Ok(true)
                };
                lines.write(items, &mut file, || (), write).unwrap();
            }
            file.publish().unwrap();
            let expected: String = items.iter().map(text).collect();
            prop_assert!(std::fs::read_to_string(&path).unwrap() == expected);
        }
    }

    /// Promise (Deduplication): Reports are written in bounded memory, for …
    #[test]
    fn the_size_of_a_piece_is_bounded() {
        let long = |(): &mut (), _: &usize, most: usize, out: &mut dyn Write| {
            out.write_all(&vec![b'x'; most]).map_err(failed)?;
            Ok(true)
        };
        let piece = PieceLines::make(&[0; MOST_ITEMS], (), long).unwrap();
        assert!(piece.lines.len() <= PIECE_BYTES + LABEL_BYTES);
        assert_eq!(piece.done, PIECE_BYTES / LABEL_BYTES);
    }
}
