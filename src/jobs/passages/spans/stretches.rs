//! Ranges of repeated units, from repeated windows, and the kept units of each.

use super::job::KeptCopy;
use super::records::{KeptUnits, Repeat, UnitRange};
use crate::engine::Progress;
use crate::io::{Sorted, Sorter, Spool};
use crate::jobs::passages::ranges::Why;
use crate::{Error, ErrorKind, Result};

/// Ranges between two looks at whether to stop.
const CHECKED_RANGES: u32 = 1 << 16;
/// How often the first occurrence of a periodic window is sought in another one.
const MOST_STEPS: usize = 16;

/// Consecutive windows that repeat others in the same order.
#[derive(Clone, Copy)]
struct Stretch {
    document: u32,
    /// The first window, and the one after the last.
    start: u32,
    end: u32,
    kept: [u32; 2],
    count: u32,
}

/// How ranges are made.
pub struct Ranges<'a> {
    /// The units of a window.
    pub window: u32,
    /// Which copy stays.
    pub keep: KeptCopy,
    /// The number of documents to compare with, which come first.
    pub references: u32,
    /// Stops the run.
    pub progress: &'a Progress,
}

/// The ranges so far.
struct Growing<'a> {
    ranges: &'a mut Spool,
    kept: &'a mut Sorter<KeptUnits>,
    /// The stretches of the current document that are not periodic.
    own: Vec<Stretch>,
    /// The current range, with the stretch that its kept units are those of.
    range: Option<(UnitRange, Stretch)>,
    count: u32,
}

impl Stretch {
    fn is_periodic(&self) -> bool {
        self.count == 0
    }

    /// The windows of the stretch that continue in the same direction.
    fn continues(&self, repeat: &Repeat) -> bool {
        let [document, start] = self.kept;
        (self.document, self.end) == (repeat.document, repeat.start)
            && [document, start + (self.end - self.start)] == repeat.kept
            && self.is_periodic() == (repeat.count == 0)
    }

    /// How good the kept units of the stretch are for a range: those of periodic windows may be
    /// removed, and more are better.
    fn rank(&self) -> (bool, u32) {
        (!self.is_periodic(), self.end - self.start)
    }
}

impl Ranges<'_> {
    /// Appends the ranges to `ranges` in order, and pushes the kept units of each to `kept`. Returns
    /// the number of ranges.
    ///
    /// # Errors
    /// Those of temporary files; [`ErrorKind::Interrupted`].
    pub fn make(
        &self,
        repeats: Sorted<Repeat>,
        ranges: &mut Spool,
        kept: &mut Sorter<KeptUnits>,
    ) -> Result<u32> {
        let mut growing = Growing {
            ranges,
            kept,
            own: Vec::new(),
            range: None,
            count: 0,
        };
        let mut stretch: Option<Stretch> = None;
        for repeat in repeats {
            let repeat = repeat?;
            match &mut stretch {
                Some(stretch) if stretch.continues(&repeat) => {
                    stretch.end += repeat.windows;
                    stretch.count = stretch.count.max(repeat.count);
                }
                _ => {
                    let next = Stretch {
                        document: repeat.document,
                        start: repeat.start,
                        end: repeat.start + repeat.windows,
                        kept: repeat.kept,
                        count: repeat.count,
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
        Ok(growing.count)
    }

    /// Adds a stretch to the current range, or begins another one.
    fn add(&self, stretch: Stretch, growing: &mut Growing<'_>) -> Result<()> {
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
                if growing
                    .own
                    .first()
                    .is_some_and(|own| own.document != stretch.document)
                {
                    growing.own.clear();
                }
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
        if !stretch.is_periodic() && self.keep == KeptCopy::First {
            growing.own.push(stretch);
        }
        Ok(())
    }

    /// Ends the current range.
    fn end(&self, growing: &mut Growing<'_>) -> Result<()> {
        let Some((range, best)) = growing.range.take() else {
            return Ok(());
        };
        growing.ranges.append(bytemuck::bytes_of(&range))?;
        let kept = match best.is_periodic() {
            true => self.kept_of_periodic(&best, &growing.own),
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

    /// The place that stays of the text that periodic windows repeat, and its number of windows.
    fn kept_of_periodic(&self, stretch: &Stretch, own: &[Stretch]) -> Option<([u32; 2], u32)> {
        let mut at = stretch.kept;
        if self.keep == KeptCopy::None {
            return None;
        }
        let mut windows = (stretch.end - stretch.start).min(stretch.start.abs_diff(at[1]));
        for _ in 0..MOST_STEPS {
            if at[0] != stretch.document {
                return Some((at, windows));
            }
            let after = own.partition_point(|own| own.start <= at[1]);
            let around = after.checked_sub(1).and_then(|place| own.get(place));
            let Some(around) = around.filter(|own| at[1] < own.end) else {
                return Some((at, windows));
            };
            let offset = at[1] - around.start;
            windows = windows.min(around.end - at[1]);
            at = [around.kept[0], around.kept[1] + offset];
        }
        None
    }
}
