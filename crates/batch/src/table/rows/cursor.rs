//! Rows at numbers that mostly ascend.

use super::file::RowFile;
use crate::Result;
use crate::table::row::TableRow;

/// Rows that are read at once, if one is soon after the previous one.
const AHEAD: usize = 512;

/// Reads rows, and more of them at once while numbers ascend in small steps.
///
/// Other numbers cost one read each.
#[derive(Debug)]
pub struct RowCursor<'a, R> {
    file: &'a RowFile<R>,
    /// The number of the first row held.
    first: u64,
    held: Vec<R>,
    /// The number asked for last; before the first question, as far away as possible.
    last: u64,
}

impl<'a, R: TableRow> RowCursor<'a, R> {
    /// A reader of `file`.
    pub fn new(file: &'a RowFile<R>) -> RowCursor<'a, R> {
        RowCursor {
            file,
            first: 0,
            held: Vec::new(),
            last: u64::MAX,
        }
    }

    /// Row number `number`.
    ///
    /// # Errors
    /// Errors of [`RowFile::get`].
    pub fn get(&mut self, number: u64) -> Result<R> {
        let step = number.checked_sub(self.last);
        self.last = number;
        let held = |cursor: &Self| {
            let place = number.checked_sub(cursor.first)?;
            cursor.held.get(usize::try_from(place).ok()?).copied()
        };
        if let Some(row) = held(self) {
            return Ok(row);
        }
        if step.is_none_or(|step| step >= AHEAD as u64) {
            return self.file.get(number);
        }
        self.file.read(number, AHEAD, &mut self.held)?;
        self.first = number;
        // There is none; reading it gives the error.
        held(self).map_or_else(|| self.file.get(number), Ok)
    }
}
