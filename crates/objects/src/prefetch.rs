//! Sequential reading of an object, with ranges read ahead.

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;

use crate::Result;
use crate::memory;
use crate::object::{Object, Pending};

/// The fewest bytes that a reader requests.
const LEAST_BYTES: u64 = 64 << 10;
/// The largest range of a request.
const MOST_BYTES: u64 = 8 << 20;
/// The most ranges requested ahead.
const MOST_RANGES: usize = 4;
/// The most bytes in front of an offset that are still sequential reading.
const MOST_SKIPPED_BYTES: u64 = 512 << 10;

/// The number of requests for an object of `bytes` bytes that is read from its start to its end, at
/// least `step` at a time, if there is memory to read ahead.
pub fn requests(bytes: u64, step: u64) -> u64 {
    // The second range is as long as the first one.
    let mut step = step.max(LEAST_BYTES);
    let (mut requests, mut read) = (bytes.min(1), step);
    while read < bytes && step < MOST_BYTES {
        read += step;
        step *= 2;
        requests += 1;
    }
    requests + bytes.saturating_sub(read).div_ceil(MOST_BYTES)
}

/// Reads an object from any offset on, ahead of its user.
///
/// The first range has the bytes that are wanted. If the user goes on without jumps, ranges double up
/// to 8 MiB, and some are requested ahead. So a jump to a single document costs one small request, and
/// reading a whole object takes few requests, some of them at a time.
pub struct Prefetch {
    object: Arc<Object>,
    /// The offset of the next byte.
    next: u64,
    /// Bytes from `next` on.
    current: Bytes,
    ring: VecDeque<Taken>,
    /// The size of the next range to request.
    step: u64,
    /// Whether the user goes on where the last range ended.
    is_sequential: bool,
}

/// A requested range, with its memory.
struct Taken {
    pending: Pending,
    memory: u64,
}

impl Drop for Taken {
    fn drop(&mut self) {
        memory::give_back(self.memory);
    }
}

impl Prefetch {
    /// A reader of `object`. The first bytes may be known already.
    pub fn new(object: Arc<Object>, prefix: Option<Bytes>) -> Prefetch {
        Prefetch {
            object,
            next: 0,
            current: prefix.unwrap_or_default(),
            ring: VecDeque::new(),
            step: LEAST_BYTES,
            is_sequential: false,
        }
    }

    /// The object.
    pub fn object(&self) -> &Arc<Object> {
        &self.object
    }

    /// Appends up to `want` bytes from `offset` on: at least one, unless the object ends there.
    ///
    /// # Errors
    /// Those of [`Object::read_at`].
    pub fn read(&mut self, offset: u64, want: usize, out: &mut Vec<u8>) -> Result<usize> {
        self.go_to(offset);
        if self.current.is_empty() {
            self.refill(want as u64)?;
        }
        let taken = want.min(self.current.len());
        let piece = self.current.split_to(taken);
        out.extend_from_slice(&piece);
        self.next += taken as u64;
        Ok(taken)
    }

    /// Goes to `offset`; to a near one, by reading on.
    fn go_to(&mut self, offset: u64) {
        if offset == self.next {
            return;
        }
        let within = offset.checked_sub(self.next);
        if let Some(skipped) = within.filter(|&skipped| skipped <= self.current.len() as u64) {
            self.current = self.current.slice(skipped as usize..);
            self.next = offset;
            return;
        }
        self.current = Bytes::new();
        // Ranges requested ahead may have the offset.
        while let Some(first) = self.ring.front() {
            if first.pending.range.contains(&offset) {
                break;
            }
            self.ring.pop_front();
        }
        if self.ring.is_empty() && within.is_none_or(|skipped| skipped > MOST_SKIPPED_BYTES) {
            self.step = LEAST_BYTES;
            self.is_sequential = false;
        }
        self.next = offset;
    }

    /// Waits for the bytes from `next` on, and requests more behind them.
    fn refill(&mut self, want: u64) -> Result<()> {
        if self.ring.is_empty() && self.next < self.object.bytes() {
            self.step = self.step.max(want.min(MOST_BYTES));
            self.request(self.next, self.step);
        }
        if self.is_sequential {
            self.request_ahead();
        }
        self.is_sequential = true;
        let Some(first) = self.ring.front() else {
            return Ok(());
        };
        let start = first.pending.range.start;
        let bytes = first.pending.wait()?;
        self.ring.pop_front();
        self.current = bytes.slice((self.next - start) as usize..);
        Ok(())
    }

    /// Requests ranges behind those requested, as far as the memory goes.
    fn request_ahead(&mut self) {
        while self.ring.len() <= MOST_RANGES {
            let Some(last) = self.ring.back() else {
                return;
            };
            let start = last.pending.range.end;
            if start >= self.object.bytes() {
                return;
            }
            let step = (2 * self.step).min(MOST_BYTES);
            let range = self.object.read_for(start..start.saturating_add(step));
            let step = step.max(range.end - range.start);
            if !memory::take(step) {
                return;
            }
            self.step = step;
            match self.object.begin(range) {
                Some(pending) => self.ring.push_back(Taken {
                    pending,
                    memory: step,
                }),
                None => memory::give_back(step),
            }
        }
    }

    fn request(&mut self, start: u64, length: u64) {
        if let Some(pending) = self.object.begin(start..start.saturating_add(length)) {
            self.ring.push_back(Taken { pending, memory: 0 });
        }
    }
}
