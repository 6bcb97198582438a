//! What was found of each item, for the reports.

use super::counts::ItemCount;
use super::grams::Grams;
use super::tables::ReferenceTables;
use crate::passages::decisions::item::ItemRecord;
use crate::passages::decontaminate::index::Index;
use crate::table::numbering::Numbering;

/// What was found of each item, after all finders have ended.
pub fn item_records(
    tables: &ReferenceTables,
    grams: &Grams,
    numbering: &Numbering<'_>,
) -> Vec<ItemRecord> {
    let index = &tables.index;
    let edited = tables.edited.as_ref().map(|edited| &edited.index);
    let edited = edited.map(|index| (index, grams.edited.finish(index)));
    let mut own = Vec::new();
    let counts = grams.counts.finish(index).into_iter().enumerate();
    let records = counts.map(|(number, counted)| {
        index.grams_of(number, &mut own);
        let count = |is: &dyn Fn(u32) -> bool| own.iter().filter(|gram| is(**gram)).count() as u32;
        let mut record = ItemRecord {
            found: match tables.weights {
                None => count(&|gram| grams.is_found(gram)),
                Some(_) => counted.best_found,
            },
            ignored: count(&|gram| grams.is_ignored(gram)),
            ..record(index, number, own.len(), &counted, numbering)
        };
        if let Some((index, counts)) = &edited {
            index.grams_of(number, &mut own);
            record.add_edited(&self::record(
                index,
                number,
                own.len(),
                &counts[number],
                numbering,
            ));
        }
        record
    });
    records.collect()
}

/// What documents have of the item `number`, which has `grams` different n-grams of `index`.
fn record(
    index: &Index,
    number: usize,
    grams: usize,
    counted: &ItemCount,
    numbering: &Numbering<'_>,
) -> ItemRecord {
    let (place, ordinal) = counted.best;
    let first = numbering.first_in(place).ok();
    ItemRecord {
        document: index.items.items[number].document,
        words: index.items.words_of(number).len() as u32,
        grams: grams as u32,
        found: counted.best_found,
        ignored: 0,
        documents: counted.documents,
        best: first.map_or(0, |first| first + ordinal),
        best_found: counted.best_found,
        best_start: counted.best_bytes[0],
        best_end: counted.best_bytes[1],
        is_edited: 0,
    }
}
