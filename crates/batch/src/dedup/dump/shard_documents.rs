//! The documents that are written as shards.

use crate::Result;
use crate::shards::{ShardDocuments, StreamDocuments};
#[cfg(feature = "parquet")]
use simtool_corpus::Place;
#[cfg(feature = "parquet")]
use simtool_files::RecordCursor;

use crate::dedup::settings::job::REMOVED;
use crate::table::bits::Bits;
use crate::table::document_table::DocumentTable;
use crate::table::numbering::Numbering;
use crate::table::row::{Flags, Row};

impl ShardDocuments for DocumentTable {
    #[cfg(feature = "parquet")]
    fn places(&self) -> Box<dyn FnMut(u32) -> Result<Place> + '_> {
        let mut rows = RecordCursor::new(&self.rows);
        Box::new(move |number| Ok(rows.get(number.into())?.place))
    }
}

/// The documents of the stream in a directory: those of the input that stay, or those that are
/// `dropped`; without those that could not be read. The first `references` sources are compared with
/// only.
///
/// # Errors
/// [`ErrorKind::Read`](crate::ErrorKind::Read).
pub fn of_stream(
    directory: &'static str,
    gathered: &DocumentTable,
    numbering: &Numbering<'_>,
    references: u32,
    dropped: &Bits,
) -> Result<StreamDocuments> {
    let references = numbering.documents_before(references);
    let is_removed = directory == REMOVED;
    let (mut numbers, mut count) = (Bits::none_of(numbering.documents()), 0);
    gathered.rows.for_each_block(8192, |first, rows: &[Row]| {
        for (number, row) in (first as u32..).zip(rows) {
            let is_read = number >= references && !row.flags.has(Flags::SKIPPED);
            if is_read && dropped.contains(number) == is_removed {
                numbers.insert(number);
                count += 1;
            }
        }
        Ok(())
    })?;
    Ok(StreamDocuments {
        directory,
        numbers,
        count,
    })
}
