//! The list of pairs as CSV and Parquet.

use std::path::Path;

use crate::{Error, ErrorKind, Result};
use simtool_files::AtomicFile;
use simtool_report::csv;
use simtool_report::pairs::Pair;
#[cfg(feature = "parquet")]
use simtool_report::pairs::{COLUMNS, LONG};
#[cfg(feature = "parquet")]
use simtool_report::parquet_table::ParquetTable;

use crate::dedup::settings::job::PairForms;
use crate::workdir::Outputs;

/// The tables that the job requests.
pub struct PairTables {
    csv: Option<AtomicFile>,
    #[cfg(feature = "parquet")]
    parquet: Option<ParquetTable>,
}

impl PairTables {
    /// Creates `duplicates.csv` and `duplicates.parquet` in `out`, if requested.
    ///
    /// # Errors
    /// [`ErrorKind::Write`]; [`ErrorKind::Parameter`] for Parquet in a build without it.
    pub fn create(forms: PairForms, out: &Path, outputs: &Outputs) -> Result<PairTables> {
        check(forms)?;
        let csv = match forms.csv {
            true => {
                let mut file = outputs.create(&out.join("duplicates.csv"))?;
                csv::header(&mut file).map_err(|cause| file.error(cause))?;
                Some(file)
            }
            false => None,
        };
        Ok(PairTables {
            csv,
            #[cfg(feature = "parquet")]
            parquet: match forms.parquet {
                true => {
                    let path = out.join("duplicates.parquet");
                    {
                        let file = outputs.create(&path)?;
                        Some(ParquetTable::create(&path, file, &COLUMNS, &LONG)?)
                    }
                }
                false => None,
            },
        })
    }

    /// Whether no table is requested.
    pub fn is_empty(&self) -> bool {
        #[cfg(feature = "parquet")]
        if self.parquet.is_some() {
            return false;
        }
        self.csv.is_none()
    }

    /// Adds a pair to each table.
    ///
    /// # Errors
    /// [`ErrorKind::Write`].
    pub fn add(&mut self, pair: &Pair<'_>) -> Result<()> {
        if let Some(file) = &mut self.csv {
            csv::pair(pair, file).map_err(|cause| file.error(cause))?;
        }
        #[cfg(feature = "parquet")]
        if let Some(table) = &mut self.parquet {
            table.add(pair.cells())?;
        }
        Ok(())
    }

    /// Publishes the tables.
    ///
    /// # Errors
    /// [`ErrorKind::Write`].
    pub fn publish(self) -> Result<()> {
        #[cfg(feature = "parquet")]
        self.parquet.map_or(Ok(()), ParquetTable::publish)?;
        self.csv.map_or(Ok(()), AtomicFile::publish)
    }
}

/// Refuses formats that this build cannot write.
///
/// # Errors
/// [`ErrorKind::Parameter`].
pub fn check(forms: PairForms) -> Result<()> {
    match forms.parquet && cfg!(not(feature = "parquet")) {
        true => {
            let message = "this build writes no Parquet (build it with the feature parquet)";
            Err(Error::new(ErrorKind::Parameter, message))
        }
        false => Ok(()),
    }
}
