//! The shingles of a home that other documents have, too: only these are exchanged to find documents
//! that others contain.

use simtool_core::Result;

use crate::context::Context;
use crate::numbers::mixed;
use crate::work::{Outbox, Stream};

/// Shingles of the sets of a home, by themselves, in the order of the sets: `u64`, of the stage
/// `elements`.
pub const ELEMENTS: Stream = Stream(0);
/// Whether several sets have these: messages with a bit for each, by homes, of the stage `frequent`.
const SHARED: Stream = Stream(1);

/// Tells the homes which of their shingles of a part are `shared`; these are sorted.
///
/// # Errors
/// Errors of reading and writing.
pub fn tell(context: &Context<'_>, part: usize, shared: &[u64], out: &mut Outbox) -> Result<()> {
    for home in 0..context.tasks() {
        let mut bits = Bits::default();
        let elements = context.inbox("elements").file(home)?;
        elements.records(ELEMENTS, part, |element| {
            bits.push(shared.binary_search(&element).is_ok());
            Ok(())
        })?;
        out.message(SHARED, home, &[&bits.bytes])?;
    }
    Ok(())
}

/// Answers of yes and no, in an order.
#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    count: usize,
}

impl Bits {
    fn push(&mut self, bit: bool) {
        if self.count.is_multiple_of(8) {
            self.bytes.push(0);
        }
        if let Some(last) = self.bytes.last_mut() {
            *last |= u8::from(bit) << (self.count % 8);
        }
        self.count += 1;
    }

    /// Reads the next one; `count` are read.
    fn next(&mut self) -> bool {
        let byte = self.bytes.get(self.count / 8).copied().unwrap_or_default();
        self.count += 1;
        byte >> ((self.count - 1) % 8) & 1 != 0
    }
}

/// Tells which elements of the sets of a home other sets have, too.
pub struct SharedElements<'c> {
    context: &'c Context<'c>,
    /// Of each part of elements.
    parts: Vec<Bits>,
}

impl<'c> SharedElements<'c> {
    /// The shared shingles of a home; `None` unless all sets were counted.
    ///
    /// # Errors
    /// Errors of reading.
    pub fn of(context: &'c Context<'c>, home: usize) -> Result<Option<SharedElements<'c>>> {
        if !context.has_containment() {
            return Ok(None);
        }
        let mut parts = Vec::new();
        context
            .inbox("frequent")
            .messages(SHARED, home, |_, bits| {
                parts.push(Bits {
                    bytes: bits.to_vec(),
                    count: 0,
                });
                Ok(())
            })?;
        Ok(Some(SharedElements { context, parts }))
    }

    /// The elements of the next set, in the order of the home, that others have, too; sorted.
    pub fn next(&mut self, set: &[u64]) -> Vec<u64> {
        let is_shared = |element: &&u64| {
            let part = self.context.part(mixed(**element));
            self.parts.get_mut(part).is_some_and(Bits::next)
        };
        set.iter().filter(is_shared).copied().collect()
    }
}
