//! Documents of which too little remains.

use std::ops::Range;

use super::ranges::{RangesOfDocuments, RemovedRange};
use crate::Result;
use crate::passages::search::PassageSearch;
use crate::skeleton::context::RunContext;
use crate::table::bits::Bits;
use crate::table::numbering::Numbering;
use simtool_core::sketch::Needs;
use simtool_core::text::units::cut;
use simtool_engine::documents::ChunkDocuments;
use simtool_engine::text_words::WordReader;
use simtool_files::RecordFile;

/// Reads the documents with removed ranges again, and adds those of which too little remains to
/// `dropped`.
///
/// # Errors
/// [`ErrorKind::Changed`](crate::ErrorKind::Changed) if a source is not as it was; those of
/// reading; [`ErrorKind::Interrupted`](crate::ErrorKind::Interrupted).
pub fn drop_too_little<S: PassageSearch>(
    search: &S,
    run: RunContext<'_>,
    numbering: &Numbering<'_>,
    ranges: &RecordFile<RemovedRange>,
    dropped: &mut Bits,
) -> Result<()> {
    let remains = search.common().remains;
    let level = run.resources.level;
    let start = || WordReader::new(remains.tokenizer, Needs::HASHES, level);
    let work = |words: &mut WordReader, documents: ChunkDocuments<'_>| {
        let numbers = numbering.numbers_of(documents.chunk, documents.source)?;
        let first = numbers.start;
        let removed = RangesOfDocuments::read(ranges, numbers)?;
        let mut short = Vec::new();
        let is_wanted = |ordinal| !removed.of(first.saturating_add(ordinal)).is_empty();
        documents.for_each_wanted(is_wanted, |ordinal, document| {
            let number = first.saturating_add(ordinal);
            if let Ok(document) = document {
                let own: Vec<Range<usize>> = removed.bytes_of(number).collect();
                let rest = cut(document.text, &own, search.removes_blank_lines());
                short.extend(remains.are_missed_by(words, &rest).then_some(number));
            }
            Ok(())
        })?;
        Ok(short)
    };
    let pipeline = run.pipeline();
    pipeline.run_documents(&pipeline.units(), start, work, |_, short: Vec<u32>| {
        short.iter().for_each(|number| dropped.insert(*number));
        Ok(())
    })
}
