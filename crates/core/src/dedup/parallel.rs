//! The data-parallel executor that the caller supplies.

/// A data-parallel executor.
pub trait Parallel: Sync {
    /// Calls `work` once for each item, in any order and on any threads.
    fn for_each<T: Send>(&self, items: &mut [T], work: impl Fn(&mut T) + Sync + Send);
}

/// An executor that runs everything on the calling thread.
#[derive(Clone, Copy, Debug, Default)]
pub struct OneThread;

impl Parallel for OneThread {
    fn for_each<T: Send>(&self, items: &mut [T], work: impl Fn(&mut T) + Sync + Send) {
        items.iter_mut().for_each(work);
    }
}
