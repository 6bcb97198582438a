//! The third reading: windows of leaders.
//!
//! Hashes of windows are divided by anchor into a fixed number of parts, in memory or in temporary
//! files.

use bytemuck::{NoUninit, cast_slice};

use super::groups::LeaderCounts;
use crate::passages::decisions::ranges::RangesOfDocuments;
use crate::passages::spans::job::SpansJob;
use crate::passages::spans::memory;
use crate::passages::spans::records::ClassLeader;
use crate::passages::spans::units::{UnitCutter, UnitVisitor};
use crate::skeleton::context::RunContext;
use crate::table::numbering::Numbering;
use crate::{Error, ErrorKind, Result};
use simtool_core::text::anchors::{Lengths, Unit};
use simtool_engine::documents::ChunkDocuments;
use simtool_engine::spill_space::SpillSpace;
use simtool_files::{RecordFile, Spool, Spooled};

/// The number of parts.
const DIVISIONS: usize = 16;
/// The numbers of an entry before its hashes.
pub const HEAD: usize = 4;
/// Odd numbers without a pattern: digits of the roots of 2 and 3.
pub const STEP: u64 = 0x6a09_e667_f3bc_c909;
pub const MIX: u64 = 0xbb67_ae85_84ca_a73b;

/// The windows of leaders.
pub struct WindowHashes(pub Vec<Division>);

/// The windows of some anchors: for each leader an entry of its numbers and the hashes of its
/// windows, in any order.
pub enum Division {
    /// Numbers in memory.
    Memory(Vec<u64>),
    /// Numbers in a file.
    Disk(Spooled),
}

/// A division that is written.
enum GrowingDivision {
    Memory(Vec<u64>),
    Disk(Spool),
}

/// A leader as the first numbers of an entry.
pub fn numbers_of(leader: &ClassLeader) -> [u64; HEAD] {
    let pair = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
    [
        leader.id,
        pair(leader.document, leader.first),
        pair(leader.before, leader.windows),
        leader.places.into(),
    ]
}

/// The leader of an entry with these first numbers.
pub fn leader_of([id, place, windows, places]: [u64; HEAD]) -> ClassLeader {
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

/// Reads the windows of `leaders`.
///
/// # Errors
/// [`ErrorKind::Changed`] if a source is not as it was; those of reading and writing;
/// [`ErrorKind::Interrupted`].
pub fn third_reading(
    job: &SpansJob,
    run: RunContext<'_>,
    numbering: &Numbering<'_>,
    leaders: &RecordFile<ClassLeader>,
    counts: LeaderCounts,
    space: SpillSpace<'_>,
) -> Result<WindowHashes> {
    let bytes = 8 * (counts.leaders * HEAD as u64 + counts.windows);
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
    let pipeline = run.pipeline();
    pipeline.run_documents(
        &pipeline.units(),
        || LeaderReader::new(job, run),
        work,
        |_, found: Vec<u64>| {
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
pub fn split_entry(numbers: &[u64]) -> Option<(&[u64], &[u64])> {
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
