//! Decompressed bytes, and reports of damage.

use crate::chunk::WholeMember;

/// A buffer of decompressed bytes.
#[derive(Debug, Default)]
pub(crate) struct DecodedBuffer {
    /// The bytes.
    pub(crate) bytes: Vec<u8>,
    /// For each readable member that begins in the bytes: the index where it begins, and its offset
    /// in the file. Of empty members, the last before other bytes may stand for all.
    pub(crate) members: Vec<(usize, u64)>,
    /// The members that also end in the bytes and are neither too short nor too long.
    pub(crate) whole: Vec<WholeMember>,
}

impl DecodedBuffer {
    /// Reserves space for `more` bytes. The capacity for a long document stays close to its length.
    pub(crate) fn reserve(&mut self, more: usize) {
        let spare = self.bytes.capacity() - self.bytes.len();
        if spare < more {
            self.bytes.reserve_exact(more.max(self.bytes.len() / 8));
        }
    }

    /// Keeps the first `length` bytes and returns the others, with the members that begin in them.
    pub(crate) fn split_off(&mut self, length: usize) -> DecodedBuffer {
        let bytes = self.bytes[length..].to_vec();
        self.bytes.truncate(length);
        let kept = self.members.partition_point(|&(begin, _)| begin < length);
        let members = self.members.split_off(kept);
        let kept = self
            .whole
            .partition_point(|member| member.bytes.start < length);
        let mut whole = self.whole.split_off(kept);
        for member in &mut whole {
            member.bytes = member.bytes.start - length..member.bytes.end - length;
        }
        // A member cut in two is not whole in either buffer.
        self.whole.pop_if(|member| member.bytes.end > length);
        DecodedBuffer {
            bytes,
            whole,
            members: members
                .into_iter()
                .map(|(begin, member)| (begin - length, member))
                .collect(),
        }
    }
}

/// The result of a request for bytes.
#[derive(Debug)]
pub(crate) enum FillOutcome {
    /// Bytes were added.
    More,
    /// The file ended; no bytes were added.
    End,
    /// The data after the bytes in the buffer is damaged. Bytes may have been added.
    Damaged(Damage),
}

/// Damaged data, which the stream has skipped.
#[derive(Debug)]
pub(crate) struct Damage {
    /// Whether the file ends within the member. If not, the member is damaged.
    pub(crate) is_truncated: bool,
    /// Whether no member begins here or later, so that the data before it may well be complete.
    pub(crate) is_behind_members: bool,
    /// The index in the buffer where the member begins, if it begins there.
    pub(crate) begin: Option<usize>,
    /// A description of the damage and the lost bytes, with offsets.
    pub(crate) detail: String,
}
