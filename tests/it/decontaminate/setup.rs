//! Helpers: jobs.

use std::path::Path;

use simtool::corpus::Reading;
use simtool::engine::Resources;
use simtool::jobs::dedup::DumpSettings;
use simtool::jobs::passages::decontaminate::{Job, LeastWords, Widening, least_memory_bytes};
use simtool::jobs::passages::{Action, Remains};
use simtool::jobs::shards::ShardSettings;
use simtool::kernel::Level;
use simtool::text::Choice;

/// A job that marks n-grams of three words, and shorter items of two.
pub fn job() -> Job {
    let reading = Reading {
        max_document_bytes: 1 << 20,
        chunk_bytes: 4096,
        ..Reading::default()
    };
    Job {
        least: LeastWords(3),
        least_item: LeastWords(2),
        tokenizer: Choice::Auto,
        clusters: None,
        has_answers: false,
        most_documents: None,
        widening: Widening::default(),
        most_pieces: None,
        action: Action::Mark,
        remains: Remains {
            words: 0,
            sentences: 0,
            tokenizer: Choice::Auto,
        },
        reference_reading: reading.clone(),
        reading,
        dump: DumpSettings::default(),
        shards: ShardSettings::default(),
        page: true,
    }
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
    job.most_documents = Some(40);
    job
}
