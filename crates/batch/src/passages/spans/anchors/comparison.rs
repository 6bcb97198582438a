//! Where each window of the leaders occurs first.
//!
//! Most anchors have few leaders, whose windows are compared with each other. The windows of others
//! are looked up in a table; if they exceed the memory, some of them at a time, by hash. Threads
//! compare the divisions, and one of them collects what is found.

use std::collections::HashMap;
use std::collections::hash_map::Entry as MapEntry;

use bytemuck::cast_slice_mut;

use super::windows::{Division, HEAD, MIX, STEP, WindowHashes, leader_of, split_entry};
use crate::Result;
use crate::passages::settings::kept_occurrence::KeptOccurrence;
use crate::passages::spans::memory;
use crate::passages::spans::records::{ClassLeader, LeaderPart, Repeat};
use simtool_engine::Progress;
use simtool_engine::spill_space::SpillSpace;
use simtool_engine::tasks;
use simtool_files::{Sorter, Spooled};

/// The memory of a window in the table, at most.
const WINDOW_BYTES: u64 = 64;
/// The memory of an entry in the list of all, at most.
const LISTED_BYTES: u64 = 16;
/// The most leaders of an anchor whose windows are compared with each other without a table.
const FEW: usize = 16;
/// The numbers that are read at a time.
const BLOCK: usize = 1 << 17;
/// The results that are passed on at a time.
const FOUND: usize = 1 << 10;

/// Compares the windows of all leaders, on the threads of the current rayon pool at most.
pub struct WindowComparison<'a> {
    /// Which copy stays.
    pub keep: KeptOccurrence,
    /// The memory.
    pub space: SpillSpace<'a>,
    /// Stops the run.
    pub progress: &'a Progress,
}

/// Some of the results: the parts of leaders that have members, and the repeated windows of leaders.
type FoundWindows = (Vec<LeaderPart>, Vec<Repeat>);

/// Passes on what is found, in blocks.
struct WindowSink<'a> {
    keep: KeptOccurrence,
    found: FoundWindows,
    pass_on: &'a mut dyn FnMut(FoundWindows) -> Result<()>,
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

impl WindowComparison<'_> {
    /// Pushes the parts of leaders that have members to `parts`, and the repeated windows of leaders
    /// to `repeats`, with the first place and the number of places of each window.
    ///
    /// # Errors
    /// Errors of temporary files; [`ErrorKind::Interrupted`](crate::ErrorKind::Interrupted).
    pub fn compare(
        &self,
        hashes: WindowHashes,
        parts: &mut Sorter<LeaderPart>,
        repeats: &mut Sorter<Repeat>,
    ) -> Result<()> {
        let WindowHashes(divisions) = hashes;
        let loaded = divisions.iter().filter_map(|division| match division {
            Division::Memory(_) => None,
            Division::Disk(file) => Some(file.bytes()),
        });
        let at_once = loaded.max().map_or(u64::MAX, |largest| {
            (self.most_loaded_bytes() / largest.max(1)).max(1)
        });
        let at_once = at_once.min(divisions.len() as u64) as usize;
        let threads = at_once.clamp(1, rayon::current_num_threads());
        let table_bytes = (self.space.bytes(memory::WINDOWS) / threads) as u64;
        let work = |division, pass_on: &mut dyn FnMut(FoundWindows) -> Result<()>| {
            let mut sink = WindowSink {
                keep: self.keep,
                found: FoundWindows::default(),
                pass_on,
            };
            self.division(division, table_bytes, &mut sink)?;
            (sink.pass_on)(sink.found)
        };
        tasks::collect_from(threads, divisions, work, |found: FoundWindows| {
            parts.push_all(&found.0)?;
            repeats.push_all(&found.1)
        })?;
        Ok(())
    }

    /// The bytes of the divisions that are read into memory at a time.
    fn most_loaded_bytes(&self) -> u64 {
        self.space.bytes(memory::HASHES) as u64 / 2
    }

    /// Compares the windows of a division, with a table of `table_bytes` bytes.
    fn division(
        &self,
        division: Division,
        table_bytes: u64,
        sink: &mut WindowSink<'_>,
    ) -> Result<()> {
        self.progress.check()?;
        let (numbers, file) = match division {
            Division::Memory(numbers) => (numbers, None),
            // A list of numbers takes no more memory than it would have taken before.
            Division::Disk(file) if file.bytes() <= self.most_loaded_bytes() => {
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
            self.progress.check()?;
            let selection = Selection { number, of };
            let mut firsts = FirstPlaces::default();
            entries.for_each(|leader, hashes| {
                selection.count(leader, hashes, &mut firsts);
                Ok(())
            })?;
            entries.for_each(|leader, hashes| {
                let known = selection.of(leader, hashes);
                let known = known.filter_map(|(number, key)| Some((number, *firsts.get(&key)?)));
                report(leader, known, sink)
            })?;
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

/// The anchors and the positions of all entries, by anchor, then by the leader's place.
fn entry_places(numbers: &[u64]) -> Vec<(u64, usize)> {
    let mut at = 0;
    let next = || {
        let (entry, _) = split_entry(&numbers[at..])?;
        let found = (entry[0], at);
        at += entry.len();
        Some(found)
    };
    let mut places: Vec<_> = std::iter::from_fn(next).collect();
    places.sort_unstable_by_key(|&(id, at)| (id, numbers[at + 1]));
    places
}

/// Reports the windows of anchors with few leaders; returns the positions of the other entries, by
/// anchor, then by the leader's place.
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

    /// Adds the windows of a leader to the table.
    fn count(self, leader: &ClassLeader, hashes: &[u64], firsts: &mut FirstPlaces) {
        for (number, key) in self.of(leader, hashes) {
            match firsts.entry(key) {
                MapEntry::Occupied(mut first) => {
                    let first = first.get_mut();
                    first.place = first.place.min([leader.document, leader.first + number]);
                    first.count = first.count.saturating_add(leader.places);
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
        let (parts, repeats) = &mut self.found;
        if places > 1 {
            parts.push(part);
        }
        if is_repeated {
            repeats.push(Repeat {
                document: part.leader[0],
                start: part.start,
                windows: part.windows,
                kept: part.kept,
                count: part.count,
            });
        }
        match parts.len() + repeats.len() < FOUND {
            true => Ok(()),
            false => (self.pass_on)(std::mem::take(&mut self.found)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::windows::numbers_of;
    use super::*;
    use bytemuck::cast_slice;
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
            let progress = Progress::new();
            let comparison = WindowComparison { keep: KeptOccurrence::First, space, progress: &progress };
            comparison.compare(WindowHashes(vec![division]), &mut parts, &mut repeats).unwrap();
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
