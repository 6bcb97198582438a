//! Is all of it right?

use std::path::PathBuf;

use super::Index;
use super::database::Database;
use super::view::Place;
use crate::{Error, Result};

/// What a check has found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Check {
    /// Documents that are right, without removed ones.
    pub documents: u64,
    /// What is wrong; nothing if the index is right.
    pub problems: Vec<Problem>,
}

/// Something that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The file, if one can be named.
    pub file: Option<PathBuf>,
    /// What is wrong with it, and what can be done.
    pub message: String,
}

impl Problem {
    fn of(error: &Error) -> Problem {
        let (file, message) = (error.file().map(PathBuf::from), error.to_string());
        Problem { file, message }
    }
}

impl Index {
    /// Reads every byte, and checks what checksums do not say: that tables are sorted and hold
    /// what the documents say, that every document is found by its id and that no id is there twice. Changes wait meanwhile.
    ///
    /// # Errors
    /// None for what is damaged: that is the answer. [`ErrorKind`](crate::ErrorKind::Write) if the
    /// database could not be opened again after a failure.
    pub fn check(&self) -> Result<Check> {
        let mut writer = self.lock();
        if writer.database.is_none() {
            self.reload(&mut writer)?;
        }
        let mut check = Check::default();
        // Opening checks everything in it.
        if let Err(error) = Database::open_copy(&self.directory).and_then(|copy| copy.load()) {
            check.problems.push(Problem::of(&error));
        }
        let view = self.view();
        for part in &view.parts {
            if let Err(error) = part.segment.verify() {
                check.problems.push(Problem::of(&error));
            }
        }
        if !check.problems.is_empty() {
            return Ok(check);
        }
        for part in 0..=view.parts.len() as u32 {
            let segment = view.parts.get(part as usize).map(|part| &part.segment);
            let count = segment.map_or(view.recent.len(), |segment| segment.documents());
            for place in (0..count).map(|number| Place { part, number }) {
                if !view.is_live(place) {
                    continue;
                }
                match view.document(place).and_then(|entry| view.find(entry.id)) {
                    Ok(found) if found == Some(place) => check.documents += 1,
                    Ok(_) => check.problems.push(Problem {
                        file: segment.map(|segment| segment.path().to_owned()),
                        message: format!("document {} is not the one of its id", place.number),
                    }),
                    Err(error) => check.problems.push(Problem::of(&error)),
                }
            }
        }
        Ok(check)
    }
}
