//! fjall: a log, and sorted files merged by threads of its own.

use std::path::Path;

use fjall::{Database, Keyspace, KeyspaceCreateOptions, OwnedWriteBatch, PersistMode};

use crate::{CACHE_BYTES, Document, Result, Store};

pub struct Fjall {
    names: Keyspace,
    records: Keyspace,
    database: Database,
}

impl Fjall {
    fn begin(&self) -> OwnedWriteBatch {
        self.database.batch().durability(Some(PersistMode::SyncAll))
    }
}

impl Store for Fjall {
    const NAME: &str = "fjall";

    fn open(directory: &Path) -> Result<Self> {
        let database = Database::builder(directory)
            .cache_size(CACHE_BYTES as u64)
            .open()?;
        Ok(Fjall {
            names: database.keyspace("names", KeyspaceCreateOptions::default)?,
            records: database.keyspace("records", KeyspaceCreateOptions::default)?,
            database,
        })
    }

    fn add(&self, documents: &[Document], named: bool) -> Result<()> {
        let mut batch = self.begin();
        for document in documents {
            let number = document.number.to_be_bytes();
            if named {
                batch.insert(&self.names, document.name.to_be_bytes(), number);
            }
            batch.insert(&self.records, number, &document.record[..]);
        }
        Ok(batch.commit()?)
    }

    fn look_up(&self, name: u64) -> Result<Option<Vec<u8>>> {
        let Some(number) = self.names.get(name.to_be_bytes())? else {
            return Ok(None);
        };
        let record = self.records.get(number)?;
        Ok(record.map(|record| record.to_vec()))
    }

    fn each(
        &self,
        mut name: impl FnMut(u64, u32),
        mut record: impl FnMut(u32, &[u8]),
    ) -> Result<()> {
        let number = |bytes: &[u8]| bytes.try_into().map(u32::from_be_bytes);
        for entry in self.names.iter() {
            let (key, value) = entry.into_inner()?;
            name(u64::from_be_bytes(key[..].try_into()?), number(&value)?);
        }
        for entry in self.records.iter() {
            let (key, value) = entry.into_inner()?;
            record(number(&key)?, &value);
        }
        Ok(())
    }

    fn remove_records(&self) -> Result<()> {
        let mut batch = self.begin();
        for entry in self.records.iter() {
            batch.remove(&self.records, entry.key()?);
        }
        Ok(batch.commit()?)
    }
}
