//! heed: LMDB, a B-tree in one mapped file, copied on write.

use std::path::Path;

use heed::byteorder::BigEndian;
use heed::types::{Bytes, U32, U64};
use heed::{CommitOrAbort, Database, Env, EnvOpenOptions};

use crate::{Document, Result, Store};

/// The maximum size of the file; only address space is reserved.
const MAP_BYTES: usize = 64 << 30;

type Names = Database<'static, U64<BigEndian>, U32<BigEndian>>;
type Records = Database<'static, U32<BigEndian>, Bytes>;

pub struct Heed {
    names: Names,
    records: Records,
    database: Env,
}

impl Store for Heed {
    const NAME: &str = "heed (LMDB)";

    fn open(directory: &Path) -> Result<Self> {
        // SAFETY: no other process changes or truncates the file: the directory is new, and the process
        // that was killed has ended.
        let database = unsafe {
            EnvOpenOptions::new()
                .map_size(MAP_BYTES)
                .max_dbs(2)
                .open(directory)?
        };
        let transaction = database.write_txn()?;
        let tables = database.create_databases_and_commit(transaction, |opener, transaction| {
            let names = opener.create_database(transaction, Some("names"))?;
            let records = opener.create_database(transaction, Some("records"))?;
            Ok::<_, heed::Error>(CommitOrAbort::<_, ()>::Commit((names, records)))
        })?;
        let (names, records): (Names, Records) = tables.unwrap_commit();
        Ok(Heed {
            names,
            records,
            database,
        })
    }

    fn add(&self, documents: &[Document], named: bool) -> Result<()> {
        let mut transaction = self.database.write_txn()?;
        for Document {
            number,
            name,
            record,
        } in documents
        {
            if named {
                self.names.put(&mut transaction, name, number)?;
            }
            self.records.put(&mut transaction, number, record)?;
        }
        Ok(transaction.commit()?)
    }

    fn look_up(&self, name: u64) -> Result<Option<Vec<u8>>> {
        let transaction = self.database.read_txn()?;
        let Some(number) = self.names.get(&transaction, &name)? else {
            return Ok(None);
        };
        let record = self.records.get(&transaction, &number)?;
        Ok(record.map(<[u8]>::to_vec))
    }

    fn each(
        &self,
        mut name: impl FnMut(u64, u32),
        mut record: impl FnMut(u32, &[u8]),
    ) -> Result<()> {
        let transaction = self.database.read_txn()?;
        for entry in self.names.iter(&transaction)? {
            let (key, value) = entry?;
            name(key, value);
        }
        for entry in self.records.iter(&transaction)? {
            let (key, value) = entry?;
            record(key, value);
        }
        Ok(())
    }

    fn remove_records(&self) -> Result<()> {
        let mut transaction = self.database.write_txn()?;
        self.records.clear(&mut transaction)?;
        Ok(transaction.commit()?)
    }
}
