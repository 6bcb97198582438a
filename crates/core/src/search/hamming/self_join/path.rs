//! The blocks that the fingerprints of a bucket agree in.

use std::ops::Range;
use std::sync::Arc;

use super::super::Fingerprint;
use super::super::blocks::choose;

/// The most divisions of the bits. Each multiplies the buckets that a fingerprint is in, so this
/// bounds the time if divisions save less than planned.
const MAX_DIVISIONS: usize = 3;

/// Disjoint blocks of bits, more than k and at most 64. Together they are all bits in which two
/// fingerprints that are compared may differ.
#[derive(Debug)]
pub(super) struct Blocks<F> {
    pub(super) masks: Vec<F>,
    pub(super) k: u32,
}

impl<F> Blocks<F> {
    /// The number of blocks that two fingerprints at distance k or less agree in, at least.
    pub(super) fn needed(&self) -> u32 {
        self.masks.len() as u32 - self.k
    }
}

/// Some of the blocks of a division, in ascending order.
#[derive(Clone, Debug)]
struct BlockChoice<F> {
    blocks: Arc<Blocks<F>>,
    /// A bit for each chosen block.
    chosen: u64,
    /// The number after that of the last chosen block.
    next: u32,
}

/// The choices that led to a bucket: one for each division of the bits.
#[derive(Clone, Debug)]
pub(super) struct Path<F> {
    mask: F,
    choices: Vec<BlockChoice<F>>,
}

/// A choice before one more block was chosen.
pub(super) struct Before {
    chosen: u64,
    next: u32,
}

impl<F: Fingerprint> Path<F> {
    /// The path of all fingerprints, of which the bits in `mask` are compared.
    pub(super) fn new(mask: F) -> Path<F> {
        let choices = Vec::new();
        Path { mask, choices }
    }

    /// The blocks that may be chosen next; none if the last division has no more.
    pub(super) fn next_blocks(&self) -> Range<u32> {
        let Some(last) = self.choices.last() else {
            return 0..0;
        };
        let count = last.chosen.count_ones();
        match count < last.blocks.needed() {
            true => last.next..last.blocks.k + count + 1,
            false => 0..0,
        }
    }

    /// Chooses a block of [`next_blocks`](Self::next_blocks).
    pub(super) fn choose(&mut self, block: u32) -> Before {
        let mut before = Before { chosen: 0, next: 0 };
        if let Some(last) = self.choices.last_mut() {
            before = Before {
                chosen: last.chosen,
                next: last.next,
            };
            last.chosen |= 1 << block;
            last.next = block + 1;
        }
        before
    }

    /// Undoes [`choose`](Self::choose).
    pub(super) fn restore(&mut self, before: Before) {
        if let Some(last) = self.choices.last_mut() {
            last.chosen = before.chosen;
            last.next = before.next;
        }
    }

    /// The bits of the block that was chosen last.
    pub(super) fn last_mask(&self) -> F {
        let last = self.choices.last().filter(|last| last.chosen != 0);
        last.map_or(F::default(), |last| {
            last.blocks.masks[last.next as usize - 1]
        })
    }

    /// Adds a division of the bits of no chosen block.
    pub(super) fn divide(&mut self, blocks: Arc<Blocks<F>>) {
        self.choices.push(BlockChoice {
            blocks,
            chosen: 0,
            next: 0,
        });
    }

    /// Whether the bits may be divided once more.
    pub(super) fn is_divisible(&self) -> bool {
        self.choices.len() < MAX_DIVISIONS
    }

    /// Undoes [`divide`](Self::divide).
    pub(super) fn unite(&mut self) {
        self.choices.pop();
    }

    /// The bits of no chosen block.
    pub(super) fn free_bits(&self) -> F {
        let mut chosen = F::default();
        for choice in &self.choices {
            let masks = choice.blocks.masks.iter().zip(0..);
            let masks = masks.filter(|(_, block)| choice.chosen >> block & 1 == 1);
            chosen = masks.fold(chosen, |all, (mask, _)| all | *mask);
        }
        self.mask ^ (self.mask & chosen)
    }

    /// Whether a pair at distance k or less, with the difference `different`, counts here: of the
    /// blocks up to the last chosen one of each division, it agrees in the chosen ones and in no
    /// other.
    pub(super) fn is_first(&self, different: F) -> bool {
        self.choices.iter().all(|choice| {
            let masks = choice.blocks.masks[..choice.next as usize].iter();
            let agrees = |mask: &F| different & *mask == F::default();
            masks
                .zip(0..)
                .all(|(mask, block)| agrees(mask) == (choice.chosen >> block & 1 == 1))
        })
    }

    /// The number of full choices of the first division.
    pub(super) fn choices(&self) -> u64 {
        self.choices.first().map_or(1, |first| {
            choose(first.blocks.masks.len() as u32, first.blocks.k)
        })
    }

    /// The number of full choices of the first division that begin with this one. 0 within later
    /// divisions.
    pub(super) fn weight(&self) -> u64 {
        match &self.choices[..] {
            [] => 1,
            [only] => {
                let (all, count) = (only.blocks.masks.len() as u32, only.chosen.count_ones());
                choose(all - only.next, only.blocks.needed() - count)
            }
            _ => 0,
        }
    }
}
