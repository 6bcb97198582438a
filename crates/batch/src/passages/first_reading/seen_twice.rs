//! A table of what was seen at least twice, with false positives and without false negatives.

use std::fs::File;
use std::io::{self, Read};
use std::sync::atomic::{AtomicU64, Ordering};

use xxhash_rust::xxh3::Xxh3;

use crate::workdir::{Work, damaged};
use crate::{Error, Result};
use simtool_core::kernel::hamming::prefetch;

/// The file of a saved table: the numbers of documents and words, the words, and a checksum.
const FILE: &str = "seen-twice";
/// Numbers of the table that are written or read at a time.
const BLOCK: usize = 1 << 13;

/// How many keys ahead a number of the table is prefetched.
const AHEAD: usize = 16;

/// A table of keys that were inserted at least twice.
///
/// A number of 64 bits has 32 slots of two bits: the lower half says "inserted", the upper half "inserted again".
/// A key has two slots of one number, and counts as repeated if both were used again. The contents do
/// not depend on the order of the insertions. With 32 bits for each different key, about one in
/// sixty of those that were inserted once counts as repeated; with 16 bits, about one in twenty.
pub struct SeenTwice {
    words: Vec<AtomicU64>,
}

impl SeenTwice {
    /// An empty table of at most `bytes` bytes, and of at least 8.
    pub fn new(bytes: usize) -> SeenTwice {
        let words = (bytes / size_of::<u64>()).max(1);
        // The largest power of two that is not more.
        let words = (words / 2 + 1).next_power_of_two();
        SeenTwice {
            words: (0..words).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    /// Inserts keys; several threads may do so at a time. O(1) time for each.
    pub fn insert_all<T>(&self, items: &[T], key: impl Fn(&T) -> [u64; 2]) {
        for (place, item) in items.iter().enumerate() {
            if let Some(next) = items.get(place + AHEAD) {
                prefetch(&self.words[self.place(key(next))..]);
            }
            self.insert(key(item));
        }
    }

    fn insert(&self, key: [u64; 2]) {
        let word = &self.words[self.place(key)];
        let slots = slots(key);
        if word.load(Ordering::Relaxed) >> 32 & slots == slots {
            return;
        }
        let again = word.fetch_or(slots, Ordering::Relaxed) & slots;
        if again != 0 {
            word.fetch_or(again << 32, Ordering::Relaxed);
        }
    }

    /// Whether a key may have been inserted twice; certainly if it was.
    pub fn is_repeated(&self, key: [u64; 2]) -> bool {
        let slots = slots(key);
        let word = self.words[self.place(key)].load(Ordering::Relaxed);
        word >> 32 & slots == slots
    }

    /// Removes the items whose key was certainly not inserted twice.
    pub fn retain_repeated<T: Copy>(&self, items: &mut Vec<T>, key: impl Fn(&T) -> [u64; 2]) {
        let mut stay = 0;
        for place in 0..items.len() {
            if let Some(next) = items.get(place + AHEAD) {
                self.prefetch(key(next));
            }
            if self.is_repeated(key(&items[place])) {
                items[stay] = items[place];
                stay += 1;
            }
        }
        items.truncate(stay);
    }

    /// Requests the words of keys from memory, for [`is_repeated`](Self::is_repeated).
    pub fn prefetch(&self, key: [u64; 2]) {
        prefetch(&self.words[self.place(key)..]);
    }

    /// The bytes of the table.
    pub fn bytes(&self) -> usize {
        size_of_val(self.words.as_slice())
    }

    /// Saves the table, which has the keys of the first `documents` documents and perhaps of others.
    /// Other threads may insert keys meanwhile.
    ///
    /// # Errors
    /// [`ErrorKind::Write`](crate::ErrorKind::Write).
    pub fn store(&self, work: &Work, documents: u64) -> Result<()> {
        let mut file = work.create_file(FILE)?;
        let mut hash = Xxh3::new();
        let mut append = |words: &[u64]| {
            let bytes = bytemuck::cast_slice(words);
            hash.update(bytes);
            file.append(bytes)
        };
        append(&[documents, self.words.len() as u64])?;
        let mut block = Vec::with_capacity(BLOCK);
        for words in self.words.chunks(BLOCK) {
            block.clear();
            block.extend(words.iter().map(|word| word.load(Ordering::Relaxed)));
            append(&block)?;
        }
        let digest = hash.digest();
        file.append(&digest.to_ne_bytes())?;
        file.publish().map(drop)
    }

    /// The saved table with the number of its documents, if there is one. If it has more than `most`
    /// bytes, it is folded, and more keys count as repeated.
    ///
    /// # Errors
    /// [`ErrorKind::Content`](crate::ErrorKind::Content) if it is damaged;
    /// [`ErrorKind::Read`](crate::ErrorKind::Read).
    pub fn load(work: &Work, most: usize) -> Result<Option<(SeenTwice, u64)>> {
        let path = work.path(FILE);
        let failed = |cause: io::Error| match cause.kind() {
            io::ErrorKind::UnexpectedEof => damaged(&path),
            _ => Error::unreadable(&path, cause),
        };
        let mut file = match File::open(&path) {
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened.map_err(failed)?,
        };
        let length = file.metadata().map_err(failed)?.len();
        let mut hash = Xxh3::new();
        let mut read = |words: &mut [u64]| {
            let bytes = bytemuck::cast_slice_mut(words);
            file.read_exact(bytes).map_err(failed)?;
            hash.update(bytes);
            Ok(hash.digest())
        };
        let mut head = [0; 2];
        read(&mut head)?;
        let [documents, count] = head;
        let expected = count.checked_add(3).and_then(|all| all.checked_mul(8));
        if !count.is_power_of_two() || expected != Some(length) {
            return Err(damaged(&path));
        }
        let bytes = usize::try_from(length).unwrap_or(usize::MAX);
        let table = SeenTwice::new(bytes.min(most));
        let (mut block, mut digest) = (vec![0; BLOCK], 0);
        for first in (0..count).step_by(BLOCK) {
            let words = &mut block[..(count - first).min(BLOCK as u64) as usize];
            digest = read(words)?;
            for (place, word) in (first as usize..).zip(&*words) {
                let own = &table.words[place & (table.words.len() - 1)];
                own.fetch_or(*word, Ordering::Relaxed);
            }
        }
        let mut stored = [0];
        read(&mut stored)?;
        match stored == [digest] {
            true => Ok(Some((table, documents))),
            false => Err(damaged(&path)),
        }
    }

    fn place(&self, [low, _]: [u64; 2]) -> usize {
        // The number of words is a power of two.
        low as usize & (self.words.len() - 1)
    }
}

/// The bits of the two slots of a key.
fn slots([_, high]: [u64; 2]) -> u64 {
    1 << (high >> 59) | 1 << (high >> 54 & 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workdir::{Opened, StartOptions};
    use proptest::prelude::*;
    use serde_json::Value;
    use simtool_files::Faults;
    use std::collections::HashMap;
    use xxhash_rust::xxh3::xxh3_128;

    fn key(number: u64) -> [u64; 2] {
        let hash = xxh3_128(&number.to_le_bytes());
        [hash as u64, (hash >> 64) as u64]
    }

    proptest! {
        /// Promise (Repeated units): The table of units misses none that was seen twice
        #[test]
        fn what_was_inserted_twice_is_found_for_any_size(
            numbers in prop::collection::vec(0..60u64, 0..200), bytes in 0..400usize,
        ) {
            let table = SeenTwice::new(bytes);
            table.insert_all(&numbers, |number| key(*number));
            let mut counts: HashMap<u64, u32> = HashMap::new();
            numbers.iter().for_each(|number| *counts.entry(*number).or_default() += 1);
            for (number, count) in counts {
                prop_assert!(count < 2 || table.is_repeated(key(number)));
            }
            prop_assert!(!SeenTwice::new(bytes).is_repeated(key(1)));
        }
    }

    #[test]
    fn few_keys_count_as_repeated_by_accident() {
        let count = 20_000;
        for (bits, most) in [(32, count / 40), (16, count / 12)] {
            let table = SeenTwice::new(1 << 16);
            let numbers: Vec<u64> = (0..(8 << 16) / bits).collect();
            table.insert_all(&numbers, |number| key(*number));
            let wrong = numbers
                .iter()
                .filter(|number| table.is_repeated(key(**number)));
            let share = wrong.count() as u64 * count / numbers.len() as u64;
            assert!(share <= most, "{bits} bits: {share} of {count}");
        }
    }

    /// Promise (Repeated units): A run that is killed in …
    #[test]
    fn a_saved_table_misses_nothing_in_less_memory_either() {
        let out = tempfile::tempdir().unwrap();
        let start = StartOptions::default();
        let opened = Work::open(out.path(), &Value::Null, start, &Faults::default());
        let Ok(Opened::Unfinished(work)) = opened else {
            panic!("no work directory");
        };
        assert!(SeenTwice::load(&work, 1 << 20).unwrap().is_none());
        let table = SeenTwice::new(1 << 17);
        let numbers: Vec<u64> = (0..10_000).chain(0..5000).collect();
        table.insert_all(&numbers, |number| key(*number));
        table.store(&work, 77).unwrap();
        let load = |most| SeenTwice::load(&work, most).map(Option::unwrap);
        let (loaded, documents) = load(1 << 20).unwrap();
        assert_eq!((loaded.bytes(), documents), (table.bytes(), 77));
        assert!(
            (0..10_000).all(|number| {
                loaded.is_repeated(key(number)) == table.is_repeated(key(number))
            })
        );
        let (folded, _) = load(1 << 15).unwrap();
        assert_eq!(folded.bytes(), 1 << 15);
        folded.insert_all(&[9000, 9001], |number| key(*number));
        let repeated = (0..5000).chain([9000, 9001]);
        assert!(
            repeated
                .clone()
                .all(|number| folded.is_repeated(key(number)))
        );

        let path = work.path(FILE);
        let bytes = std::fs::read(&path).unwrap();
        for place in [0, 9, 16, bytes.len() / 2, bytes.len() - 1] {
            let mut wrong = bytes.clone();
            // The number of documents is checked with everything else.
            wrong[place] ^= 1;
            std::fs::write(&path, &wrong).unwrap();
            assert!(load(1 << 20).is_err(), "byte {place}");
        }
        std::fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
        assert!(load(1 << 20).is_err());
    }

    /// Promise (Repeated units): The table of units misses none …
    #[test]
    fn threads_miss_nothing() {
        let table = SeenTwice::new(1 << 10);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let numbers: Vec<u64> = (0..5000).collect();
                    table.insert_all(&numbers, |number| key(*number));
                });
            }
        });
        assert!((0..5000).all(|number| table.is_repeated(key(number))));
    }
}
