//! Helpers: jobs.

use simtool::jobs::passages::KeptOccurrence;
use simtool::jobs::passages::lines::{LinesJob, Per, Rule, Threshold};
use simtool::text::units::{Normal, UnitKind};

use crate::passages;
pub use crate::passages::{Text, contents, documents, json_of, lines_of, resources, run, write};

/// A job that marks lines that occur more than once.
pub fn job() -> LinesJob {
    LinesJob {
        kind: UnitKind::Line,
        normal: Normal::default(),
        rule: repeated(1, "global", KeptOccurrence::First),
        listed: 50,
        common: passages::marking(),
    }
}

pub fn repeated(above: u64, per: &str, keep: KeptOccurrence) -> Rule {
    let per = Per::parse(per).unwrap();
    Rule::Repeated {
        threshold: Threshold::Above(above),
        per,
        keep,
    }
}

/// A job that cuts what it finds, and drops documents of which less than three words remain.
pub fn cutting() -> LinesJob {
    LinesJob {
        common: passages::cutting(),
        ..job()
    }
}
