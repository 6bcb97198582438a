//! Positioned reads of an object, with the last blocks kept.

use std::sync::{Arc, Mutex};

use bytes::{Bytes, BytesMut};

use super::cached_blocks::BLOCK_BYTES;
use super::object::{Object, Pending};
use crate::Result;
use crate::requests::hosts::lock;

/// The maximum number of blocks that are kept.
const MAX_BLOCKS: usize = 12;

/// Reads an object at any offsets, in any order.
///
/// Neighbouring reads share blocks of 1 MiB, of which the last ones are kept. A block that follows
/// one that was read is requested ahead.
pub struct Cached {
    object: Arc<Object>,
    blocks: Mutex<Blocks>,
}

#[derive(Default)]
struct Blocks {
    /// Blocks with their numbers; the one used last is at the end.
    kept: Vec<(u64, Bytes)>,
    /// A block requested ahead.
    ahead: Option<(u64, Pending)>,
}

impl Cached {
    /// A reader of `object`.
    pub fn new(object: Arc<Object>) -> Cached {
        Cached {
            object,
            blocks: Mutex::default(),
        }
    }

    /// The object.
    pub fn object(&self) -> &Arc<Object> {
        &self.object
    }

    /// Fills `buffer` from `offset` on, or less of it at the end of the object. Returns the number of
    /// bytes read.
    ///
    /// # Errors
    /// Errors of [`Object::read_at`].
    pub fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize> {
        let left = self.object.bytes().saturating_sub(offset);
        let length = buffer
            .len()
            .min(usize::try_from(left).unwrap_or(usize::MAX));
        let mut filled = 0;
        let mut blocks = lock(&self.blocks);
        while filled < length {
            let at = offset + filled as u64;
            let end = offset + length as u64;
            let number = at / BLOCK_BYTES;
            let block = blocks.get(&self.object, number, end.div_ceil(BLOCK_BYTES))?;
            let within = (at - number * BLOCK_BYTES) as usize;
            let piece = &block[within..];
            let taken = piece.len().min(length - filled);
            buffer[filled..filled + taken].copy_from_slice(&piece[..taken]);
            filled += taken;
        }
        Ok(filled)
    }
}

impl Blocks {
    /// The block with this number. Those up to `end` will be needed too.
    fn get(&mut self, object: &Object, number: u64, end: u64) -> Result<Bytes> {
        if let Some(place) = self.kept.iter().position(|(own, _)| *own == number) {
            let found = self.kept.remove(place);
            let block = found.1.clone();
            self.kept.push(found);
            return Ok(block);
        }
        if self.ahead.as_ref().is_some_and(|(own, _)| *own == number)
            && let Some((_, pending)) = self.ahead.take()
        {
            self.request_ahead(object, number + 1);
            let block = pending.wait()?;
            self.keep(number, block.clone());
            return Ok(block);
        }
        let is_next = number > 0 && self.kept.iter().any(|(own, _)| *own == number - 1);
        let most = number + MAX_BLOCKS as u64 / 2;
        let end = end.clamp(number + 1, most);
        let range = number * BLOCK_BYTES..end * BLOCK_BYTES;
        if is_next {
            self.request_ahead(object, end);
        }
        let mut bytes = object.read_at(range)?;
        let mut first = None;
        for number in number..end {
            let taken = bytes.len().min(BLOCK_BYTES as usize);
            // A copy, so that a kept block does not keep its neighbours.
            let block = BytesMut::from(&bytes.split_to(taken)[..]).freeze();
            first.get_or_insert_with(|| block.clone());
            self.keep(number, block);
        }
        Ok(first.unwrap_or_default())
    }

    fn request_ahead(&mut self, object: &Object, number: u64) {
        let range = number * BLOCK_BYTES..(number + 1) * BLOCK_BYTES;
        self.ahead = object
            .begin(range, BytesMut::new())
            .map(|pending| (number, pending));
    }

    fn keep(&mut self, number: u64, block: Bytes) {
        if self.kept.len() >= MAX_BLOCKS {
            self.kept.remove(0);
        }
        self.kept.push((number, block));
    }
}
