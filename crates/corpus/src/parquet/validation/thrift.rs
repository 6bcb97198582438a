//! A validating reader of the compact protocol of Thrift.
//!
//! Every element of a list has at least one byte, so a list that claims more elements than the
//! remaining bytes is invalid. Source: the Thrift compact protocol specification, Apache Thrift.

/// The most levels that [`ThriftReader::structure`] counts, about twice what Parquet needs.
pub(super) const MAX_DEPTH: usize = 32;

/// The kind of a 32-bit number.
pub(super) const NUMBER: u8 = 5;

/// The kind of a structure.
pub(super) const STRUCTURE: u8 = 12;

/// The kinds of a boolean: 1 or 2, which is also its value. Both are reported as 1.
pub(super) const BOOLEAN: u8 = 1;

/// The remaining bytes.
#[derive(Clone, Copy)]
pub(super) struct ThriftReader<'a>(&'a [u8]);

impl<'a> ThriftReader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> ThriftReader<'a> {
        ThriftReader(bytes)
    }

    /// The number of bytes.
    pub(super) fn len(self) -> usize {
        self.0.len()
    }

    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn skip(&mut self, bytes: u64) -> Option<()> {
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

    /// The number of elements, if the remaining bytes can contain them.
    fn count(&mut self) -> Option<u64> {
        let count = self.number()?;
        (count <= self.0.len() as u64).then_some(count)
    }

    /// A signed number.
    pub(super) fn integer(&mut self) -> Option<i64> {
        let number = self.number()?;
        Some((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    /// Skips a structure. It takes one of `depth`, and so does each value in it but a boolean.
    pub(super) fn structure(&mut self, depth: usize) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        self.fields(&mut |rest, _, kind| rest.field(kind, depth))
    }

    /// Skips a structure. `each` receives the id and kind of a field and must skip its value. The kind
    /// is one of the constants above, or another number of the protocol.
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
            // The decoder has 16-bit ids.
            i16::try_from(id).ok()?;
            let kind = match head & 15 {
                1 | 2 => BOOLEAN,
                kind => kind,
            };
            each(self, id, kind)?;
        }
    }

    /// Skips the value of a field. A boolean in a structure has no value besides its kind.
    pub(super) fn field(&mut self, kind: u8, depth: usize) -> Option<()> {
        match kind {
            BOOLEAN => Some(()),
            kind => self.value(kind, depth),
        }
    }

    /// Skips a value.
    pub(super) fn value(&mut self, kind: u8, depth: usize) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        match kind {
            1..=3 => self.skip(1),
            4..=6 => self.number().map(drop),
            7 => self.skip(8),
            8 => {
                let length = self.number()?;
                self.skip(length)
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
            13 => self.skip(16),
            _ => None,
        }
    }
}
