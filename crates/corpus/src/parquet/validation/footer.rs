//! Validation of the footer, before the decoder allocates the sizes that it claims.
//!
//! The decoder trusts the number of elements that a list claims.

use super::thrift::{MAX_DEPTH, ThriftReader};
use crate::parquet::table_file::TableFile;

/// The length of the footer, and `PAR1`.
const TAIL_BYTES: u64 = 8;
/// The maximum length of a footer. Wide tables of thousands of row groups have shorter ones.
const MAX_BYTES: u64 = 64 << 20;

/// Checks that the footer of a file claims no more elements than it can hold. Accepts files that are
/// not Parquet files.
pub(crate) fn check(file: &TableFile) -> Result<(), String> {
    let unreadable = |cause: std::io::Error| format!("the footer cannot be read: {cause}");
    let Some(tail) = file.bytes().checked_sub(TAIL_BYTES) else {
        return Ok(());
    };
    let mut ending = [0; TAIL_BYTES as usize];
    file.read_exact_at(&mut ending, tail).map_err(unreadable)?;
    let [a, b, c, d, magic @ ..] = ending;
    let length = u64::from(u32::from_le_bytes([a, b, c, d]));
    let Some(start) = tail.checked_sub(length).filter(|_| magic == *b"PAR1") else {
        return Ok(());
    };
    if length > MAX_BYTES {
        return Err(format!(
            "a footer of {length} bytes; the limit is {MAX_BYTES}"
        ));
    }
    let mut footer = vec![0; length as usize];
    file.read_exact_at(&mut footer, start).map_err(unreadable)?;
    let mut rest = ThriftReader::new(&footer);
    rest.structure(MAX_DEPTH)
        .ok_or_else(|| "the footer claims more elements than it holds".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn checked(footer: &[u8]) -> Result<(), String> {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(footer).unwrap();
        file.write_all(&(footer.len() as u32).to_le_bytes())
            .unwrap();
        file.write_all(b"PAR1").unwrap();
        check(&TableFile::open(file.path()).unwrap())
    }

    /// Promise (Deduplication): Every parser accepts any bytes; memory …
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
    fn other_files_are_accepted() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(b"short").unwrap();
        assert_eq!(check(&TableFile::open(file.path()).unwrap()), Ok(()));
        file.write_all(b"\xff\xff\xff\x7fPAR1").unwrap();
        assert_eq!(check(&TableFile::open(file.path()).unwrap()), Ok(()));
    }
}
