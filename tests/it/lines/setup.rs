//! Helpers: jobs.

use std::path::Path;

use simtool::corpus::Reading;
use simtool::engine::Resources;
use simtool::jobs::dedup::DumpSettings;
use simtool::jobs::passages::lines::{Job, KeptUnit, Per, Rule, least_memory_bytes};
use simtool::jobs::passages::{Action, Remains};
use simtool::jobs::shards::ShardSettings;
use simtool::kernel::Level;
use simtool::text::Choice;
use simtool::text::units::{Normal, UnitKind};

pub use crate::passages::{Text, contents, documents, json_of, lines_of, run, write};

/// A job that marks lines that occur more than once.
pub fn job() -> Job {
    Job {
        kind: UnitKind::Line,
        normal: Normal::default(),
        rule: repeated(1, "global", KeptUnit::First),
        action: Action::Mark,
        remains: Remains {
            words: 0,
            sentences: 0,
            tokenizer: Choice::Auto,
        },
        listed: 50,
        reading: Reading {
            max_document_bytes: 1 << 20,
            chunk_bytes: 4096,
            ..Reading::default()
        },
        dump: DumpSettings::default(),
        shards: ShardSettings::default(),
        page: true,
    }
}

pub fn repeated(above: u64, per: &str, keep: KeptUnit) -> Rule {
    let per = Per::parse(per).unwrap();
    Rule::Repeated { above, per, keep }
}

/// The given number of threads, and the least memory for it.
pub fn resources(job: &Job, threads: usize, temporary: &Path) -> Resources {
    Resources {
        threads,
        memory_bytes: least_memory_bytes(threads, &job.reading),
        temporary: temporary.to_owned(),
        level: Level::best(),
    }
}

/// A job that cuts what it finds, and drops documents of which less than three words remain.
pub fn cutting() -> Job {
    let mut job = job();
    job.action = Action::Cut;
    job.remains.words = 3;
    job
}
