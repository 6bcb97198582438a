//! Where readers and those that help them meet.

use super::stretch::Stretch;
use crossbeam_channel::{Receiver, Sender, unbounded};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How much of a file is inflated ahead at a time: some members of a web archive, in a millisecond
/// or two.
const STRETCH_BYTES: u64 = 128 << 10;

/// What a stretch may decompress to. Members that do not fit are left to the reader.
const ROOM_BYTES: usize = 2 << 20;

/// The stretches that there may be at once for each reader: one in work, one that waits.
const STRETCHES: usize = 2;

/// Lets readers that have nothing to read inflate for those that have.
///
/// Gzip members and zstd frames can be decompressed apart, but where one begins is known for
/// certain only where the one before ends. So members are looked for by their first bytes and
/// decompressed ahead, in stretches of the file; a reader takes what was made of a member only
/// when it comes to the very offset. What it gives is the same with and without help.
///
/// Each of a number of readers has a clone, and so has what it reads with. There are at most
/// 2 stretches for each reader, whoever inflates them, of at most 2.2 MiB each; for zstd, 2 MiB
/// more for a frame's window.
#[derive(Clone, Debug)]
pub struct Inflaters {
    jobs: Sender<Stretch>,
    queue: Receiver<Stretch>,
    readers: usize,
    /// The readers that do not help yet.
    reading: Arc<AtomicUsize>,
    pub(super) sizes: Sizes,
}

/// How large stretches are.
#[derive(Clone, Copy, Debug)]
pub(in crate::corpus) struct Sizes {
    /// The bytes of the file in which their members begin.
    pub(in crate::corpus) stretch: u64,
    /// The most decompressed bytes.
    pub(in crate::corpus) room: usize,
}

impl Inflaters {
    /// For so many `readers`, none of which helps yet.
    pub fn new(readers: usize) -> Inflaters {
        let (jobs, queue) = unbounded();
        Inflaters {
            jobs,
            queue,
            readers,
            reading: Arc::new(AtomicUsize::new(readers)),
            sizes: Sizes {
                stretch: STRETCH_BYTES,
                room: ROOM_BYTES,
            },
        }
    }

    /// As if all of many readers but the caller helped, though slowly; in small stretches.
    #[cfg(test)]
    pub(in crate::corpus) fn of_nobody(readers: usize, sizes: Sizes) -> Inflaters {
        let inflaters = Inflaters::new(readers);
        inflaters.reading.store(1, Ordering::Relaxed);
        Inflaters { sizes, ..inflaters }
    }

    /// Inflates for those that still read, until nobody has a clone but those that help.
    pub fn help(self) {
        self.reading.fetch_sub(1, Ordering::Relaxed);
        drop(self.jobs);
        self.queue.into_iter().for_each(Stretch::inflate);
    }

    /// How many stretches a reader may have at present.
    pub(super) fn share(&self) -> usize {
        match self.reading.load(Ordering::Relaxed) {
            reading if reading < self.readers => STRETCHES * self.readers / reading.max(1),
            _ => 0,
        }
    }

    /// Has a stretch inflated.
    pub(super) fn submit(&self, stretch: Stretch) {
        // Cannot fail: we have a receiver ourselves.
        let _ = self.jobs.send(stretch);
    }

    /// Waits for what somebody inflates, and inflates meanwhile what nobody has begun; `None` if
    /// nothing comes any more.
    pub(super) fn wait<T>(&self, inflated: &Receiver<T>) -> Option<T> {
        while inflated.is_empty() {
            match self.queue.try_recv() {
                Ok(stretch) => stretch.inflate(),
                Err(_) => break,
            }
        }
        inflated.recv().ok()
    }
}
