//! The queue between readers and the threads that decompress ahead for them.

use super::section::{Section, SectionSizes};
use crossbeam_channel::{Receiver, Sender, unbounded};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The number of bytes of the file in a section: some members of a web archive, decompressed in one
/// or two milliseconds.
const SECTION_FILE_BYTES: u64 = 128 << 10;

/// The maximum number of decompressed bytes of a section. The reader decompresses the other members.
const SECTION_DECODED_BYTES: usize = 2 << 20;

/// The maximum number of sections per reader: one being decompressed, one queued.
const SECTIONS: usize = 2;

/// Lets idle readers decompress ahead for busy ones.
///
/// Gzip members and zstd frames can be decompressed independently, but the start of one is only
/// certain where the previous one ends. So members are found by their first bytes and decompressed
/// ahead, in sections of the file. A reader uses the result only if it reaches exactly that offset,
/// so its output is the same without help.
///
/// Each reader thread has a clone, and each [`ChunkReader`](crate::ChunkReader) has one. In
/// total, there are at most 2 sections per reader, of at most 2.2 MiB each; zstd needs up to 8 MiB
/// more for the window of a frame.
#[derive(Clone, Debug)]
pub struct Inflaters {
    jobs: Sender<Section>,
    queue: Receiver<Section>,
    readers: usize,
    /// The number of readers that are still busy.
    reading: Arc<AtomicUsize>,
    pub(super) sizes: SectionSizes,
}

impl Inflaters {
    /// A queue for `readers` readers, all of them busy.
    pub fn new(readers: usize) -> Inflaters {
        let (jobs, queue) = unbounded();
        Inflaters {
            jobs,
            queue,
            readers,
            reading: Arc::new(AtomicUsize::new(readers)),
            sizes: SectionSizes {
                file_bytes: SECTION_FILE_BYTES,
                decoded_bytes: SECTION_DECODED_BYTES,
            },
        }
    }

    /// A queue that counts all other readers as helpers, but has no helper threads. The caller of
    /// [`wait`](Self::wait) decompresses the sections itself.
    #[cfg(test)]
    pub(crate) fn with_counted_helpers(readers: usize, sizes: SectionSizes) -> Inflaters {
        let inflaters = Inflaters::new(readers);
        inflaters.reading.store(1, Ordering::Relaxed);
        Inflaters { sizes, ..inflaters }
    }

    /// Decompresses for busy readers until all clones but those of helpers are dropped.
    pub fn help(self) {
        self.reading.fetch_sub(1, Ordering::Relaxed);
        drop(self.jobs);
        self.queue.into_iter().for_each(Section::inflate);
    }

    /// The number of sections that a reader may currently have.
    pub(super) fn share(&self) -> usize {
        match self.reading.load(Ordering::Relaxed) {
            reading if reading < self.readers => SECTIONS * self.readers / reading.max(1),
            _ => 0,
        }
    }

    /// Queues a section.
    pub(super) fn submit(&self, section: Section) {
        // Cannot fail: `self` has a receiver.
        let _ = self.jobs.send(section);
    }

    /// Waits for a result, and decompresses queued sections meanwhile. `None` if the sender was
    /// dropped.
    pub(super) fn wait<T>(&self, inflated: &Receiver<T>) -> Option<T> {
        while inflated.is_empty() {
            match self.queue.try_recv() {
                Ok(section) => section.inflate(),
                Err(_) => break,
            }
        }
        inflated.recv().ok()
    }
}
