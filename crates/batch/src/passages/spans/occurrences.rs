//! How often passages occur, exactly.
//!
//! A passage is a run of windows none of which occurs earlier. So it occurs wherever a
//! [copy](super::copies) of its document begins at it or before it, and ends at it or after it:
//!
//! ```text
//! passage       ├────┤
//! copies      ├────────┤    contains it
//!               ├────┤      contains it
//!                 ├────┤    does not
//! ```
//!
//! The copies that contain a passage are counted in the order of their first windows, with sums by
//! the last ones. Documents and sites are counted once each: of the copies of one document, in order,
//! those that no other contains ascend at both ends, and a passage that is in two neighbours is in
//! what they have in common. So each such copy counts one, and each common part of neighbours minus
//! one.

use super::records::{ByColour, Copied, Point};
use crate::Result;
use crate::passages::first_reading::documents::{PassageRow, PassageTable};
use crate::table::document_table::DocumentCursor;
use simtool_engine::Progress;
use simtool_files::{Sorted, Sorter};

/// Records between two looks at whether to stop.
const CHECKED_RECORDS: u64 = 1 << 16;

/// The occurrences of a passage besides the first, and the documents and sites besides those of the
/// first that have one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Occurrences {
    /// Occurrences.
    pub count: u64,
    /// Documents.
    pub documents: u32,
    /// Sites.
    pub sites: u32,
}

impl Occurrences {
    fn add(&mut self, other: Occurrences) {
        // Parts may be negative.
        self.count = self.count.wrapping_add(other.count);
        self.documents = self.documents.wrapping_add(other.documents);
        self.sites = self.sites.wrapping_add(other.sites);
    }
}

/// Pushes what each copy adds to the occurrences of the passages in it.
///
/// # Errors
/// Errors of reading and of temporary files; [`ErrorKind::Interrupted`](crate::ErrorKind::Interrupted).
pub fn points(
    copied: Sorted<Copied>,
    table: &PassageTable,
    points: &mut Sorter<Point>,
    progress: &Progress,
) -> Result<()> {
    let mut rows = table.cursor();
    let mut last: Option<Copied> = None;
    let (mut document, mut site) = (None, [0; 2]);
    let mut seen = 0u64;
    for copy in copied {
        let copy = copy?;
        seen += 1;
        if seen.is_multiple_of(CHECKED_RECORDS) {
            progress.check()?;
        }
        if document != Some(copy.document) {
            document = Some(copy.document);
            let own = rows.row(copy.document)?.site;
            site = [(own >> 32) as u32, own as u32];
        }
        let is_document = copy.by == ByColour::Document as u32;
        let is_own = match is_document {
            true => copy.colour == [0, copy.document],
            false => copy.colour == site,
        };
        let point = |start: u32, end: u32, count: u32, colours: i32| Point {
            document: copy.document,
            start,
            end,
            count,
            documents: if is_document { colours as u32 } else { 0 },
            sites: if is_document { 0 } else { colours as u32 },
        };
        if is_own {
            if copy.times > 0 {
                points.push(point(copy.start, copy.end, copy.times, 0))?;
            }
            continue;
        }
        let group = |copy: &Copied| (copy.document, copy.by, copy.colour);
        let before = last.filter(|last| group(last) == group(&copy));
        let is_contained = before.is_some_and(|before| copy.end <= before.end);
        if copy.times > 0 || !is_contained {
            let colours = i32::from(!is_contained);
            points.push(point(copy.start, copy.end, copy.times, colours))?;
        }
        if is_contained {
            continue;
        }
        if let Some(before) = before.filter(|before| before.end > copy.start) {
            points.push(point(copy.start, before.end, 0, -1))?;
        }
        last = Some(copy);
    }
    Ok(())
}

/// Counts the occurrences of passages.
pub struct PassageCounter<'a> {
    points: std::iter::Peekable<Sorted<Point>>,
    rows: DocumentCursor<'a, PassageRow>,
    progress: &'a Progress,
    document: Option<u32>,
    /// What was added to the current document.
    all: Occurrences,
    /// Sums of what was added, by the ends of copies (Fenwick, "A new data structure for cumulative
    /// frequency tables", 1994).
    sums: Vec<Occurrences>,
    seen: u64,
}

impl<'a> PassageCounter<'a> {
    /// A counter with what [`points`] pushed.
    pub fn new(
        points: Sorted<Point>,
        table: &'a PassageTable,
        progress: &'a Progress,
    ) -> PassageCounter<'a> {
        PassageCounter {
            points: points.peekable(),
            rows: table.cursor(),
            progress,
            document: None,
            all: Occurrences::default(),
            sums: Vec::new(),
            seen: 0,
        }
    }

    /// The occurrences of a passage, given by its document, its first window and their number.
    /// Passages come in order of document and first window. O(log n) time for each copy.
    ///
    /// # Errors
    /// Errors of reading and of temporary files;
    /// [`ErrorKind::Interrupted`](crate::ErrorKind::Interrupted).
    pub fn of(&mut self, [document, start, windows]: [u32; 3]) -> Result<Occurrences> {
        if self.document != Some(document) {
            let units = self.rows.row(document)?.units as usize;
            self.document = Some(document);
            self.all = Occurrences::default();
            self.sums.clear();
            self.sums.resize(units + 2, Occurrences::default());
        }
        let is_before = |point: &Result<Point>| match point {
            Ok(point) => (point.document, point.start) <= (document, start),
            Err(_) => true,
        };
        while let Some(point) = self.points.next_if(is_before) {
            let point = point?;
            self.seen += 1;
            if self.seen.is_multiple_of(CHECKED_RECORDS) {
                self.progress.check()?;
            }
            if point.document == document {
                self.add(&point);
            }
        }
        // Those whose end is before that of the passage do not contain it.
        let mut place = (start + windows) as usize;
        let mut found = self.all;
        let mut others = Occurrences::default();
        while place > 0 {
            others.add(self.sums.get(place).copied().unwrap_or_default());
            place &= place - 1;
        }
        found.count = found.count.wrapping_sub(others.count);
        found.documents = found.documents.wrapping_sub(others.documents);
        found.sites = found.sites.wrapping_sub(others.sites);
        Ok(found)
    }

    fn add(&mut self, point: &Point) {
        let added = Occurrences {
            count: point.count.into(),
            documents: point.documents,
            sites: point.sites,
        };
        self.all.add(added);
        // An end at `e` is before all later ends.
        let mut place = point.end as usize + 1;
        while let Some(sum) = self.sums.get_mut(place) {
            sum.add(added);
            place += place & place.wrapping_neg();
        }
    }
}
