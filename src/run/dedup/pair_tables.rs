//! The list of pairs in further forms.

use std::path::Path;

use crate::io::AtomicFile;
use crate::report::csv;
use crate::report::pairs::Pair;
#[cfg(feature = "parquet")]
use crate::report::parquet_pairs::ParquetPairs;
use crate::{Error, ErrorKind, Result};

use super::job::PairForms;
use super::work::Outputs;

/// The tables that the job asks for.
pub struct PairTables {
    csv: Option<AtomicFile>,
    #[cfg(feature = "parquet")]
    parquet: Option<ParquetPairs>,
}

impl PairTables {
    /// Starts `duplicates.csv` and `duplicates.parquet` in `out`, if they are asked for.
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
                    Some(ParquetPairs::create(&path, outputs.create(&path)?)?)
                }
                false => None,
            },
        })
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        #[cfg(feature = "parquet")]
        if self.parquet.is_some() {
            return false;
        }
        self.csv.is_none()
    }

    /// Adds a pair to each.
    ///
    /// # Errors
    /// [`ErrorKind::Write`].
    pub fn add(&mut self, pair: &Pair<'_>) -> Result<()> {
        if let Some(file) = &mut self.csv {
            csv::pair(pair, file).map_err(|cause| file.error(cause))?;
        }
        #[cfg(feature = "parquet")]
        if let Some(table) = &mut self.parquet {
            table.add(pair)?;
        }
        Ok(())
    }

    /// Publishes them.
    ///
    /// # Errors
    /// [`ErrorKind::Write`].
    pub fn publish(self) -> Result<()> {
        #[cfg(feature = "parquet")]
        self.parquet.map_or(Ok(()), ParquetPairs::publish)?;
        self.csv.map_or(Ok(()), AtomicFile::publish)
    }
}

/// Refuses what this build cannot write.
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
