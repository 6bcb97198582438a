//! The blocks of an object that are in the cache.

use std::ops::Range;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};

use crate::requests::threads::Threads;
use crate::shared::cache_directory::CacheDirectory;
use crate::{Identity, Result};

/// The bytes of a block, except for the last one of an object.
pub(crate) const BLOCK_BYTES: u64 = 1 << 20;

/// An object whose blocks are kept.
pub(crate) struct CachedBlocks {
    directory: Arc<CacheDirectory>,
    host: String,
    name: String,
    /// What distinguishes it from other objects with the name.
    tag: String,
    bytes: u64,
}

impl CachedBlocks {
    /// The blocks of an object; `None` if its identity does not promise equal bytes, which is
    /// reported once.
    pub(crate) fn of(
        directory: &Arc<CacheDirectory>,
        host: &str,
        name: &str,
        identity: &Identity,
    ) -> Option<Arc<CachedBlocks>> {
        let Some(tag) = identity.if_match().or_else(|| identity.version.clone()) else {
            directory.refuse(name);
            return None;
        };
        Some(Arc::new(CachedBlocks {
            directory: Arc::clone(directory),
            host: host.to_owned(),
            name: name.to_owned(),
            tag,
            bytes: identity.bytes,
        }))
    }

    /// The bytes of `range`, which has whole blocks. `fetch` requests those that are missing.
    pub(crate) async fn read<F>(
        self: &Arc<Self>,
        threads: &Threads,
        range: Range<u64>,
        fetch: impl FnOnce(Range<u64>) -> F,
    ) -> Result<Bytes>
    where
        F: Future<Output = Result<Bytes>>,
    {
        let (own, numbers) = (Arc::clone(self), numbers(&range));
        let kept =
            move || -> Vec<Option<Bytes>> { numbers.map(|number| own.get(number)).collect() };
        let kept = threads.block(kept).await.unwrap_or_default();
        let is_missing = |block: &Option<Bytes>| block.is_none();
        let ends = (
            kept.iter().position(is_missing),
            kept.iter().rposition(is_missing),
        );
        let (first, last) = match ends {
            (Some(first), Some(last)) => (first, last),
            _ if kept.is_empty() => return fetch(range).await,
            _ => return Ok(joined(&kept)),
        };
        let start = range.start + first as u64 * BLOCK_BYTES;
        let end = range.end.min(range.start + (last as u64 + 1) * BLOCK_BYTES);
        let fetched = fetch(start..end).await?;
        self.add(threads, start, fetched.clone()).await;
        if fetched.len() as u64 == range.end - range.start {
            return Ok(fetched);
        }
        let (before, after) = (&kept[..first], &kept[last + 1..]);
        Ok(joined(&[before, &[Some(fetched)], after].concat()))
    }

    /// Adds blocks from the offset `start` on, where one begins.
    pub(crate) async fn add(self: &Arc<Self>, threads: &Threads, start: u64, bytes: Bytes) {
        let own = Arc::clone(self);
        let add = move || {
            let blocks = bytes.chunks(BLOCK_BYTES as usize);
            for (number, block) in (start / BLOCK_BYTES..).zip(blocks) {
                // The start of an object may be less than a block.
                if block.len() as u64 == own.length(number) {
                    own.directory.add(&own.name, &own.key(number), block);
                }
            }
        };
        // The directory reports a failure.
        threads.block(add).await;
    }

    fn get(&self, number: u64) -> Option<Bytes> {
        let (key, length) = (self.key(number), self.length(number));
        self.directory.read(&self.name, &key, length)
    }

    fn length(&self, number: u64) -> u64 {
        let start = number * BLOCK_BYTES;
        self.bytes.saturating_sub(start).min(BLOCK_BYTES)
    }

    fn key(&self, number: u64) -> String {
        // As JSON, it has no line breaks, and its parts are distinct.
        serde_json::json!([self.host, self.name, self.tag, self.bytes, number]).to_string()
    }
}

/// The whole blocks that have the bytes of `range`, in an object of `bytes` bytes.
pub(crate) fn whole_blocks(range: &Range<u64>, bytes: u64) -> Range<u64> {
    let numbers = numbers(range);
    let end = numbers.end.saturating_mul(BLOCK_BYTES).min(bytes);
    numbers.start * BLOCK_BYTES..end
}

fn numbers(range: &Range<u64>) -> Range<u64> {
    range.start / BLOCK_BYTES..range.end.div_ceil(BLOCK_BYTES)
}

fn joined(blocks: &[Option<Bytes>]) -> Bytes {
    let mut present = blocks.iter().flatten();
    if let (Some(only), None) = (present.next(), present.next()) {
        return only.clone();
    }
    let mut all = BytesMut::new();
    for block in blocks.iter().flatten() {
        all.extend_from_slice(block);
    }
    all.freeze()
}
