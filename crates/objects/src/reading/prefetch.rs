//! Sequential reading of an object, with ranges read ahead.

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};

use super::object::{Object, Pending};
use crate::Result;
use crate::shared::memory::{Memory, TakenMemory};

/// The fewest bytes that a reader requests.
const MIN_BYTES: u64 = 64 << 10;
/// The largest range of a request, if a quarter of the memory is more: less memory has several
/// ranges, too.
const MAX_BYTES: u64 = 8 << 20;
/// The most ranges requested ahead: together as many bytes as arrive at a rate of 2 GB/s while a
/// server takes 50 ms to answer.
const MAX_RANGES: usize = 15;
/// At most this many times the bytes that were read without jumps are requested ahead.
const MAX_PREFETCHED: u64 = 16;
/// The maximum number of bytes in front of an offset that are still sequential reading.
const MAX_SKIPPED_BYTES: u64 = 512 << 10;

/// The number of requests for an object of `bytes` bytes that is read from its start to its end, at
/// least `step` at a time, if there is memory to read ahead.
pub(crate) fn requests(memory: &Memory, bytes: u64, step: u64) -> u64 {
    // The second range is as long as the first one.
    let mut step = step.max(MIN_BYTES);
    let (mut requests, mut read) = (bytes.min(1), step);
    let most = most_bytes(memory);
    while read < bytes && step < most {
        read += step;
        step *= 2;
        requests += 1;
    }
    requests + bytes.saturating_sub(read).div_ceil(most)
}

/// The largest range of a request.
fn most_bytes(memory: &Memory) -> u64 {
    (memory.prefetch_bytes() / 4).clamp(MIN_BYTES, MAX_BYTES)
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
    /// The last range, and how many of its bytes are before `next`.
    current: Bytes,
    passed: usize,
    ring: VecDeque<Taken>,
    /// The size of the next range to request.
    step: u64,
    /// The bytes of the ranges since the last jump.
    without_jumps: u64,
}

/// A requested range, with its memory.
struct Taken {
    pending: Pending,
    _memory: Option<TakenMemory>,
}

impl Prefetch {
    /// A reader of `object`. The first bytes may be known already.
    pub fn new(object: Arc<Object>, prefix: Option<Bytes>) -> Prefetch {
        Prefetch {
            object,
            next: 0,
            current: prefix.unwrap_or_default(),
            passed: 0,
            ring: VecDeque::new(),
            step: MIN_BYTES,
            without_jumps: 0,
        }
    }

    /// The object.
    pub fn object(&self) -> &Arc<Object> {
        &self.object
    }

    /// Appends up to `want` bytes from `offset` on: at least one, unless the object ends there.
    ///
    /// # Errors
    /// Errors of [`Object::read_at`].
    pub fn read(&mut self, offset: u64, want: usize, out: &mut Vec<u8>) -> Result<usize> {
        self.go_to(offset);
        if self.left() == 0 {
            self.refill(want as u64)?;
        }
        let taken = want.min(self.left());
        out.extend_from_slice(&self.current[self.passed..self.passed + taken]);
        self.passed += taken;
        self.next += taken as u64;
        Ok(taken)
    }

    /// The number of bytes of the last range from `next` on.
    fn left(&self) -> usize {
        self.current.len() - self.passed
    }

    /// Goes to `offset`; to a near one, by reading on.
    fn go_to(&mut self, offset: u64) {
        if offset == self.next {
            return;
        }
        let within = offset.checked_sub(self.next);
        if let Some(skipped) = within.filter(|&skipped| skipped <= self.left() as u64) {
            self.passed += skipped as usize;
            self.next = offset;
            return;
        }
        self.passed = self.current.len();
        // Ranges requested ahead may have the offset.
        while let Some(first) = self.ring.front() {
            if first.pending.range.contains(&offset) {
                break;
            }
            self.ring.pop_front();
        }
        if self.ring.is_empty() && within.is_none_or(|skipped| skipped > MAX_SKIPPED_BYTES) {
            self.step = MIN_BYTES;
            self.without_jumps = 0;
        }
        self.next = offset;
    }

    /// Waits for the bytes from `next` on, and requests more behind them.
    fn refill(&mut self, want: u64) -> Result<()> {
        // Its memory is used again for a range: new memory for each would cost page faults.
        let mut spare = std::mem::take(&mut self.current)
            .try_into_mut()
            .unwrap_or_default();
        spare.clear();
        self.passed = 0;
        if self.ring.is_empty() && self.next < self.object.bytes() {
            self.step = self.step.max(want.min(MAX_BYTES));
            self.request(self.next, self.step, &mut spare);
        }
        self.request_ahead(&mut spare);
        let Some(first) = self.ring.front() else {
            return Ok(());
        };
        let start = first.pending.range.start;
        let bytes = first.pending.wait()?;
        self.ring.pop_front();
        self.passed = (self.next - start) as usize;
        self.without_jumps += bytes.len() as u64;
        self.current = bytes;
        Ok(())
    }

    /// Requests ranges behind those requested, as far as the memory goes.
    fn request_ahead(&mut self, spare: &mut BytesMut) {
        while self.ring.len() <= MAX_RANGES {
            let Some(last) = self.ring.back() else {
                return;
            };
            let start = last.pending.range.end;
            if start >= self.object.bytes() {
                return;
            }
            let step = (2 * self.step).min(most_bytes(self.object.memory()));
            let range = self.object.read_for(start..start.saturating_add(step));
            let step = step.max(range.end - range.start);
            let ranges = self.ring.iter().map(|taken| &taken.pending.range);
            let ahead: u64 = ranges.map(|range| range.end - range.start).sum();
            if ahead + step > MAX_PREFETCHED.saturating_mul(self.without_jumps) {
                return;
            }
            let Some(memory) = self.object.memory().take(step) else {
                return;
            };
            self.step = step;
            let pending = self.object.begin(range, std::mem::take(spare));
            self.ring.extend(pending.map(|pending| Taken {
                pending,
                _memory: Some(memory),
            }));
        }
    }

    fn request(&mut self, start: u64, length: u64, spare: &mut BytesMut) {
        let range = start..start.saturating_add(length);
        let pending = self.object.begin(range, std::mem::take(spare));
        self.ring.extend(pending.map(|pending| Taken {
            pending,
            _memory: None,
        }));
    }
}
