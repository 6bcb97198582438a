//! Copies: the largest runs of windows whose first occurrences are consecutive, too.
//!
//! The first occurrence of a periodic window is that of the equal one before it, so the windows of a
//! periodic run repeat the first occurrences of a few:
//!
//! ```text
//! windows            0 1 2 3 4 5 6 7     2 to 7 equal those two earlier
//! first occurrences  a b a b a b a b     four copies of a and b, if these are consecutive
//! ```

use std::collections::VecDeque;

use super::records::{ByColour, Copied, Repeat};
use crate::Result;
use crate::passages::first_reading::documents::{PassageRow, PassageTable};
use crate::table::document_table::DocumentCursor;
use simtool_files::Sorter;

/// Copies of a document that are held.
const MOST_HELD: usize = 1 << 14;

/// Consecutive windows of a document, and the document and the window of their first occurrence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    start: u32,
    windows: u32,
    /// The first occurrence.
    pub first: [u32; 2],
}

impl Piece {
    /// The number of windows.
    pub fn windows(&self) -> u32 {
        self.windows
    }

    fn end(&self) -> u32 {
        self.start + self.windows
    }

    /// The part of the piece in `start..end`.
    fn within(&self, start: u32, end: u32) -> Option<Piece> {
        let from = self.start.max(start);
        let windows = self.end().min(end).checked_sub(from)?;
        let [document, first] = self.first;
        (windows > 0).then_some(Piece {
            start: from,
            windows,
            first: [document, first + (from - self.start)],
        })
    }
}

/// Finds the copies of all documents.
pub struct Copies<'a> {
    /// The units of a window.
    window: u32,
    copied: &'a mut Sorter<Copied>,
    rows: DocumentCursor<'a, PassageRow>,
    document: u32,
    /// The last pieces that are repeated. Windows between them occur nowhere earlier.
    recent: VecDeque<Piece>,
    /// The last copy, which may go on.
    open: Option<Piece>,
    /// How often the copies that end occur.
    times: u32,
    /// The copies that ended: the first occurrence and the number of windows, and how often.
    ended: Vec<([u32; 3], u32)>,
}

impl<'a> Copies<'a> {
    /// Pushes the copies of windows of `window` units to `copied`.
    pub fn new(window: u32, copied: &'a mut Sorter<Copied>, table: &'a PassageTable) -> Copies<'a> {
        Copies {
            window,
            copied,
            rows: table.cursor(),
            document: 0,
            recent: VecDeque::new(),
            open: None,
            times: 1,
            ended: Vec::new(),
        }
    }

    /// Adds the next windows, in order of places. Of periodic windows, returns the largest piece of
    /// the text that they repeat, of several the first.
    ///
    /// # Errors
    /// Errors of temporary files.
    pub fn add(&mut self, repeat: &Repeat) -> Result<Option<Piece>> {
        if self.document != repeat.document {
            self.end_document()?;
            self.document = repeat.document;
        }
        let Repeat {
            start,
            windows,
            kept,
            ..
        } = *repeat;
        if repeat.count > 0 {
            if kept != [repeat.document, start] {
                self.push(start, windows, kept)?;
            }
            return Ok(None);
        }
        // If no copy is kept, there are also windows that are equal to later ones.
        match start.checked_sub(kept[1]).filter(|distance| *distance > 0) {
            Some(distance) => self.add_periodic(start, windows, distance),
            None => Ok(None),
        }
    }

    /// Adds windows that are equal to those `distance` earlier. A run of any length is as much work
    /// as a few of its periods.
    fn add_periodic(&mut self, start: u32, windows: u32, distance: u32) -> Result<Option<Piece>> {
        let base = self.pieces(start - distance, start);
        let (mut at, end) = (start, start + windows);
        // The periods after the second, but those that later windows may repeat.
        let skipped = (windows / distance).saturating_sub(3 + self.window / distance);
        for period in 0.. {
            if period == 1 && skipped > 0 {
                self.times = skipped + 1;
            }
            for piece in &base {
                let windows = piece.windows.min(end - at);
                if windows > 0 {
                    self.push(at, windows, piece.first)?;
                    at += windows;
                }
            }
            if period == 1 && skipped > 0 {
                self.times = 1;
                at += skipped * distance;
                if let Some(open) = &mut self.open {
                    open.start += skipped * distance;
                }
            }
            if at == end {
                break;
            }
        }
        let repeated = base.iter().filter_map(|piece| {
            piece.within(start - distance, (start - distance).saturating_add(windows))
        });
        Ok(
            repeated.reduce(|best, next| match next.windows > best.windows {
                true => next,
                false => best,
            }),
        )
    }

    /// The first occurrences of some of the last windows.
    fn pieces(&self, start: u32, end: u32) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let mut at = start;
        let own = |start: u32, end: u32| Piece {
            start,
            windows: end - start,
            first: [self.document, start],
        };
        let first = self.recent.partition_point(|piece| piece.end() <= start);
        for piece in self.recent.range(first..) {
            let Some(piece) = piece.within(start, end) else {
                break;
            };
            if at < piece.start {
                pieces.push(own(at, piece.start));
            }
            pieces.push(piece);
            at = piece.end();
        }
        if at < end {
            pieces.push(own(at, end));
        }
        pieces
    }

    fn push(&mut self, start: u32, windows: u32, first: [u32; 2]) -> Result<()> {
        while let Some(piece) = self.recent.front()
            && piece.end().saturating_add(self.window) < start
        {
            self.recent.pop_front();
        }
        let piece = Piece {
            start,
            windows,
            first,
        };
        self.recent.push_back(piece);
        match &mut self.open {
            Some(open)
                if open.end() == start
                    && [open.first[0], open.first[1] + open.windows] == first =>
            {
                open.windows += windows;
            }
            _ => {
                let ended = self.open.replace(piece);
                self.end(ended)?;
            }
        }
        Ok(())
    }

    fn end(&mut self, ended: Option<Piece>) -> Result<()> {
        if let Some(Piece { windows, first, .. }) = ended {
            self.ended.push(([first[0], first[1], windows], self.times));
            if self.ended.len() == MOST_HELD {
                self.store()?;
            }
        }
        Ok(())
    }

    /// Ends the current document.
    ///
    /// # Errors
    /// Errors of reading and of temporary files.
    pub fn end_document(&mut self) -> Result<()> {
        let ended = self.open.take();
        self.end(ended)?;
        self.recent.clear();
        self.store()
    }

    /// Pushes the copies that ended, equal ones together.
    fn store(&mut self) -> Result<()> {
        if self.ended.is_empty() {
            return Ok(());
        }
        self.ended.sort_unstable();
        let site = self.rows.row(self.document)?.site;
        for equal in self.ended.chunk_by(|(copy, _), (next, _)| copy == next) {
            let [document, start, windows] = equal[0].0;
            let copied = Copied {
                document,
                by: ByColour::Document as u32,
                colour: [0, self.document],
                start,
                end: start + windows,
                times: equal.iter().map(|(_, times)| *times).sum(),
            };
            self.copied.push(copied)?;
            if site != 0 {
                self.copied.push(Copied {
                    by: ByColour::Site as u32,
                    colour: [(site >> 32) as u32, site as u32],
                    times: 0,
                    ..copied
                })?;
            }
        }
        self.ended.clear();
        Ok(())
    }
}
