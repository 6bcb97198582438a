//! Ranges of repeated units, from repeated windows, and the kept units of each.

use super::copies::{Copies, Piece};
use super::records::{KeptUnits, Repeat, UnitRange};
use crate::passages::decisions::ranges::Why;
use crate::{Error, ErrorKind, Result};
use simtool_engine::Progress;
use simtool_files::{Sorted, Sorter, Spool};

/// Ranges between two looks at whether to stop.
const CHECKED_RANGES: u32 = 1 << 16;

/// Consecutive windows that repeat others in the same order.
#[derive(Clone, Copy)]
struct RepeatedStretch {
    document: u32,
    /// The first window, and the one after the last.
    start: u32,
    end: u32,
    kept: [u32; 2],
    count: u32,
    /// Of periodic windows: the largest piece of the text that they repeat.
    base: Option<Piece>,
}

/// How ranges are made.
pub struct Ranges<'a> {
    /// The units of a window.
    pub window: u32,
    /// The number of documents to compare with, which come first.
    pub references: u32,
    /// Stops the run.
    pub progress: &'a Progress,
}

/// The ranges so far.
struct GrowingRanges<'a> {
    ranges: &'a mut Spool,
    kept: &'a mut Sorter<KeptUnits>,
    copies: Copies<'a>,
    /// The current range, with the stretch from which its kept copy is taken.
    range: Option<(UnitRange, RepeatedStretch)>,
    count: u32,
}

impl RepeatedStretch {
    fn is_periodic(&self) -> bool {
        self.count == 0
    }

    /// Whether `repeat` continues the stretch, in the text and at the kept place.
    fn continues(&self, repeat: &Repeat) -> bool {
        let [document, start] = self.kept;
        (self.document, self.end) == (repeat.document, repeat.start)
            && [document, start + (self.end - self.start)] == repeat.kept
            && self.is_periodic() == (repeat.count == 0)
    }

    /// Of the stretches of a range, the one with the highest rank gives the kept copy: kept units of
    /// periodic windows may be removed themselves, and more units are better.
    fn rank(&self) -> (bool, u32) {
        (!self.is_periodic(), self.end - self.start)
    }
}

impl Ranges<'_> {
    /// Appends the ranges to `ranges` in order, and pushes the kept units of each to `kept`; passes
    /// all windows to `copies`. Returns the number of ranges.
    ///
    /// # Errors
    /// Errors of temporary files; [`ErrorKind::Interrupted`].
    pub fn make(
        &self,
        repeats: Sorted<Repeat>,
        ranges: &mut Spool,
        kept: &mut Sorter<KeptUnits>,
        copies: Copies<'_>,
    ) -> Result<u32> {
        let mut growing = GrowingRanges {
            ranges,
            kept,
            copies,
            range: None,
            count: 0,
        };
        let mut stretch: Option<RepeatedStretch> = None;
        for repeat in repeats {
            let repeat = repeat?;
            match &mut stretch {
                Some(stretch) if stretch.continues(&repeat) => {
                    stretch.end += repeat.windows;
                    stretch.count = stretch.count.max(repeat.count);
                }
                _ => {
                    let next = RepeatedStretch {
                        document: repeat.document,
                        start: repeat.start,
                        end: repeat.start + repeat.windows,
                        kept: repeat.kept,
                        count: repeat.count,
                        base: None,
                    };
                    if let Some(stretch) = stretch.replace(next) {
                        self.add(stretch, &mut growing)?;
                    }
                }
            }
        }
        if let Some(stretch) = stretch {
            self.add(stretch, &mut growing)?;
        }
        self.end(&mut growing)?;
        growing.copies.end_document()?;
        Ok(growing.count)
    }

    /// Adds a stretch to the current range, or begins another one.
    fn add(&self, mut stretch: RepeatedStretch, growing: &mut GrowingRanges<'_>) -> Result<()> {
        stretch.base = growing.copies.add(&Repeat {
            document: stretch.document,
            start: stretch.start,
            windows: stretch.end - stretch.start,
            kept: stretch.kept,
            count: stretch.count,
        })?;
        if stretch.document < self.references {
            return Ok(());
        }
        let end = stretch.end - 1 + self.window;
        let why = match stretch.kept[0] < self.references {
            true => Why::Against,
            false => Why::Repeated,
        };
        let count = match stretch.is_periodic() {
            true => {
                let distance = stretch.start.abs_diff(stretch.kept[1]).max(1);
                (stretch.end - stretch.start).div_ceil(distance) + 1
            }
            false => stretch.count,
        };
        match &mut growing.range {
            Some((range, best))
                if range.document == stretch.document && stretch.start <= range.end =>
            {
                range.end = range.end.max(end);
                range.count = range.count.max(count);
                range.why = range.why.min(why as u32);
                if stretch.rank() > best.rank() {
                    *best = stretch;
                }
            }
            _ => {
                self.end(growing)?;
                let range = UnitRange {
                    document: stretch.document,
                    start: stretch.start,
                    end,
                    count,
                    why: why as u32,
                };
                growing.range = Some((range, stretch));
            }
        }
        Ok(())
    }

    /// Ends the current range.
    fn end(&self, growing: &mut GrowingRanges<'_>) -> Result<()> {
        let Some((range, best)) = growing.range.take() else {
            return Ok(());
        };
        growing.ranges.append(bytemuck::bytes_of(&range))?;
        let kept = match best.is_periodic() {
            true => best.base.map(|base| (base.first, base.windows())),
            false => Some((best.kept, best.end - best.start)),
        };
        if let Some(([document, start], windows)) = kept {
            growing.kept.push(KeptUnits {
                document,
                start,
                units: windows - 1 + self.window,
                range: growing.count,
            })?;
        }
        growing.count = growing.count.checked_add(1).ok_or_else(|| {
            let message = "more than 4 billion repeated ranges: give a larger --min";
            Error::new(ErrorKind::Parameter, message)
        })?;
        if growing.count.is_multiple_of(CHECKED_RANGES) {
            self.progress.check()?;
        }
        Ok(())
    }
}
