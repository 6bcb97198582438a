//! Fingerprints and ids of all pages.

use std::path::Path;
use std::sync::Mutex;

use super::count::UnitCount;
use super::kept::KeptWords;
use super::units::Unit;
use crate::Result;
use simtool_core::kernel::Level;
use simtool_core::kernel::accumulate::SignRows;
use simtool_core::search::hamming::Fingerprint;
use simtool_core::sketch::simhash::{ColumnSums, RankedFeatures};
use simtool_core::text::Windows;
use simtool_core::vocabulary::Lookup;
use simtool_corpus::form_feed::pages;
use simtool_engine::{Arena, Budget, Progress, Reservation, Workers};
use simtool_files::Table;

/// A fingerprint and an id for every page, in page order; in memory, or on disk if they do not fit.
pub(super) struct PageTable<'a, F> {
    fingerprints: Table<F>,
    /// All ids, end to end.
    ids: Table<u8>,
    /// Where each id ends.
    id_ends: Table<u64>,
    _memory: Option<Reservation<'a>>,
}

/// The features and rows that make fingerprints of words.
pub(super) struct FingerprintFeatures<'a> {
    /// All features.
    pub(super) features: &'a RankedFeatures,
    /// The rows of the slots of kept words.
    pub(super) kept_rows: &'a SignRows,
    /// Features that are not in the lexicon of the first reading.
    pub(super) late: Option<&'a RankedFeatures>,
    pub(super) level: Level,
}

/// The part of a page table for one unit.
struct PageTablePart<'a, F> {
    unit: Unit<'a>,
    kept: Option<KeptWords<'a>>,
    fingerprints: &'a mut [F],
    ids: &'a mut [u8],
    id_ends: &'a mut [u64],
    ids_before: u64,
}

impl<'a, F: Fingerprint> PageTable<'a, F> {
    /// A table for `pages` pages with `id_bytes` bytes of ids.
    fn new(pages: usize, id_bytes: usize, budget: &'a Budget, disk: &Path) -> Result<Self> {
        let bytes = pages * (size_of::<F>() + size_of::<u64>()) + id_bytes;
        // Half of the free memory is for the search.
        let memory = budget.reserve(bytes as u64, budget.free() / 2);
        Ok(match memory {
            Some(_) => PageTable {
                fingerprints: Table::in_memory(pages)?,
                ids: Table::in_memory(id_bytes)?,
                id_ends: Table::in_memory(pages)?,
                _memory: memory,
            },
            None => PageTable {
                fingerprints: Table::on_disk(pages, disk)?,
                ids: Table::on_disk(id_bytes, disk)?,
                id_ends: Table::on_disk(pages, disk)?,
                _memory: None,
            },
        })
    }

    pub(super) fn fingerprints(&self) -> &[F] {
        self.fingerprints.as_slice()
    }

    pub(super) fn id(&self, page: usize) -> &[u8] {
        let ends = self.id_ends.as_slice();
        let start = if page == 0 {
            0
        } else {
            ends[page - 1] as usize
        };
        self.ids
            .as_slice()
            .get(start..ends[page] as usize)
            .unwrap_or_default()
    }

    /// The mean length of an id.
    pub(super) fn mean_id_bytes(&self) -> usize {
        self.ids.as_slice().len() / self.id_ends.as_slice().len().max(1)
    }

    /// Whether the table did not fit into memory.
    pub(super) fn is_on_disk(&self) -> bool {
        self.fingerprints.is_on_disk()
    }

    /// Makes the table of all pages of `units`, from kept words or from the text.
    pub(super) fn read(
        workers: &Workers,
        progress: &Progress,
        units: &[Unit<'_>],
        (counts, arenas): (&[UnitCount], &[Arena<'_>]),
        sketching: &FingerprintFeatures<'_>,
        (budget, disk): (&'a Budget, &Path),
    ) -> Result<Self> {
        let pages = counts.iter().map(|count| count.pages).sum();
        let id_bytes = counts.iter().map(|count| count.id_bytes).sum();
        let mut table = PageTable::new(pages, id_bytes, budget, disk)?;
        let parts = table.split(units, counts, arenas);
        let start = || Scratch {
            text: (Windows::new(sketching.level), Lookup::default()),
            sums: ColumnSums::new(),
        };
        workers.for_each(progress, parts, start, |scratch, _, part| {
            progress.advance(part.unit.bytes.len() as u64);
            part.fill(sketching, scratch);
            Ok(())
        })?;
        Ok(table)
    }

    /// Splits the table into the parts of the units.
    fn split<'t>(
        &'t mut self,
        units: &[Unit<'t>],
        counts: &[UnitCount],
        arenas: &'t [Arena<'_>],
    ) -> Vec<PageTablePart<'t, F>> {
        let mut fingerprints = self.fingerprints.as_mut_slice();
        let mut ids = self.ids.as_mut_slice();
        let mut id_ends = self.id_ends.as_mut_slice();
        let mut ids_before = 0;
        let share = |(&unit, count): (&Unit<'t>, &UnitCount)| {
            let part = PageTablePart {
                unit,
                kept: count.words(arenas),
                fingerprints: fingerprints
                    .split_off_mut(..count.pages)
                    .unwrap_or_default(),
                ids: ids.split_off_mut(..count.id_bytes).unwrap_or_default(),
                id_ends: id_ends.split_off_mut(..count.pages).unwrap_or_default(),
                ids_before,
            };
            ids_before += count.id_bytes as u64;
            part
        };
        units.iter().zip(counts).map(share).collect()
    }
}

/// Counts pages and ids only, which is all that samples need before their fingerprints.
pub(super) fn survey(
    workers: &Workers,
    progress: &Progress,
    units: &[Unit<'_>],
) -> Result<Vec<UnitCount>> {
    let found = Mutex::new(vec![UnitCount::default(); units.len()]);
    workers.for_each(
        progress,
        units.to_vec(),
        || (),
        |(), number, unit| {
            let mut count = UnitCount::default();
            for page in pages(unit.bytes) {
                count.pages += 1;
                count.id_bytes += page.id.len();
            }
            found.lock().unwrap_or_else(|broken| broken.into_inner())[number] = count;
            Ok(())
        },
    )?;
    Ok(found
        .into_inner()
        .unwrap_or_else(|broken| broken.into_inner()))
}

struct Scratch {
    text: (Windows, Lookup),
    sums: ColumnSums,
}

impl<F: Fingerprint> PageTablePart<'_, F> {
    fn fill(mut self, sketching: &FingerprintFeatures<'_>, scratch: &mut Scratch) {
        match self.kept {
            Some(words) => {
                for (number, page) in words.pages().enumerate() {
                    scratch.sums.add(sketching.kept_rows, page.slots);
                    if let Some(late) = sketching.late {
                        let lookup = &mut scratch.text.1;
                        late.add_words(page.keys, page.terms, lookup, &mut scratch.sums);
                    }
                    self.enter(number, page.id, &mut scratch.sums);
                }
            }
            None => {
                for (number, page) in pages(self.unit.bytes).enumerate() {
                    sketching
                        .features
                        .add_text(page.text, &mut scratch.text, &mut scratch.sums);
                    self.enter(number, page.id, &mut scratch.sums);
                }
            }
        }
    }

    fn enter(&mut self, number: usize, id: &[u8], sums: &mut ColumnSums) {
        // An input that changes during the run may have other pages than before. The run will fail;
        // until then, nothing may be written outside the part.
        let last_end = number
            .checked_sub(1)
            .and_then(|last| self.id_ends.get(last));
        let before = last_end.map_or(self.ids_before, |&end| end.max(self.ids_before));
        let place = (before - self.ids_before) as usize;
        if let (Some(fingerprint), Some(ids)) = (
            self.fingerprints.get_mut(number),
            self.ids.get_mut(place..place + id.len()),
        ) {
            *fingerprint = F::truncate(sums.take_fingerprint());
            ids.copy_from_slice(id);
            self.id_ends[number] = before + id.len() as u64;
        }
    }
}
