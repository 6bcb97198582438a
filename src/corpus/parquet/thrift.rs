//! Passes over what is written in the compact protocol of Thrift.
//!
//! Every element of a list takes at least a byte, so a list that claims more elements than bytes
//! are left is a lie. Source: the Thrift compact protocol specification, Apache Thrift.

/// Structures within structures: those of Parquet are seven deep.
pub(super) const MOST_DEPTH: usize = 32;

/// Of a field that is a 32-bit number.
pub(super) const NUMBER: u8 = 5;

/// Of a field that is a structure.
pub(super) const STRUCTURE: u8 = 12;

/// Of a field that is a truth value: it is the value, or the next kind is.
pub(super) const TRUTH: u8 = 1;

/// The bytes that are left.
#[derive(Clone, Copy)]
pub(super) struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Rest<'a> {
        Rest(bytes)
    }

    /// How many bytes there are.
    pub(super) fn len(self) -> usize {
        self.0.len()
    }

    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn pass(&mut self, bytes: u64) -> Option<()> {
        self.0 = self.0.get(usize::try_from(bytes).ok()?..)?;
        Some(())
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    /// How many elements there are, if so many can be left.
    fn count(&mut self) -> Option<u64> {
        let count = self.number()?;
        (count <= self.0.len() as u64).then_some(count)
    }

    /// A number with a sign.
    pub(super) fn integer(&mut self) -> Option<i64> {
        let number = self.number()?;
        Some((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    /// Passes a structure; structures within it are at most `depth` deep.
    pub(super) fn structure(&mut self, depth: usize) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        self.fields(&mut |rest, _, kind| rest.field(kind, depth))
    }

    /// Passes a structure; `each` passes the value of a field, given its id and its kind: one of
    /// the constants above, for those.
    pub(super) fn fields(
        &mut self,
        each: &mut dyn FnMut(&mut Self, i64, u8) -> Option<()>,
    ) -> Option<()> {
        let mut id = 0i64;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Some(());
            }
            id = match head >> 4 {
                0 => self.integer()?,
                step => id.checked_add(i64::from(step))?,
            };
            // The decoder has no larger ones.
            i16::try_from(id).ok()?;
            let kind = match head & 15 {
                1 | 2 => TRUTH,
                kind => kind,
            };
            each(self, id, kind)?;
        }
    }

    /// Passes the value of a field. Of a truth value in a structure, the kind is the value.
    pub(super) fn field(&mut self, kind: u8, depth: usize) -> Option<()> {
        match kind {
            TRUTH => Some(()),
            kind => self.value(kind, depth),
        }
    }

    /// Passes a value.
    pub(super) fn value(&mut self, kind: u8, depth: usize) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        match kind {
            1..=3 => self.pass(1),
            4..=6 => self.number().map(drop),
            7 => self.pass(8),
            8 => {
                let length = self.number()?;
                self.pass(length)
            }
            9 | 10 => {
                let head = self.byte()?;
                let count = match head >> 4 {
                    15 => self.count()?,
                    few => u64::from(few),
                };
                (0..count).try_for_each(|_| self.value(head & 15, depth))
            }
            11 => {
                let count = self.count()?;
                let kinds = if count > 0 { self.byte()? } else { 0 };
                (0..count).try_for_each(|_| {
                    self.value(kinds >> 4, depth)?;
                    self.value(kinds & 15, depth)
                })
            }
            12 => self.structure(depth),
            13 => self.pass(16),
            _ => None,
        }
    }
}
