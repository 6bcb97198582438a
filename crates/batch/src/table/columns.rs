//! Numbers that only some jobs have of each document: the keep keys after the first, and digests of
//! the URL with its date.

use crate::Result;

use super::document_table::DocumentTable;

/// The columns of the file of further numbers, eight bytes for each document and column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Columns {
    /// Policies of the keep order after the first, two columns each.
    pub keys: usize,
    /// Whether URLs are compared: four columns.
    pub urls: bool,
}

/// The numbers of a URL: a digest, and a key that is smaller for a later date.
pub const URL_NUMBERS: usize = 4;

impl Columns {
    fn count(self) -> usize {
        2 * self.keys + if self.urls { URL_NUMBERS } else { 0 }
    }

    /// The further keys of consecutive documents, those of each document together.
    ///
    /// # Errors
    /// Errors of reading.
    pub fn read_keys(
        self,
        table: &DocumentTable,
        first: u64,
        documents: usize,
        keys: &mut Vec<[u8; 16]>,
    ) -> Result<()> {
        let all = self.read(table, first, documents)?;
        keys.clear();
        for numbers in all.chunks_exact(self.count().max(1)) {
            let (halves, _) = numbers.as_chunks::<2>();
            keys.extend(halves.iter().take(self.keys).map(key_of));
        }
        Ok(())
    }

    /// The numbers of the URLs of consecutive documents.
    ///
    /// # Errors
    /// Errors of reading.
    pub fn read_urls(
        self,
        table: &DocumentTable,
        first: u64,
        documents: usize,
        urls: &mut Vec<[u64; URL_NUMBERS]>,
    ) -> Result<()> {
        let all = self.read(table, first, documents)?;
        urls.clear();
        let each = all.chunks_exact(self.count().max(1));
        urls.extend(each.filter_map(|numbers| numbers.last_chunk().copied()));
        Ok(())
    }

    fn read(self, table: &DocumentTable, first: u64, documents: usize) -> Result<Vec<u64>> {
        let mut all = Vec::new();
        let (first, count) = (first * self.count() as u64, documents * self.count());
        table.columns.read(first, count, &mut all)?;
        Ok(all)
    }
}

/// The two numbers of a key.
pub fn halves(key: [u8; 16]) -> [u64; 2] {
    let key = u128::from_be_bytes(key);
    [(key >> 64) as u64, key as u64]
}

fn key_of(&[high, low]: &[u64; 2]) -> [u8; 16] {
    (u128::from(high) << 64 | u128::from(low)).to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_two_numbers() {
        for key in [
            [0; 16],
            [0xff; 16],
            std::array::from_fn(|place| place as u8),
        ] {
            assert_eq!(key_of(&halves(key)), key);
        }
    }
}
