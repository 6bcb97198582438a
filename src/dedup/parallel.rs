/// Whoever has threads.
pub trait Parallel: Sync {
    /// Calls `work` once for each item, in any order and on any threads.
    fn for_each<T: Send>(&self, items: &mut [T], work: impl Fn(&mut T) + Sync + Send);
}

/// No other thread than that of the caller.
#[derive(Clone, Copy, Debug, Default)]
pub struct OneThread;

impl Parallel for OneThread {
    fn for_each<T: Send>(&self, items: &mut [T], work: impl Fn(&mut T) + Sync + Send) {
        items.iter_mut().for_each(work);
    }
}
