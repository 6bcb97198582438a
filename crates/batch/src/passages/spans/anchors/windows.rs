//! The third reading: windows of leaders, and where each of them occurs first.
//!
//! Hashes of windows are divided by anchor into a fixed number of parts, in memory or in temporary
//! files. Most anchors have few leaders, whose windows are compared with each other. The windows of
//! others are looked up in a table; if they exceed the memory, some of them at a time, by hash.

use std::collections::HashMap;
use std::collections::hash_map::Entry as MapEntry;

use bytemuck::{NoUninit, cast_slice, cast_slice_mut};

use crate::passages::decisions::ranges::RangesOfDocuments;
use crate::passages::settings::kept_occurrence::KeptOccurrence;
use crate::passages::spans::job::SpansJob;
use crate::passages::spans::memory;
use crate::passages::spans::records::{ClassLeader, LeaderPart, Repeat};
use crate::passages::spans::units::{UnitCutter, UnitVisitor};
use crate::skeleton::context::RunContext;
use crate::table::numbering::Numbering;
use crate::{Error, ErrorKind, Result};
use simtool_core::text::anchors::{Lengths, Unit};
use simtool_engine::Progress;
use simtool_engine::documents::ChunkDocuments;
use simtool_engine::spill_space::SpillSpace;
use simtool_files::{RecordFile, Sorter, Spool, Spooled};

/// The number of parts.
const DIVISIONS: usize = 16;
/// The memory of a window in the table, at most.
const WINDOW_BYTES: u64 = 64;
/// The numbers of an entry before its hashes.
const HEAD: usize = 4;
/// The memory of an entry in the list of all, at most.
const LISTED_BYTES: u64 = 16;
/// The most leaders of an anchor whose windows are compared with each other without a table.
const FEW: usize = 16;
/// The numbers that are read at a time.
const BLOCK: usize = 1 << 17;
/// Odd numbers without a pattern: digits of the roots of 2 and 3.
const STEP: u64 = 0x6a09_e667_f3bc_c909;
const MIX: u64 = 0xbb67_ae85_84ca_a73b;

/// The windows of leaders.
pub struct WindowHashes(Vec<Division>);

/// The windows of some anchors: for each leader an entry of its numbers and the hashes of its
/// windows, in the order of places.
enum Division {
    Memory(Vec<u64>),
    Disk(Spooled),
}

/// A division that is written.
enum GrowingDivision {
    Memory(Vec<u64>),
    Disk(Spool),
}

/// A leader as the first numbers of an entry.
fn numbers_of(leader: &ClassLeader) -> [u64; HEAD] {
    let pair = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
    [
        leader.id,
        pair(leader.document, leader.first),
        pair(leader.before, leader.windows),
        leader.places.into(),
    ]
}

/// The leader of an entry with these first numbers.
fn leader_of([id, place, windows, places]: [u64; HEAD]) -> ClassLeader {
    let high = |pair: u64| (pair >> 32) as u32;
    ClassLeader {
        document: high(place),
        first: place as u32,
        before: high(windows),
        windows: windows as u32,
        id,
        places: places as u32,
        _reserved: 0,
    }
}

/// Reads the windows of `leaders`, which are `count` with `windows` windows together.
///
/// # Errors
/// [`ErrorKind::Changed`] if a source is not as it was; those of reading and writing;
/// [`ErrorKind::Interrupted`].
pub fn third_reading(
    job: &SpansJob,
    run: RunContext<'_>,
    numbering: &Numbering<'_>,
    leaders: &RecordFile<ClassLeader>,
    (count, windows): (u64, u64),
    space: SpillSpace<'_>,
) -> Result<WindowHashes> {
    let bytes = 8 * (count * HEAD as u64 + windows);
    // A list that grows may have twice its size for a moment.
    let fits = bytes <= space.bytes(memory::HASHES) as u64 / 2;
    let mut divisions = Vec::with_capacity(DIVISIONS);
    for _ in 0..DIVISIONS {
        divisions.push(match fits {
            true => GrowingDivision::Memory(Vec::new()),
            false => GrowingDivision::Disk(space.spool()?),
        });
    }
    let work = |reader: &mut LeaderReader, documents: ChunkDocuments<'_>| {
        let numbers = numbering.numbers_of(documents.chunk, documents.source)?;
        let first = numbers.start;
        let own = RangesOfDocuments::read(leaders, numbers)?;
        let is_wanted = |ordinal| !own.of(first.saturating_add(ordinal)).is_empty();
        documents.for_each_wanted(is_wanted, |ordinal, document| {
            if let Ok(document) = document {
                let leaders = own.of(first.saturating_add(ordinal));
                reader.document(document.text, leaders)?;
            }
            Ok(())
        })?;
        Ok(std::mem::take(&mut reader.hasher.found))
    };
    run.pipeline().run_documents_in_order(
        || LeaderReader::new(job, run),
        work,
        |found: Vec<u64>| {
            let mut rest = &found[..];
            while let Some((entry, behind)) = split_entry(rest) {
                let division = entry[0].wrapping_mul(MIX) as u128 * DIVISIONS as u128;
                match &mut divisions[(division >> 64) as usize] {
                    GrowingDivision::Memory(numbers) => numbers.extend_from_slice(entry),
                    GrowingDivision::Disk(spool) => drop(spool.append(cast_slice(entry))?),
                }
                rest = behind;
            }
            Ok(())
        },
    )?;
    let mut all = Vec::with_capacity(DIVISIONS);
    for division in divisions {
        all.push(match division {
            GrowingDivision::Memory(numbers) => Division::Memory(numbers),
            GrowingDivision::Disk(spool) => Division::Disk(spool.finish()?),
        });
    }
    Ok(WindowHashes(all))
}

/// The first entry of some numbers, and the rest; `None` if it is not complete.
fn split_entry(numbers: &[u64]) -> Option<(&[u64], &[u64])> {
    let leader = leader_of(*numbers.first_chunk()?);
    numbers.split_at_checked(HEAD + leader.windows as usize)
}

/// Hashes the windows of leaders; one for each thread.
struct LeaderReader {
    cutter: UnitCutter,
    hasher: WindowHasher,
}

struct WindowHasher {
    lengths: Lengths,
    /// The leaders of the current document.
    leaders: Vec<ClassLeader>,
    /// Hashes of the units before an anchor.
    lefts: Vec<u64>,
    found: Vec<u64>,
    /// Whether a leader is not in its text.
    is_misplaced: bool,
}

impl LeaderReader {
    fn new(job: &SpansJob, run: RunContext<'_>) -> LeaderReader {
        LeaderReader {
            cutter: UnitCutter::new(job, run.resources.level),
            hasher: WindowHasher {
                lengths: Lengths::new(job.least.units()),
                leaders: Vec::new(),
                lefts: Vec::new(),
                found: Vec::new(),
                is_misplaced: false,
            },
        }
    }

    fn document(&mut self, text: &[u8], leaders: &[ClassLeader]) -> Result<()> {
        self.hasher.leaders.clear();
        self.hasher.leaders.extend_from_slice(leaders);
        self.cutter.cut(text, &mut self.hasher);
        match self.hasher.is_misplaced {
            true => Err(Error::new(
                ErrorKind::Changed,
                "a text changed while it was read (start again with --restart)",
            )),
            false => Ok(()),
        }
    }
}

impl UnitVisitor for WindowHasher {
    fn visit<U: Unit + NoUninit>(&mut self, units: &[U]) {
        for leader in &self.leaders {
            let first = leader.first as usize;
            let last = first + leader.windows as usize + self.lengths.window() - 1;
            let Some(context) = units.get(first..last) else {
                self.is_misplaced = true;
                return;
            };
            self.found.extend(numbers_of(leader));
            let (left, right) = context.split_at(leader.before as usize);
            self.lefts.clear();
            self.lefts.push(STEP);
            let mut hash = STEP;
            for unit in left.iter().rev() {
                hash = fold(hash ^ unit.number(), STEP);
                self.lefts.push(hash);
            }
            let (own, more) = right.split_at(self.lengths.window() - leader.before as usize);
            let mut hash = own
                .iter()
                .fold(MIX, |hash, unit| fold(hash ^ unit.number(), MIX));
            let mut more = more.iter();
            for left in self.lefts.iter().rev().take(leader.windows as usize) {
                self.found.push(fold(left ^ MIX, hash));
                if let Some(unit) = more.next() {
                    hash = fold(hash ^ unit.number(), MIX);
                }
            }
        }
    }
}

/// Both halves of a product.
#[inline(always)]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

/// Where the results go.
pub struct WindowSink<'a> {
    /// Which copy stays.
    pub keep: KeptOccurrence,
    /// The parts of leaders that have members.
    pub parts: &'a mut Sorter<LeaderPart>,
    /// The repeated windows of leaders.
    pub repeats: &'a mut Sorter<Repeat>,
}

/// The first place of a window.
#[derive(Clone, Copy)]
struct FirstPlace {
    place: [u32; 2],
    /// The number of all places.
    count: u32,
}

/// Some of the windows of a division, by hash.
#[derive(Clone, Copy)]
struct Selection {
    number: u64,
    of: u64,
}

type FirstPlaces = HashMap<(u64, u64), FirstPlace, ahash::RandomState>;

impl WindowHashes {
    /// Passes the first place and the number of places of each window to `sink`.
    ///
    /// # Errors
    /// Errors of temporary files; [`ErrorKind::Interrupted`].
    pub fn compare(
        self,
        space: SpillSpace<'_>,
        sink: &mut WindowSink<'_>,
        progress: &Progress,
    ) -> Result<()> {
        let table_bytes = space.bytes(memory::WINDOWS) as u64;
        for division in self.0 {
            progress.check()?;
            let (numbers, file) = match division {
                Division::Memory(numbers) => (numbers, None),
                // A list of numbers takes no more memory than it would have taken before.
                Division::Disk(file) if file.bytes() <= space.bytes(memory::HASHES) as u64 / 2 => {
                    let mut numbers = vec![0; file.bytes() as usize / 8];
                    file.fill_at(0, cast_slice_mut(&mut numbers))?;
                    (numbers, None)
                }
                Division::Disk(file) => (Vec::new(), Some(file)),
            };
            let (entries, windows, used) = match &file {
                Some(file) => (Entries::File(file), file.bytes() / 8, 0),
                None => {
                    let places = entry_places(&numbers);
                    let used = LISTED_BYTES * places.len() as u64;
                    let many = compare_few(&numbers, places, sink)?;
                    let windows = many.iter().map(|at| entry(&numbers, *at).1.len() as u64);
                    let windows = windows.sum();
                    (Entries::Listed(&numbers, many), windows, used)
                }
            };
            let most = (table_bytes.saturating_sub(used) / WINDOW_BYTES).max(1);
            let of = windows.div_ceil(most);
            for number in 0..of {
                progress.check()?;
                let selection = Selection { number, of };
                let mut firsts = FirstPlaces::default();
                entries.for_each(|leader, hashes| {
                    selection.count(leader, hashes, &mut firsts);
                    Ok(())
                })?;
                entries.for_each(|leader, hashes| {
                    let known = selection.of(leader, hashes);
                    let known =
                        known.filter_map(|(number, key)| Some((number, *firsts.get(&key)?)));
                    report(leader, known, sink)
                })?;
            }
        }
        Ok(())
    }
}

/// The leader and the hashes of the entry at a place of some numbers.
fn entry(numbers: &[u64], at: usize) -> (ClassLeader, &[u64]) {
    let (head, hashes) = split_entry(&numbers[at..])
        .map(|(entry, _)| entry.split_at(HEAD))
        .unwrap_or_default();
    let head = head.first_chunk().copied().unwrap_or_default();
    (leader_of(head), hashes)
}

/// The anchors and the places of all entries, by anchor, then by place.
fn entry_places(numbers: &[u64]) -> Vec<(u64, usize)> {
    let mut at = 0;
    let next = || {
        let (entry, _) = split_entry(&numbers[at..])?;
        let found = (entry[0], at);
        at += entry.len();
        Some(found)
    };
    let mut places: Vec<_> = std::iter::from_fn(next).collect();
    places.sort_unstable();
    places
}

/// Reports the windows of anchors with few leaders; returns the places of the other entries, by
/// anchor, then by place.
fn compare_few(
    numbers: &[u64],
    places: Vec<(u64, usize)>,
    sink: &mut WindowSink<'_>,
) -> Result<Vec<usize>> {
    let mut many = Vec::new();
    let mut few = Vec::with_capacity(FEW);
    for group in places.chunk_by(|(id, _), (next, _)| id == next) {
        if group.len() > FEW {
            many.extend(group.iter().map(|(_, at)| *at));
            continue;
        }
        few.clear();
        few.extend(group.iter().map(|(_, at)| entry(numbers, *at)));
        for (leader, hashes) in &few {
            let own = (0..leader.before + 1).zip(*hashes);
            let found = own.map(|(number, hash)| {
                let offset = leader.before - number;
                (number, first_of(&few, offset, *hash))
            });
            report(leader, found, sink)?;
        }
    }
    Ok(many)
}

/// The first of the windows that begin `offset` units before the anchor and have this hash. The
/// leaders are in the order of places; one of them has such a window.
#[inline]
fn first_of(leaders: &[(ClassLeader, &[u64])], offset: u32, hash: u64) -> FirstPlace {
    let mut found = FirstPlace {
        place: [0; 2],
        count: 0,
    };
    for (leader, hashes) in leaders {
        let number = leader.before.wrapping_sub(offset);
        if hashes.get(number as usize) == Some(&hash) {
            if found.count == 0 {
                found.place = [leader.document, leader.first + number];
            }
            found.count = found.count.saturating_add(leader.places);
        }
    }
    found
}

/// Entries that are compared with a table.
enum Entries<'a> {
    /// Those at some places of the numbers.
    Listed(&'a [u64], Vec<usize>),
    /// All of a file.
    File(&'a Spooled),
}

impl Entries<'_> {
    /// Passes each leader and the hashes of its windows to `visit`.
    fn for_each(&self, mut visit: impl FnMut(&ClassLeader, &[u64]) -> Result<()>) -> Result<()> {
        let file = match self {
            Entries::Listed(numbers, places) => {
                return places.iter().try_for_each(|at| {
                    let (leader, hashes) = entry(numbers, *at);
                    visit(&leader, hashes)
                });
            }
            Entries::File(file) => file,
        };
        let mut visit_all = |numbers: &[u64]| -> Result<usize> {
            let mut rest = numbers;
            while let Some((_, behind)) = split_entry(rest) {
                let (leader, hashes) = entry(rest, 0);
                visit(&leader, hashes)?;
                rest = behind;
            }
            Ok(numbers.len() - rest.len())
        };
        let (mut held, mut at): (Vec<u64>, u64) = (Vec::new(), 0);
        while at < file.bytes() {
            let more = BLOCK.min((file.bytes() - at) as usize / 8).max(1);
            let old = held.len();
            held.resize(old + more, 0);
            file.fill_at(at, cast_slice_mut(&mut held[old..]))?;
            at += 8 * more as u64;
            let done = visit_all(&held)?;
            held.drain(..done);
        }
        Ok(())
    }
}

impl Selection {
    /// The keys of the selected windows of a leader, with their numbers.
    fn of<'h>(
        self,
        leader: &ClassLeader,
        hashes: &'h [u64],
    ) -> impl Iterator<Item = (u32, (u64, u64))> + 'h {
        let ClassLeader { id, before, .. } = *leader;
        let is_selected = move |hash: u64| {
            let part = u128::from(hash.wrapping_mul(STEP)) * u128::from(self.of);
            (part >> 64) as u64 == self.number
        };
        (0..before + 1)
            .zip(hashes)
            .filter(move |(_, hash)| is_selected(**hash))
            .map(move |(number, hash)| {
                let offset = u64::from(before - number);
                (number, (*hash, id.wrapping_add(offset.wrapping_mul(MIX))))
            })
    }

    /// Adds the windows of a leader to the table. Leaders come in the order of their places.
    fn count(self, leader: &ClassLeader, hashes: &[u64], firsts: &mut FirstPlaces) {
        for (number, key) in self.of(leader, hashes) {
            match firsts.entry(key) {
                MapEntry::Occupied(mut first) => {
                    let count = &mut first.get_mut().count;
                    *count = count.saturating_add(leader.places);
                }
                MapEntry::Vacant(new) => drop(new.insert(FirstPlace {
                    place: [leader.document, leader.first + number],
                    count: leader.places,
                })),
            }
        }
    }
}

/// Reports windows of a leader, given by their numbers, those that are alike together.
fn report(
    leader: &ClassLeader,
    windows: impl Iterator<Item = (u32, FirstPlace)>,
    sink: &mut WindowSink<'_>,
) -> Result<()> {
    let mut part: Option<(LeaderPart, bool)> = None;
    for (number, FirstPlace { place, count }) in windows {
        let start = leader.first + number;
        let is_repeated = match sink.keep {
            KeptOccurrence::First => place != [leader.document, start],
            KeptOccurrence::None => count > 1,
        };
        match &mut part {
            Some((part, was_repeated))
                if *was_repeated == is_repeated
                    && part.start + part.windows == start
                    && [part.kept[0], part.kept[1] + part.windows] == place =>
            {
                part.windows += 1;
                part.count = part.count.max(count);
            }
            _ => {
                let new = LeaderPart {
                    leader: [leader.document, leader.first],
                    start,
                    windows: 1,
                    kept: place,
                    count,
                };
                if let Some((part, is_repeated)) = part.replace((new, is_repeated)) {
                    sink.push(part, is_repeated, leader.places)?;
                }
            }
        }
    }
    part.map_or(Ok(()), |(part, is_repeated)| {
        sink.push(part, is_repeated, leader.places)
    })
}

impl WindowSink<'_> {
    fn push(&mut self, part: LeaderPart, is_repeated: bool, places: u32) -> Result<()> {
        if places > 1 {
            self.parts.push(part)?;
        }
        if is_repeated {
            self.repeats.push(Repeat {
                document: part.leader[0],
                start: part.start,
                windows: part.windows,
                kept: part.kept,
                count: part.count,
            })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// A window: its document and first unit.
    type Place = [u32; 2];

    /// The first place of each window and the number of all, by definition.
    fn definition(entries: &[(ClassLeader, Vec<u64>)]) -> BTreeMap<Place, (Place, u32)> {
        let mut windows = Vec::new();
        for (leader, hashes) in entries {
            for (number, hash) in (0..).zip(hashes) {
                let key = (leader.id, leader.before - number, *hash);
                windows.push((key, [leader.document, leader.first + number], leader.places));
            }
        }
        let of = |(key, place, _): &(_, Place, u32)| {
            let equal = windows.iter().filter(|(other, ..)| other == key);
            let first = equal.clone().map(|(_, place, _)| *place).min();
            (
                *place,
                (first.unwrap(), equal.map(|(.., places)| places).sum()),
            )
        };
        windows.iter().map(of).collect()
    }

    proptest! {
        /// Promise (Repeated stretches of text): Memory and threads change no byte, with …
        #[test]
        fn first_places_are_found_with_any_memory(
            leaders in prop::collection::vec((0..3u64, 1..3u32, 0..9u32, prop::collection::vec(0..3u64, 1..9)), 1..60),
            bytes in 0..2000usize, on_disk: bool,
        ) {
            let directory = tempfile::tempdir().unwrap();
            let space = SpillSpace { directory: directory.path(), memory_bytes: bytes };
            let entries: Vec<(ClassLeader, Vec<u64>)> = leaders.into_iter().enumerate()
                .map(|(number, (id, places, before, hashes))| {
                    let hashes: Vec<u64> = hashes.into_iter().take(before as usize + 1)
                        .map(|hash| hash.wrapping_mul(MIX)).collect();
                    let leader = ClassLeader {
                        document: number as u32 / 2, first: 20 * (number as u32 % 2), before,
                        windows: hashes.len() as u32, id, places, _reserved: 0,
                    };
                    (leader, hashes)
                })
                .collect();
            let mut numbers = Vec::new();
            for (leader, hashes) in &entries {
                numbers.extend(numbers_of(leader));
                numbers.extend(hashes);
            }
            let division = match on_disk {
                true => {
                    let mut spool = space.spool().unwrap();
                    spool.append(cast_slice(&numbers)).unwrap();
                    Division::Disk(spool.finish().unwrap())
                }
                false => Division::Memory(numbers),
            };
            let mut parts = space.sorter(memory::PARTS);
            let mut repeats = space.sorter(memory::REPEATS);
            let mut sink = WindowSink {
                keep: KeptOccurrence::First, parts: &mut parts, repeats: &mut repeats,
            };
            WindowHashes(vec![division]).compare(space, &mut sink, &Progress::new()).unwrap();
            let expected = definition(&entries);
            let mut found = BTreeMap::new();
            for repeat in repeats.finish().unwrap() {
                let Repeat { document, start, windows, kept, count } = repeat.unwrap();
                for number in 0..windows {
                    let place = [document, start + number];
                    prop_assert_eq!([kept[0], kept[1] + number], expected[&place].0);
                    // The largest count of some windows.
                    prop_assert!(count >= expected[&place].1);
                    found.insert(place, ());
                }
            }
            for (place, (first, _)) in &expected {
                let is_repeated = first != place;
                prop_assert_eq!(found.contains_key(place), is_repeated);
            }
            let mut windows = 0;
            for part in parts.finish().unwrap() {
                let part = part.unwrap();
                prop_assert_eq!(part.kept, expected[&[part.leader[0], part.start]].0);
                windows += part.windows;
            }
            let of_classes = entries.iter().filter(|(leader, _)| leader.places > 1);
            prop_assert_eq!(windows, of_classes.map(|(leader, _)| leader.windows).sum::<u32>());
        }
    }
}
