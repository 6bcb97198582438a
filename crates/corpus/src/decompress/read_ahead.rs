//! Sections decompressed ahead of a reader.

use super::blocks::Blocks;
use super::codec::Codec;
use super::inflaters::Inflaters;
use super::section::{Inflated, Section, SectionDecoder};
use crate::Result;
use crossbeam_channel::{Receiver, bounded};
use std::collections::VecDeque;
use std::ops::Range;

/// The number of bytes read at a time; small, because adjacent sections read some bytes twice.
const BLOCK_BYTES: usize = 64 << 10;

/// The maximum number of members that are not looked up after one that was not found.
const MAX_PAUSE: u32 = 64;

/// Lets the members of a file be decompressed ahead of its reader.
pub(super) struct ReadAhead {
    inflaters: Inflaters,
    /// The submitted sections, in the order of the file.
    submitted: VecDeque<(Range<u64>, Receiver<SectionDecoder>)>,
    /// The section of the current offset of the reader.
    current: Option<(Range<u64>, SectionDecoder)>,
    idle: Vec<SectionDecoder>,
    /// The end of the last submitted section in the file.
    end: u64,
    /// The number of members not to look up: now, and after the next one that is not found.
    pause: u32,
    next_pause: u32,
}

impl ReadAhead {
    /// Uses the queue `inflaters`.
    pub(super) fn new(inflaters: Inflaters) -> ReadAhead {
        ReadAhead {
            inflaters,
            submitted: VecDeque::new(),
            current: None,
            idle: Vec::new(),
            end: 0,
            pause: 0,
            next_pause: 1,
        }
    }

    /// The member that begins at `offset` in the file of `blocks`, if it was decompressed. Its bytes
    /// are available until the next call.
    ///
    /// Offsets must not decrease.
    pub(super) fn member(
        &mut self,
        offset: u64,
        blocks: &Blocks,
        codec: &Codec,
    ) -> Result<Option<Inflated>> {
        if self.pause > 0 {
            self.pause -= 1;
            return Ok(None);
        }
        self.reclaim_before(offset);
        self.submit(offset, blocks, codec)?;
        if self.current.is_none()
            && let Some((span, decoder)) = self.next_if(|span| span.contains(&offset))
        {
            self.current = self.inflaters.wait(&decoder).map(|decoder| (span, decoder));
        }
        let Some((_, decoder)) = &self.current else {
            return Ok(None);
        };
        let found = decoder.member(offset).cloned();
        // Long members are not decompressed ahead, and often follow one another. So after each
        // member that is not found, twice as many are not looked up, up to the maximum.
        match found {
            Some(_) => self.next_pause = 1,
            None => {
                self.pause = self.next_pause;
                self.next_pause = MAX_PAUSE.min(2 * self.next_pause);
            }
        }
        Ok(found)
    }

    /// A range of the bytes of the last member.
    pub(super) fn bytes(&self, range: Range<usize>) -> &[u8] {
        match &self.current {
            Some((_, decoder)) => decoder.bytes(range),
            None => &[],
        }
    }

    /// Reclaims the decoders of sections before `offset`.
    fn reclaim_before(&mut self, offset: u64) {
        if let Some((_, decoder)) = self.current.take_if(|(span, _)| span.end <= offset) {
            self.idle.push(decoder);
        }
        while let Some((_, decoder)) = self.next_if(|span| span.end <= offset) {
            self.idle.extend(self.inflaters.wait(&decoder));
        }
    }

    /// Takes the next submitted section if `is_wanted` accepts its range.
    fn next_if(
        &mut self,
        is_wanted: impl FnOnce(&Range<u64>) -> bool,
    ) -> Option<(Range<u64>, Receiver<SectionDecoder>)> {
        let (span, _) = self.submitted.front()?;
        is_wanted(span)
            .then(|| self.submitted.pop_front())
            .flatten()
    }

    /// Submits sections from `offset` on, as many as allowed.
    fn submit(&mut self, offset: u64, blocks: &Blocks, codec: &Codec) -> Result<()> {
        let sizes = self.inflaters.sizes;
        self.end = self.end.max(offset);
        let most = self.inflaters.share();
        while self.submitted.len() + usize::from(self.current.is_some()) < most
            && self.end < blocks.size()
        {
            let end = (self.end / sizes.file_bytes + 1) * sizes.file_bytes;
            let span = self.end..end.min(blocks.size());
            self.end = span.end;
            let decoder = match self.idle.pop() {
                Some(decoder) => decoder,
                None => SectionDecoder::new(
                    blocks.with_block_size(BLOCK_BYTES),
                    codec.small(blocks.path())?,
                    sizes,
                ),
            };
            let (inflated, decoded) = bounded(1);
            self.submitted.push_back((span.clone(), decoded));
            self.inflaters.submit(Section {
                decoder,
                span,
                inflated,
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decompress::section::SectionSizes;
    use crate::test_files::{gzip, zstd};
    use std::io::Write;
    use std::thread;
    use tempfile::NamedTempFile;

    const SIZES: SectionSizes = SectionSizes {
        file_bytes: 1000,
        decoded_bytes: 20_000,
    };

    fn open(content: &[u8]) -> (NamedTempFile, Blocks) {
        let mut file = NamedTempFile::new().unwrap();
        file.write_all(content).unwrap();
        let blocks = Blocks::open(file.path(), content.len() as u64, 100).unwrap();
        (file, blocks)
    }

    /// Members with their offsets; those numbered in `long` are too long to be decompressed ahead.
    fn members(pack: fn(&[u8]) -> Vec<u8>, long: &[usize]) -> (Vec<(u64, Vec<u8>)>, Vec<u8>) {
        let (mut members, mut content) = (Vec::new(), Vec::new());
        for number in 0..300 {
            let mut bytes = format!("number {number} ").repeat(20).into_bytes();
            if long.contains(&number) {
                bytes = bytes.repeat(100);
            }
            members.push((content.len() as u64, bytes.clone()));
            content.extend(pack(&bytes));
        }
        (members, content)
    }

    fn codecs(blocks: &Blocks) -> [Codec; 2] {
        [Codec::gzip(), Codec::zstd(blocks.path()).unwrap()]
    }

    #[test]
    fn all_members_are_decompressed_ahead() {
        for (pack, kind) in [(gzip as fn(&[u8]) -> Vec<u8>, 0), (zstd, 1)] {
            let (members, content) = members(pack, &[]);
            let (_file, blocks) = open(&content);
            let codec = &codecs(&blocks)[kind];
            let mut ahead = ReadAhead::new(Inflaters::with_counted_helpers(3, SIZES));
            for (offset, bytes) in members {
                let found = ahead.member(offset, &blocks, codec).unwrap().unwrap();
                assert_eq!(ahead.bytes(found.bytes), bytes);
            }
        }
    }

    #[test]
    fn helpers_run_until_the_last_reader_is_dropped() {
        let (members, content) = members(gzip, &[]);
        let (_file, blocks) = open(&content);
        let mut inflaters = Inflaters::new(4);
        inflaters.sizes = SIZES;
        thread::scope(|scope| {
            for _ in 0..3 {
                let inflaters = inflaters.clone();
                scope.spawn(|| inflaters.help());
            }
            while inflaters.share() < 8 {
                thread::yield_now();
            }
            let mut ahead = ReadAhead::new(inflaters);
            for (offset, bytes) in &members {
                let found = ahead.member(*offset, &blocks, &Codec::gzip()).unwrap();
                assert_eq!(ahead.bytes(found.unwrap().bytes), bytes);
            }
        });
    }

    #[test]
    fn without_helpers_nothing_is_decompressed_ahead() {
        let (_, content) = members(gzip, &[]);
        let (_file, blocks) = open(&content);
        let mut ahead = ReadAhead::new(Inflaters::new(4));
        assert_eq!(ahead.member(0, &blocks, &Codec::gzip()).unwrap(), None);
        assert!(ahead.submitted.is_empty() && ahead.idle.is_empty());
    }

    #[test]
    fn long_members_and_some_after_them_are_left_to_the_reader() {
        let long = [10, 100, 101, 102, 103, 104, 105, 106];
        let (members, content) = members(gzip, &long);
        let (_file, blocks) = open(&content);
        let mut ahead = ReadAhead::new(Inflaters::with_counted_helpers(3, SIZES));
        let mut missed = Vec::new();
        for (number, (offset, bytes)) in members.iter().enumerate() {
            match ahead.member(*offset, &blocks, &Codec::gzip()).unwrap() {
                Some(found) => assert_eq!(ahead.bytes(found.bytes), bytes),
                None => missed.push(number),
            }
        }
        assert!(long.iter().all(|long| missed.contains(long)));
        // Members after them in the section are missed too, and some are not requested.
        let near = |missed: &&usize| (10..40).contains(*missed) || (100..160).contains(*missed);
        assert_eq!(
            missed.iter().filter(near).count(),
            missed.len(),
            "{missed:?}"
        );
    }

    /// Promise (Deduplication): Every parser accepts any bytes; memory …
    #[test]
    fn memory_is_bounded_for_any_file() {
        let bomb = gzip(&vec![0; 10 << 20]);
        // Each of these looks like the start of a member, but none is one.
        let lures = b"\x1f\x8b\x08\x00\0\0\0\0\0\0\x00\x00\x01\xff\xfe".repeat(1000);
        let (_, plain) = members(gzip, &[]);
        let content = [&plain[..], &bomb, &lures, &plain, &bomb].concat();
        let (_file, blocks) = open(&content);
        let mut ahead = ReadAhead::new(Inflaters::with_counted_helpers(3, SIZES));
        for offset in 0..content.len() as u64 {
            ahead.pause = 0;
            ahead.member(offset, &blocks, &Codec::gzip()).unwrap();
            let current = ahead.current.iter().map(|(_, decoder)| decoder);
            let decoders = ahead.idle.iter().chain(current);
            let held: usize = decoders.clone().map(SectionDecoder::memory_bytes).sum();
            assert!(decoders.count() + ahead.submitted.len() <= 6);
            assert!(held <= 6 * (SIZES.decoded_bytes + (128 << 10) + 2 * BLOCK_BYTES));
        }
    }
}
