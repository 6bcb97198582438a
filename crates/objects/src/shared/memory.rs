//! The memory of a client for bytes of objects that are not being used yet, and for listings.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex};

use bytes::Bytes;

use super::interruption::{Interruption, STEP};
use crate::requests::hosts::lock;
use crate::{PREFIX_BYTES, Result};

/// The maximum memory for ranges that are read ahead and for small objects.
const PREFETCH_BYTES: u64 = 256 << 20;
/// The memory for listings, unless it is set.
const LISTING_BYTES: u64 = 1 << 30;
/// The memory for first bytes of objects: 64 KiB of 256.
const FIRST_BYTES: u64 = 256 * PREFIX_BYTES;
/// The maximum memory for parts of files that are sent.
const PART_BYTES: u64 = 32 << 20;

/// The memory of a client, and what is taken of it: bounds until [`reserve`](Self::reserve) are the
/// maximums.
#[derive(Default)]
pub(crate) struct Memory {
    amounts: Mutex<Amounts>,
    /// Notified when memory for parts is returned.
    returned: Condvar,
}

struct Amounts {
    /// The bound of ranges and of small objects together.
    prefetch: u64,
    /// The bytes that both have.
    taken: u64,
    /// The contents of small objects by their numbers, and the bytes of these: at most half of all.
    kept: HashMap<u64, Bytes>,
    kept_bytes: u64,
    /// The number of objects so far, which numbers them.
    objects: u64,
    /// Finds the bound of listings; and what the objects of all listings take.
    listing: Arc<dyn Fn() -> u64 + Send + Sync>,
    listed: u64,
    /// The first bytes of objects that are kept until they are wanted.
    firsts: u64,
    /// Whether files may be sent, the bound of their parts, and the bytes of these.
    has_directory: bool,
    most_parts: u64,
    parts: u64,
}

impl Default for Amounts {
    fn default() -> Amounts {
        Amounts {
            prefetch: PREFETCH_BYTES,
            taken: 0,
            kept: HashMap::new(),
            kept_bytes: 0,
            objects: 0,
            listing: Arc::new(|| LISTING_BYTES),
            listed: 0,
            firsts: 0,
            has_directory: false,
            most_parts: PART_BYTES,
            parts: 0,
        }
    }
}

impl Memory {
    /// Takes a part of `spare_bytes` for ranges and small objects, if there was any object, and
    /// another for parts of files, if there is a directory. If small objects have more than their
    /// half already, none is kept any more.
    pub(crate) fn reserve(&self, spare_bytes: u64) -> u64 {
        let mut amounts = lock(&self.amounts);
        let mut reserved = 0;
        if amounts.objects > 0 {
            amounts.prefetch = PREFETCH_BYTES.min(spare_bytes / 4);
            reserved += amounts.prefetch;
            if amounts.kept_bytes > amounts.prefetch / 2 {
                amounts.kept.clear();
                amounts.taken -= std::mem::take(&mut amounts.kept_bytes);
            }
        }
        if amounts.has_directory {
            amounts.most_parts = PART_BYTES.min(spare_bytes / 8);
            reserved += amounts.most_parts;
        }
        reserved
    }

    /// Files may be sent from now on.
    pub(crate) fn expect_parts(&self) {
        lock(&self.amounts).has_directory = true;
    }

    /// All the memory for ranges and small objects.
    pub(crate) fn prefetch_bytes(&self) -> u64 {
        lock(&self.amounts).prefetch
    }

    /// The maximum number of bytes of small objects that are kept.
    pub(crate) fn max_kept_bytes(&self) -> u64 {
        self.prefetch_bytes() / 2
    }

    pub(crate) fn set_listing_bytes(&self, find: impl Fn() -> u64 + Send + Sync + 'static) {
        lock(&self.amounts).listing = Arc::new(find);
    }

    /// The memory that the objects of all listings may take, and that those of earlier ones take.
    pub(crate) fn listing_bytes(&self) -> (u64, u64) {
        let (find, listed) = {
            let amounts = lock(&self.amounts);
            (Arc::clone(&amounts.listing), amounts.listed)
        };
        (find(), listed)
    }

    /// Sets the memory that the objects of all listings take.
    pub(crate) fn set_listed_bytes(&self, bytes: u64) {
        lock(&self.amounts).listed = bytes;
    }

    /// Memory for a range of `bytes` bytes, if there is enough.
    pub(crate) fn take(self: &Arc<Self>, bytes: u64) -> Option<TakenMemory> {
        let mut amounts = lock(&self.amounts);
        (amounts.taken + bytes <= amounts.prefetch).then(|| {
            amounts.taken += bytes;
            self.taken(bytes, Purpose::Range)
        })
    }

    /// Memory for the first bytes of an object, if there is enough.
    pub(crate) fn take_for_first(self: &Arc<Self>, bytes: u64) -> Option<TakenMemory> {
        let mut amounts = lock(&self.amounts);
        (amounts.firsts + bytes <= FIRST_BYTES).then(|| {
            amounts.firsts += bytes;
            self.taken(bytes, Purpose::First)
        })
    }

    /// Memory for a part of a file. Waits until other parts were sent, if they need the memory. A
    /// part alone may be of any size.
    ///
    /// # Errors
    /// [`ErrorKind::Interrupted`](crate::ErrorKind::Interrupted).
    pub(crate) fn take_for_part(
        self: &Arc<Self>,
        bytes: u64,
        interruption: &Interruption,
    ) -> Result<TakenMemory> {
        let mut amounts = lock(&self.amounts);
        while amounts.parts > 0 && amounts.parts + bytes > amounts.most_parts {
            interruption.check()?;
            let waited = self.returned.wait_timeout(amounts, STEP);
            amounts =
                waited.map_or_else(|poisoned| poisoned.into_inner().0, |(amounts, _)| amounts);
        }
        amounts.parts += bytes;
        Ok(self.taken(bytes, Purpose::Part))
    }

    fn taken(self: &Arc<Self>, bytes: u64, purpose: Purpose) -> TakenMemory {
        TakenMemory {
            memory: Arc::clone(self),
            bytes,
            purpose,
        }
    }
}

/// What memory is taken for.
enum Purpose {
    Range,
    First,
    Part,
}

/// A part of the memory, which is returned when it is dropped.
pub(crate) struct TakenMemory {
    memory: Arc<Memory>,
    bytes: u64,
    purpose: Purpose,
}

impl Drop for TakenMemory {
    fn drop(&mut self) {
        let mut amounts = lock(&self.memory.amounts);
        match self.purpose {
            Purpose::Range => amounts.taken -= self.bytes,
            Purpose::First => amounts.firsts -= self.bytes,
            Purpose::Part => amounts.parts -= self.bytes,
        }
        self.memory.returned.notify_all();
    }
}

/// The content of a small object, if it is kept.
pub(crate) struct KeptContent {
    memory: Arc<Memory>,
    number: u64,
}

impl KeptContent {
    /// Of an object of which nothing is kept yet.
    pub(crate) fn none(memory: &Arc<Memory>) -> KeptContent {
        let mut amounts = lock(&memory.amounts);
        amounts.objects += 1;
        KeptContent {
            memory: Arc::clone(memory),
            number: amounts.objects,
        }
    }

    /// Keeps `content`, if there is memory.
    pub(crate) fn keep(&self, content: Bytes) {
        let mut amounts = lock(&self.memory.amounts);
        let bytes = content.len() as u64;
        let (taken, kept) = (amounts.taken + bytes, amounts.kept_bytes + bytes);
        let is_enough = taken <= amounts.prefetch && kept <= amounts.prefetch / 2;
        if is_enough && !amounts.kept.contains_key(&self.number) {
            amounts.kept.insert(self.number, content);
            (amounts.taken, amounts.kept_bytes) = (taken, kept);
        }
    }

    pub(crate) fn get(&self) -> Option<Bytes> {
        lock(&self.memory.amounts).kept.get(&self.number).cloned()
    }
}

impl Drop for KeptContent {
    fn drop(&mut self) {
        let mut amounts = lock(&self.memory.amounts);
        if let Some(content) = amounts.kept.remove(&self.number) {
            let bytes = content.len() as u64;
            amounts.kept_bytes -= bytes;
            amounts.taken -= bytes;
        }
    }
}
