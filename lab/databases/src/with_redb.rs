//! redb: a B-tree in one file, copied on write.

use std::path::Path;

use redb::{Builder, Database, Durability, ReadableDatabase as _, ReadableTable as _};
use redb::{TableDefinition, WriteTransaction};

use crate::{CACHE_BYTES, Document, Result, Store};

const NAMES: TableDefinition<u64, u32> = TableDefinition::new("names");
const RECORDS: TableDefinition<u32, &[u8]> = TableDefinition::new("records");

/// A commit with one phase is safe unless data is chosen to break checksums; with two it is always
/// safe.
pub struct Redb<const TWO_PHASES: bool>(Database);

impl<const TWO_PHASES: bool> Redb<TWO_PHASES> {
    fn begin(&self) -> Result<WriteTransaction> {
        let mut transaction = self.0.begin_write()?;
        transaction.set_durability(Durability::Immediate)?;
        transaction.set_two_phase_commit(TWO_PHASES);
        Ok(transaction)
    }
}

impl<const TWO_PHASES: bool> Store for Redb<TWO_PHASES> {
    const NAME: &str = if TWO_PHASES {
        "redb, two phases"
    } else {
        "redb"
    };

    /// Checks all of it, as the index does.
    fn open(directory: &Path) -> Result<Self> {
        let mut builder = Builder::new();
        builder.set_cache_size(CACHE_BYTES);
        builder.set_check_integrity_on_open(true);
        Ok(Redb(builder.create(directory.join("redb"))?))
    }

    fn add(&self, documents: &[Document], named: bool) -> Result<()> {
        let transaction = self.begin()?;
        {
            let mut names = transaction.open_table(NAMES)?;
            let mut records = transaction.open_table(RECORDS)?;
            for document in documents {
                if named {
                    names.insert(document.name, document.number)?;
                }
                records.insert(document.number, &document.record[..])?;
            }
        }
        Ok(transaction.commit()?)
    }

    fn look_up(&self, name: u64) -> Result<Option<Vec<u8>>> {
        let transaction = self.0.begin_read()?;
        let Some(number) = transaction.open_table(NAMES)?.get(name)? else {
            return Ok(None);
        };
        let record = transaction.open_table(RECORDS)?.get(number.value())?;
        Ok(record.map(|record| record.value().to_vec()))
    }

    fn each(
        &self,
        mut name: impl FnMut(u64, u32),
        mut record: impl FnMut(u32, &[u8]),
    ) -> Result<()> {
        let transaction = self.0.begin_read()?;
        for entry in transaction.open_table(NAMES)?.iter()? {
            let (key, value) = entry?;
            name(key.value(), value.value());
        }
        for entry in transaction.open_table(RECORDS)?.iter()? {
            let (key, value) = entry?;
            record(key.value(), value.value());
        }
        Ok(())
    }

    fn remove_records(&self) -> Result<()> {
        let transaction = self.begin()?;
        transaction.open_table(RECORDS)?.retain(|_, _| false)?;
        Ok(transaction.commit()?)
    }
}
