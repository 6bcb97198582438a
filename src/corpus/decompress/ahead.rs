//! What is inflated before a reader comes there.

use super::blocks::Blocks;
use super::codec::Codec;
use super::inflaters::Inflaters;
use super::stretch::{Inflated, Kit, Stretch};
use crate::Result;
use crossbeam_channel::{Receiver, bounded};
use std::collections::VecDeque;
use std::ops::Range;

/// How much of the file is read at a time: little of it by two stretches.
const BLOCK_BYTES: usize = 64 << 10;

/// After a member that was not there, at most so many are not asked for.
const MOST_PAUSE: u32 = 64;

/// Has the members of a file inflated ahead of its reader.
pub(super) struct Ahead {
    inflaters: Inflaters,
    /// The stretches that are inflated, in the order of the file.
    coming: VecDeque<(Range<u64>, Receiver<Kit>)>,
    /// The stretch that the reader is in.
    current: Option<(Range<u64>, Kit)>,
    idle: Vec<Kit>,
    /// Up to where in the file there are stretches.
    end: u64,
    /// How many members are not asked for, now and after the next that is not there.
    pause: u32,
    next_pause: u32,
}

impl Ahead {
    /// Has them inflated by `inflaters`.
    pub(super) fn new(inflaters: Inflaters) -> Ahead {
        Ahead {
            inflaters,
            coming: VecDeque::new(),
            current: None,
            idle: Vec::new(),
            end: 0,
            pause: 0,
            next_pause: 1,
        }
    }

    /// The member that begins at `offset` of the file of `blocks`, if it was inflated; its bytes
    /// stay there until the next one is asked for.
    ///
    /// Offsets must not go down.
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
        self.leave_behind(offset);
        self.submit(offset, blocks, codec)?;
        if self.current.is_none()
            && let Some((span, kit)) = self.next_if(|span| span.contains(&offset))
        {
            self.current = self.inflaters.wait(&kit).map(|kit| (span, kit));
        }
        let Some((_, kit)) = &self.current else {
            return Ok(None);
        };
        let found = kit.member(offset).cloned();
        // Members that are too long, one behind another, are not tried in vain each time.
        match found {
            Some(_) => self.next_pause = 1,
            None => {
                self.pause = self.next_pause;
                self.next_pause = MOST_PAUSE.min(2 * self.next_pause);
            }
        }
        Ok(found)
    }

    /// What there is of the last member's bytes.
    pub(super) fn bytes(&self, range: Range<usize>) -> &[u8] {
        match &self.current {
            Some((_, kit)) => kit.bytes(range),
            None => &[],
        }
    }

    /// Takes back the stretches before `offset`.
    fn leave_behind(&mut self, offset: u64) {
        if let Some((_, kit)) = self.current.take_if(|(span, _)| span.end <= offset) {
            self.idle.push(kit);
        }
        while let Some((_, kit)) = self.next_if(|span| span.end <= offset) {
            self.idle.extend(self.inflaters.wait(&kit));
        }
    }

    /// The next stretch that comes, if it is the one.
    fn next_if(
        &mut self,
        is_wanted: impl FnOnce(&Range<u64>) -> bool,
    ) -> Option<(Range<u64>, Receiver<Kit>)> {
        let (span, _) = self.coming.front()?;
        is_wanted(span).then(|| self.coming.pop_front()).flatten()
    }

    /// Hands out as many stretches from `offset` on as there may be.
    fn submit(&mut self, offset: u64, blocks: &Blocks, codec: &Codec) -> Result<()> {
        let sizes = self.inflaters.sizes;
        self.end = self.end.max(offset);
        let most = self.inflaters.share();
        while self.coming.len() + usize::from(self.current.is_some()) < most
            && self.end < blocks.size()
        {
            let end = (self.end / sizes.stretch + 1) * sizes.stretch;
            let span = self.end..end.min(blocks.size());
            self.end = span.end;
            let kit = match self.idle.pop() {
                Some(kit) => kit,
                None => Kit::new(
                    blocks.another(BLOCK_BYTES),
                    codec.small(blocks.path())?,
                    sizes,
                ),
            };
            let (inflated, kit_back) = bounded(1);
            self.coming.push_back((span.clone(), kit_back));
            self.inflaters.submit(Stretch {
                kit,
                span,
                inflated,
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::inflaters::Sizes;
    use super::*;
    use crate::corpus::test_files::{gzip, zstd};
    use std::io::Write;
    use std::thread;
    use tempfile::NamedTempFile;

    const SIZES: Sizes = Sizes {
        stretch: 1000,
        room: 20_000,
    };

    fn open(content: &[u8]) -> (NamedTempFile, Blocks) {
        let mut file = NamedTempFile::new().unwrap();
        file.write_all(content).unwrap();
        let blocks = Blocks::open(file.path(), content.len() as u64, 100).unwrap();
        (file, blocks)
    }

    /// Members, with their offsets; `long` of them are too long to be inflated ahead.
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
    fn all_members_are_inflated_ahead() {
        for (pack, kind) in [(gzip as fn(&[u8]) -> Vec<u8>, 0), (zstd, 1)] {
            let (members, content) = members(pack, &[]);
            let (_file, blocks) = open(&content);
            let codec = &codecs(&blocks)[kind];
            let mut ahead = Ahead::new(Inflaters::of_nobody(3, SIZES));
            for (offset, bytes) in members {
                let found = ahead.member(offset, &blocks, codec).unwrap().unwrap();
                assert_eq!(ahead.bytes(found.bytes), bytes);
            }
        }
    }

    #[test]
    fn those_that_help_do_it_until_the_last_reader_has_left() {
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
            let mut ahead = Ahead::new(inflaters);
            for (offset, bytes) in &members {
                let found = ahead.member(*offset, &blocks, &Codec::gzip()).unwrap();
                assert_eq!(ahead.bytes(found.unwrap().bytes), bytes);
            }
        });
    }

    #[test]
    fn without_anybody_who_helps_nothing_is_inflated_ahead() {
        let (_, content) = members(gzip, &[]);
        let (_file, blocks) = open(&content);
        let mut ahead = Ahead::new(Inflaters::new(4));
        assert_eq!(ahead.member(0, &blocks, &Codec::gzip()).unwrap(), None);
        assert!(ahead.coming.is_empty() && ahead.idle.is_empty());
    }

    #[test]
    fn long_members_are_left_to_the_reader_and_those_behind_them_are_not() {
        let long = [10, 100, 101, 102, 103, 104, 105, 106];
        let (members, content) = members(gzip, &long);
        let (_file, blocks) = open(&content);
        let mut ahead = Ahead::new(Inflaters::of_nobody(3, SIZES));
        let mut missed = Vec::new();
        for (number, (offset, bytes)) in members.iter().enumerate() {
            match ahead.member(*offset, &blocks, &Codec::gzip()).unwrap() {
                Some(found) => assert_eq!(ahead.bytes(found.bytes), bytes),
                None => missed.push(number),
            }
        }
        assert!(long.iter().all(|long| missed.contains(long)));
        // What was in a stretch behind them is missed too, and some are not asked for.
        let near = |missed: &&usize| (10..40).contains(*missed) || (100..160).contains(*missed);
        assert_eq!(
            missed.iter().filter(near).count(),
            missed.len(),
            "{missed:?}"
        );
    }

    #[test]
    fn memory_is_bounded_whatever_is_in_the_file() {
        let bomb = gzip(&vec![0; 10 << 20]);
        // Each of them seems to begin a member and none is one.
        let lures = b"\x1f\x8b\x08\x00\0\0\0\0\0\0\x00\x00\x01\xff\xfe".repeat(1000);
        let (_, plain) = members(gzip, &[]);
        let content = [&plain[..], &bomb, &lures, &plain, &bomb].concat();
        let (_file, blocks) = open(&content);
        let mut ahead = Ahead::new(Inflaters::of_nobody(3, SIZES));
        for offset in 0..content.len() as u64 {
            ahead.pause = 0;
            ahead.member(offset, &blocks, &Codec::gzip()).unwrap();
            let current = ahead.current.iter().map(|(_, kit)| kit);
            let kits = ahead.idle.iter().chain(current);
            let held: usize = kits.clone().map(Kit::memory_bytes).sum();
            assert!(kits.count() + ahead.coming.len() <= 6);
            assert!(held <= 6 * (SIZES.room + (128 << 10) + 2 * BLOCK_BYTES));
        }
    }
}
