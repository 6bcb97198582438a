//! Keys of fingerprints for collections of any size.
//!
//! The bits are divided into blocks. If at most k bits differ, at most k of b blocks do, so two near
//! fingerprints agree in some b - k blocks, and each choice of these is a key. More blocks make keys
//! of more bits: fewer unrelated fingerprints share one, and each fingerprint has more keys.
//! Source: Manku, Jain and Das Sarma, "Detecting Near-Duplicates for Web Crawling", WWW 2007.

use crate::numbers::mixed;

/// The unrelated fingerprints that may share a key on average.
const SHARED: f64 = 64.0;
/// The maximum number of keys of a fingerprint.
const MAX_KEYS: usize = 256;

/// How keys are made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BitKeys {
    width: u32,
    blocks: u32,
    /// The chosen blocks of each key, a bit for each.
    choices: Vec<u64>,
}

impl BitKeys {
    /// For `count` fingerprints of `width` bits, of which near ones differ in at most `distance`.
    pub fn new(width: u32, distance: u32, count: u64) -> BitKeys {
        if distance >= width.min(63) {
            // Every pair may be near: one key for all.
            return BitKeys {
                width,
                blocks: 1,
                choices: vec![0],
            };
        }
        let mut chosen = BitKeys::of(width, distance, distance + 1);
        for blocks in distance + 2..=width.min(63) {
            if chosen.shared(count) <= SHARED || combinations(blocks, blocks - distance) > MAX_KEYS
            {
                break;
            }
            chosen = BitKeys::of(width, distance, blocks);
        }
        chosen
    }

    fn of(width: u32, distance: u32, blocks: u32) -> BitKeys {
        let wanted = blocks - distance;
        let mut choices = Vec::new();
        choose(blocks, wanted, 0, 0, &mut choices);
        BitKeys {
            width,
            blocks,
            choices,
        }
    }

    /// The expected number of `count` random fingerprints that share a key.
    fn shared(&self, count: u64) -> f64 {
        let least = self.choices.iter().map(|choice| self.bits(*choice)).min();
        count as f64 / 2f64.powi(least.unwrap_or(0) as i32)
    }

    fn bits(&self, choice: u64) -> u32 {
        (0..self.blocks)
            .filter(|block| choice >> block & 1 == 1)
            .map(|block| self.border(block + 1) - self.border(block))
            .sum()
    }

    fn border(&self, block: u32) -> u32 {
        self.width * block / self.blocks
    }

    /// Calls `emit` with the keys of a fingerprint, little-endian.
    pub fn emit(&self, sketch: &[u8], mut emit: impl FnMut(u64)) {
        let mut bytes = [0; 16];
        let length = sketch.len().min(16);
        bytes[..length].copy_from_slice(&sketch[..length]);
        let bits = u128::from_le_bytes(bytes);
        for choice in &self.choices {
            let mut masked = 0;
            for block in (0..self.blocks).filter(|block| choice >> block & 1 == 1) {
                let (start, end) = (self.border(block), self.border(block + 1));
                let mask = (u128::MAX >> (128 - (end - start))) << start;
                masked |= bits & mask;
            }
            emit(mixed(
                masked as u64 ^ mixed((masked >> 64) as u64) ^ mixed(*choice),
            ));
        }
    }
}

fn combinations(all: u32, chosen: u32) -> usize {
    let chosen = chosen.min(all - chosen);
    let product = (0..chosen).try_fold(1usize, |product, step| {
        Some(product.checked_mul((all - step) as usize)? / (step + 1) as usize)
    });
    product.unwrap_or(usize::MAX)
}

fn choose(blocks: u32, rest: u32, next: u32, chosen: u64, choices: &mut Vec<u64>) {
    if rest == 0 {
        choices.push(chosen);
        return;
    }
    for block in next..=blocks - rest {
        choose(blocks, rest - 1, block + 1, chosen | 1 << block, choices);
    }
}
