//! How an index is created and opened.

use serde::{Deserialize, Serialize};

use crate::io::Faults;

/// The tables of a segment of fingerprints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Layout {
    /// The fastest tables of at most 72 bytes for each distinct fingerprint of 64 bits. For uniform
    /// fingerprints they are as small as compact ones.
    #[default]
    Fast,
    /// At most 26 bytes for each distinct fingerprint of 64 bits, and 4 (8 if some are equal) for
    /// the number of its document; other widths in proportion.
    Compact,
}

/// How an index is opened. No option changes an answer.
#[derive(Clone, Debug)]
pub struct Options {
    /// The tables of a new index; an existing index keeps its own layout.
    pub layout: Layout,
    /// The memory of each segment writer; recent documents are not included. With
    /// [`merge_apart`](Self::merge_apart), each merging thread writes a segment, and sealing
    /// another one.
    pub memory_bytes: usize,
    /// The number of recent documents that are sealed into a segment.
    pub seal_documents: u32,
    /// Leave merging to threads that call [`Index::merge`](super::Index::merge), so that additions
    /// do not wait for it.
    pub merge_apart: bool,
    /// Open without writing anything, for example on a read-only file system.
    pub read_only: bool,
    /// Injected failures, for tests.
    pub faults: Faults,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            layout: Layout::Fast,
            memory_bytes: 256 << 20,
            seal_documents: 1 << 16,
            merge_apart: false,
            read_only: false,
            faults: Faults::default(),
        }
    }
}
