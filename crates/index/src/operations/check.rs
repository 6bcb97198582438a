//! The check of a whole index.

use std::path::PathBuf;

use crate::handle::Index;
use crate::record::Standing;
use crate::storage::database::Database;
use crate::{Error, Result};

/// The result of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Check {
    /// The number of documents that are found by their ids, without removed ones; 0 if the database
    /// or a segment is damaged, because documents are not looked up then.
    pub documents: u64,
    /// The problems; none if the index is correct.
    pub problems: Vec<Problem>,
}

/// A problem that a check found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The file, if one can be named.
    pub file: Option<PathBuf>,
    /// What is wrong.
    pub message: String,
}

impl Problem {
    fn of(error: &Error) -> Problem {
        let (file, message) = (error.file().map(PathBuf::from), error.to_string());
        Problem { file, message }
    }
}

impl Index {
    /// Reads every byte. Beyond checksums, it checks that tables are sorted and agree with the
    /// documents, that every document is found by its id, and that copies name an earlier document.
    /// Changes wait meanwhile; queries do not.
    ///
    /// # Errors
    /// If an earlier failure closed the database: those of opening it again. Damage is no error but
    /// a result.
    pub fn check(&self) -> Result<Check> {
        let mut writer = self.lock();
        if writer.database.is_none() {
            self.reload(&mut writer)?;
        }
        let mut check = Check::default();
        // Opening checks the whole database.
        if let Err(error) = Database::open_copy(&self.directory).and_then(|copy| copy.load()) {
            check.problems.push(Problem::of(&error));
        }
        let snapshot = self.snapshot();
        for part in &snapshot.parts {
            if let Err(error) = part.segment.verify() {
                check.problems.push(Problem::of(&error));
            }
        }
        if !check.problems.is_empty() {
            return Ok(check);
        }
        for ordinal in 0..snapshot.next_ordinal() {
            let part = snapshot.location(ordinal).part as usize;
            let mut problem = |message: String| {
                let segment = snapshot.parts.get(part).map(|part| &part.segment);
                check.problems.push(Problem {
                    file: segment.map(|segment| segment.path().to_owned()),
                    message,
                });
            };
            let record = match snapshot.get(ordinal) {
                Ok(Some(record)) => record,
                Ok(None) => continue,
                Err(error) => {
                    problem(error.to_string());
                    continue;
                }
            };
            let of = match record.standing {
                Standing::Near(near) => Some(near.kept),
                Standing::Same { first, kept, .. } => Some(first.max(kept)),
                _ => None,
            };
            if of.is_some_and(|of| of >= ordinal) {
                problem(format!("document {ordinal} is no copy of an earlier one"));
            }
            check.documents += 1;
        }
        Ok(check)
    }
}
