//! The first readings: the documents of all inputs, and the places of anchors that may be repeated.
//!
//! The first reading stores a row for each document and fills a table of the anchors that were seen
//! twice. It also keeps the places of all anchors while they fit into memory. If they do not, a
//! second reading collects those of the anchors in the table.

use std::sync::atomic::{AtomicBool, Ordering};

use bytemuck::{NoUninit, cast_slice};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use crate::Result;
use crate::passages::first_reading::documents::ChunkRows;
use crate::passages::first_reading::kept_chunks::KeptChunks;
use crate::passages::first_reading::reading::{Collection, FirstReading};
use crate::passages::first_reading::seen_twice::SeenTwice;
use crate::passages::settings::kept_occurrence::KeptOccurrence;
use crate::passages::spans::job::SpansJob;
use crate::passages::spans::records::{AnchorPlace, Repeat};
use crate::passages::spans::units::{UnitCutter, UnitVisitor};
use crate::skeleton::context::RunContext;
use crate::table::chunk_records::ChunkRecords;
use crate::table::numbering::Numbering;
use simtool_core::kernel::Level;
use simtool_core::text::anchors::{Anchor, AnchorReader, Found, Lengths, Unit};
use simtool_engine::documents::ChunkDocuments;
use simtool_files::Sorter;

/// Anchors whose words of the table are requested ahead.
const AHEAD: usize = 16;
/// Anchors that are looked up at a time.
const RECENT: usize = 1024;

/// What is collected in a chunk: places of anchors, and periodic windows.
pub type Collected = (Vec<AnchorPlace>, Vec<Repeat>);

/// Which anchors a reading collects.
#[derive(Clone, Copy)]
pub enum WantedAnchors<'a> {
    /// All of them: each is added to the table, and its place is collected while the flag is true.
    All(&'a SeenTwice, &'a AtomicBool),
    /// Those in the table, and perhaps periodic windows.
    Repeated(&'a SeenTwice, bool),
}

/// Stores the rows and labels of all documents that are not stored yet, and adds all their anchors to
/// `table`. Returns the places of all anchors, if none is lost and they have at most `most_bytes`
/// bytes. Adds periodic windows to `periodic`, unless some are lost.
///
/// # Errors
/// Errors of reading and writing; [`ErrorKind::Interrupted`](crate::ErrorKind::Interrupted).
pub fn first_reading(
    job: &SpansJob,
    run: RunContext<'_>,
    (reading, table): (&mut FirstReading<'_>, &SeenTwice),
    most_bytes: usize,
    periodic: &mut ChunkRecords<Repeat>,
) -> Result<Option<KeptChunks<AnchorPlace>>> {
    let is_resumed = reading.is_resumed();
    let is_kept = AtomicBool::new(!is_resumed);
    let wanted = WantedAnchors::All(table, &is_kept);
    let mut kept = KeptChunks::new(most_bytes);
    let mut collect = |place, (places, found): Collected| {
        if !is_resumed {
            periodic.add(place, &found)?;
        }
        if is_kept.load(Ordering::Relaxed) {
            is_kept.store(kept.add(place, places), Ordering::Relaxed);
        }
        Ok(())
    };
    let start = || AnchorFinder::new(job, run.resources.level, wanted);
    for collection in [Collection::References, Collection::Input] {
        reading.read(
            collection,
            &start,
            &AnchorFinder::first,
            &mut collect,
            Some(table),
        )?;
    }
    Ok(is_kept.into_inner().then_some(kept))
}

/// Pushes the places of the anchors in `table` to `places`, and periodic windows to `repeats` if there
/// are any.
///
/// # Errors
/// [`ErrorKind::Changed`](crate::ErrorKind::Changed) if a source is not as it was; those of reading
/// and writing; [`ErrorKind::Interrupted`](crate::ErrorKind::Interrupted).
pub fn second_reading(
    job: &SpansJob,
    run: RunContext<'_>,
    table: &SeenTwice,
    numbering: &Numbering<'_>,
    places: &mut Sorter<AnchorPlace>,
    mut repeats: Option<&mut Sorter<Repeat>>,
) -> Result<()> {
    let wanted = WantedAnchors::Repeated(table, repeats.is_some());
    let work = |reader: &mut AnchorFinder<'_>, documents: ChunkDocuments<'_>| {
        let first = numbering
            .numbers_of(documents.chunk, documents.source)?
            .start;
        let mut number = 0;
        documents.for_each(|document| {
            if let Ok(document) = document {
                reader.document(document.text, number);
            }
            number += 1;
            Ok(())
        })?;
        let (mut found, periodic) = reader.take();
        number_from(first, &mut found);
        Ok((found, first, periodic))
    };
    let pipeline = run.pipeline();
    pipeline.run_documents(
        &pipeline.units(),
        || AnchorFinder::new(job, run.resources.level, wanted),
        work,
        |_, (found, first, periodic)| {
            if let Some(repeats) = &mut repeats {
                push_periodic(first, periodic, repeats)?;
            }
            places.push_all(&found)
        },
    )
}

/// Numbers the documents of a chunk whose first one is `first`.
pub fn number_from(first: u32, places: &mut [AnchorPlace]) {
    for place in places {
        place.document += first;
    }
}

/// Pushes periodic windows of a chunk whose first document is `first`.
///
/// # Errors
/// Errors of the sorter.
pub fn push_periodic(
    first: u32,
    periodic: Vec<Repeat>,
    repeats: &mut Sorter<Repeat>,
) -> Result<()> {
    periodic.into_iter().try_for_each(|repeat| {
        let [document, start] = repeat.kept;
        repeats.push(Repeat {
            document: repeat.document + first,
            kept: [document + first, start],
            ..repeat
        })
    })
}

/// The key of an anchor in the table. Hashes of anchors are small ones, so their highest bits are
/// not used.
pub fn key(id: u64) -> [u64; 2] {
    [id, id.wrapping_mul(0x9e37_79b9_7f4a_7c15)]
}

/// Finds the anchors of chunks; one for each thread.
pub struct AnchorFinder<'a> {
    cutter: UnitCutter,
    collector: AnchorCollector<'a>,
}

/// Collects the anchors of texts.
struct AnchorCollector<'a> {
    anchors: AnchorReader,
    found: FoundAnchors<'a>,
}

/// What was found in the texts of a chunk.
struct FoundAnchors<'a> {
    wanted: WantedAnchors<'a>,
    lengths: Lengths,
    keeps_none: bool,
    /// The last anchors of the current document.
    recent: Vec<Anchor>,
    /// The number of the current document in its chunk.
    document: u32,
    places: Vec<AnchorPlace>,
    periodic: Vec<Repeat>,
}

impl<'a> AnchorFinder<'a> {
    /// A reader of anchors for a job.
    pub fn new(job: &SpansJob, level: Level, wanted: WantedAnchors<'a>) -> AnchorFinder<'a> {
        let lengths = Lengths::new(job.least.units());
        AnchorFinder {
            cutter: UnitCutter::new(job, level),
            collector: AnchorCollector {
                anchors: AnchorReader::new(lengths),
                found: FoundAnchors {
                    wanted,
                    lengths,
                    keeps_none: job.keep == KeptOccurrence::None,
                    recent: Vec::with_capacity(RECENT),
                    document: 0,
                    places: Vec::new(),
                    periodic: Vec::new(),
                },
            },
        }
    }

    /// The rows and labels of a chunk, and what was collected in it.
    ///
    /// # Errors
    /// None that depends on the documents.
    pub fn first(&mut self, documents: ChunkDocuments<'_>) -> Result<(ChunkRows, Collected)> {
        let rows = ChunkRows::read(documents, |_, document, number, row| {
            let units = self.document(document.text, number);
            row.units = u32::try_from(units).unwrap_or(u32::MAX);
            row.unit_bytes = document.text.trim_ascii().len() as u64;
            Ok(())
        })?;
        Ok((rows, self.take()))
    }

    /// Collects the anchors of a document; returns the number of its units.
    fn document(&mut self, text: &[u8], number: u32) -> usize {
        self.collector.found.document = number;
        self.cutter.cut(text, &mut self.collector)
    }

    fn take(&mut self) -> Collected {
        let found = &mut self.collector.found;
        let mut places = std::mem::take(&mut found.places);
        places.shrink_to_fit();
        (places, std::mem::take(&mut found.periodic))
    }
}

impl UnitVisitor for AnchorCollector<'_> {
    fn visit<U: Unit + NoUninit>(&mut self, units: &[U]) {
        let all = &mut self.found;
        self.anchors.for_each(units, |found| match found {
            Found::Anchor(anchor) => {
                all.recent.push(anchor);
                if all.recent.len() == RECENT {
                    all.select(units);
                }
            }
            Found::Periodic {
                first,
                windows,
                distance,
            } => all.add_periodic(first, windows, distance),
        });
        all.select(units);
    }
}

impl FoundAnchors<'_> {
    /// Adds the wanted ones of the last anchors.
    fn select<U: Unit + NoUninit>(&mut self, units: &[U]) {
        let mut recent = std::mem::take(&mut self.recent);
        match self.wanted {
            WantedAnchors::All(table, is_kept) => {
                table.insert_all(&recent, |anchor| key(anchor.id));
                if is_kept.load(Ordering::Relaxed) {
                    for anchor in &recent {
                        let place = self.place(units, anchor);
                        self.places.push(place);
                    }
                }
            }
            WantedAnchors::Repeated(table, _) => {
                for (number, anchor) in recent.iter().enumerate() {
                    if let Some(next) = recent.get(number + AHEAD) {
                        table.prefetch(key(next.id));
                    }
                    if table.is_repeated(key(anchor.id)) {
                        let place = self.place(units, anchor);
                        self.places.push(place);
                    }
                }
            }
        }
        recent.clear();
        self.recent = recent;
    }

    /// Adds windows that begin `distance` units after equal ones.
    fn add_periodic(&mut self, first: usize, windows: usize, distance: usize) {
        if matches!(self.wanted, WantedAnchors::Repeated(_, false)) {
            return;
        }
        let document = self.document;
        let repeat = |start: usize, kept: usize| Repeat {
            document,
            start: start as u32,
            windows: windows as u32,
            kept: [document, kept as u32],
            count: 0,
        };
        self.periodic.push(repeat(first, first - distance));
        if self.keeps_none {
            self.periodic.push(repeat(first - distance, first));
        }
    }

    /// The place of an anchor, with its context.
    fn place<U: Unit + NoUninit>(&self, units: &[U], anchor: &Anchor) -> AnchorPlace {
        let Anchor {
            id,
            at,
            first,
            windows,
        } = *anchor;
        let (window, gram) = (self.lengths.window(), self.lengths.gram());
        // Texts, and so numbers of units, are below 2³¹.
        let before = (at - first) as u32;
        let seed = u64::from(before) << 32 | windows as u64;
        let context = &units[first..first + windows - 1 + window];
        let half = (window - gram) / 2;
        let hash =
            |range: Option<&[U]>| range.map_or(0, |units| xxh3_64(cast_slice(units)) as u32 | 1);
        let left = at.checked_sub(half).map(|start| &units[start..at + gram]);
        AnchorPlace {
            id,
            context: xxh3_64_with_seed(cast_slice(context), seed),
            document: self.document,
            first: first as u32,
            before,
            windows: windows as u32,
            sides: [hash(left), hash(units.get(at..at + gram + half))],
        }
    }
}
