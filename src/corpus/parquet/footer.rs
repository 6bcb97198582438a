//! A look at the footer before the decoder allocates what it claims.
//!
//! The footer is a Thrift structure in the compact protocol. Every element of a list takes at
//! least a byte, so a list that claims more elements than bytes are left is a lie; the decoder
//! would believe it. Source: the Thrift compact protocol specification, Apache Thrift.

use std::fs::File;
use std::os::unix::fs::FileExt;

/// The length of the footer, and `PAR1`.
const TAIL_BYTES: u64 = 8;
/// Wide tables of thousands of row groups have less.
const MOST_BYTES: u64 = 64 << 20;
/// Structures within structures: those of Parquet are seven deep.
const MOST_DEPTH: usize = 32;

/// Whether the footer of a file of `file_bytes` bytes claims only what it may hold. Says nothing
/// of files that are no Parquet files.
pub(super) fn check(file: &File, file_bytes: u64) -> Result<(), String> {
    let unreadable = |cause: std::io::Error| format!("the footer cannot be read: {cause}");
    let Some(tail) = file_bytes.checked_sub(TAIL_BYTES) else {
        return Ok(());
    };
    let mut ending = [0; TAIL_BYTES as usize];
    file.read_exact_at(&mut ending, tail).map_err(unreadable)?;
    let [a, b, c, d, magic @ ..] = ending;
    let length = u64::from(u32::from_le_bytes([a, b, c, d]));
    let Some(start) = tail.checked_sub(length).filter(|_| magic == *b"PAR1") else {
        return Ok(());
    };
    if length > MOST_BYTES {
        return Err(format!(
            "a footer of {length} bytes: at most {MOST_BYTES} are read"
        ));
    }
    let mut footer = vec![0; length as usize];
    file.read_exact_at(&mut footer, start).map_err(unreadable)?;
    let mut rest = Rest(&footer);
    rest.structure(MOST_DEPTH)
        .ok_or_else(|| "the footer claims more than it holds".to_owned())
}

/// The bytes that are left.
struct Rest<'a>(&'a [u8]);

impl Rest<'_> {
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

    fn structure(&mut self, depth: usize) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Some(());
            }
            if head >> 4 == 0 {
                self.number()?;
            }
            // Of a truth value in a structure, the type is the value.
            if !matches!(head & 15, 1 | 2) {
                self.value(head & 15, depth)?;
            }
        }
    }

    fn value(&mut self, kind: u8, depth: usize) -> Option<()> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn checked(footer: &[u8]) -> Result<(), String> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(footer).unwrap();
        file.write_all(&(footer.len() as u32).to_le_bytes())
            .unwrap();
        file.write_all(b"PAR1").unwrap();
        check(&file, footer.len() as u64 + TAIL_BYTES)
    }

    #[test]
    fn claims_of_lists_are_checked() {
        // A structure with a list of three numbers, and one that claims 2^27 structures.
        assert_eq!(checked(&[0x19, 0x35, 1, 2, 3, 0]), Ok(()));
        let lie = [0x19, 0xfc, 0x80, 0x80, 0x80, 0x40, 0, 0];
        assert!(checked(&lie).unwrap_err().contains("claims more"));
        for bytes in [&[0x18, 9, b'x'][..], &[0x19], &[0x1f, 0], &[0x1c; 100]] {
            assert!(checked(bytes).is_err(), "{bytes:?}");
        }
    }

    #[test]
    fn other_files_are_somebody_elses() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"short").unwrap();
        assert_eq!(check(&file, 5), Ok(()));
        file.write_all(b"\xff\xff\xff\x7fPAR1").unwrap();
        assert_eq!(check(&file, 13), Ok(()));
    }
}
