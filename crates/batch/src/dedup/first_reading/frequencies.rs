//! Corpus statistics of a method, stored with their digest.

use xxhash_rust::xxh3::xxh3_128;

use crate::{Error, ErrorKind, Result};
use simtool_files::RecordFile;
use std::io::Write;

use crate::workdir::Work;

/// A feature and its count. The first record is the number of documents, and zero.
pub type Record = [u64; 2];

/// The records that a run stored under `number`; `None` if there are none.
///
/// # Errors
/// [`ErrorKind::Content`] if they are damaged; [`ErrorKind::Read`] if they cannot be read.
pub fn load(work: &Work, number: usize) -> Result<Option<Vec<Record>>> {
    let path = work.path(&name(number));
    if !path.exists() {
        return Ok(None);
    }
    let damaged = || {
        let message = "is damaged: start again with --restart";
        Error::new(ErrorKind::Content, message).in_file(&path)
    };
    let file = RecordFile::<Record>::open(&path).map_err(|_| damaged())?;
    let mut records = Vec::new();
    file.read(0, usize::MAX, &mut records)?;
    match records.pop() {
        Some(digest) if digest == digest_of(&records) => Ok(Some(records)),
        _ => Err(damaged()),
    }
}

/// Stores `records` under `number`.
///
/// # Errors
/// [`ErrorKind::Write`].
pub fn store(work: &Work, number: usize, records: &[Record]) -> Result<()> {
    let mut file = work.create(&work.path(&name(number)))?;
    file.write_all(bytemuck::cast_slice(records))
        .and_then(|()| file.write_all(bytemuck::bytes_of(&digest_of(records))))
        .map_err(|cause| file.error(cause))?;
    file.publish()
}

fn name(number: usize) -> String {
    format!("frequencies-{number}")
}

/// xxh3-128 of the records, which follows them in the file.
fn digest_of(records: &[Record]) -> Record {
    let digest = xxh3_128(bytemuck::cast_slice(records));
    [digest as u64, (digest >> 64) as u64]
}
