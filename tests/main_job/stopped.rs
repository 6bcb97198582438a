//! Runs that end before their result is complete say why.

use crate::corpora::{Random, hash_table, pages, shuffled, word};
use crate::oracle::Job;
use crate::{resources, run};
use simtool::engine::{Progress, Resources, Stage};
use simtool::io::{Input, guard};
use simtool::jobs::main_job::{self, MainJobInputs};
use simtool::kernel::Level;
use simtool::{Error, ErrorKind};
use std::io::{Seek, Write};

fn small() -> Job {
    Job {
        features: 2,
        columns: 8,
        distance: 3,
        articles: vec![b"1\na b\x0c2\nb".to_vec()],
        samples: b"s\na".to_vec(),
        hash_table: hash_table(2, 8, 1),
        ..Job::default()
    }
}

/// Promise (Bounded memory): A memory bound that is too …
#[test]
fn too_little_memory_is_an_error_with_both_numbers() {
    let least = Resources::least_memory_bytes(3);
    let resources = Resources {
        memory_bytes: least - 1,
        ..resources(3, 0, Level::best())
    };
    let error = run(&small(), &resources).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Memory);
    let text = error.to_string();
    let numbers = [(least - 1) >> 20, least >> 20].map(|bytes| format!("{bytes} MiB"));
    assert!(numbers.iter().all(|number| text.contains(number)), "{text}");
}

/// Promise (Bounded memory): Tables that do not fit are …
#[test]
fn without_memory_or_a_temporary_directory_there_is_no_table() {
    let resources = Resources {
        temporary: std::env::temp_dir().join("there is no such directory"),
        ..resources(1, 0, Level::best())
    };
    let error = run(&small(), &resources).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Write);
    assert!(
        error.to_string().contains("there is no such directory"),
        "{error}"
    );
}

/// Promise (Bounded memory): Stop words that need too much memory are refused
#[test]
fn too_many_stop_words_are_refused() {
    let words = |count| {
        (0..count)
            .map(|number| word(number) + "\n")
            .collect::<String>()
    };
    let run_with = |count, spare| {
        let job = Job {
            stop_words: words(count).into(),
            ..small()
        };
        run(&job, &resources(1, spare, Level::best()))
    };
    assert!(run_with(60_000, 0).is_ok());
    let error = run_with(100_000, 0).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Memory);
    assert!(error.to_string().contains("stop words"), "{error}");
    assert!(run_with(100_000, 64 << 20).is_ok());
}

#[test]
fn rare_words_without_a_place_to_be_sorted_are_an_error_with_the_space_they_take() {
    let words: Vec<String> = (0..400_000).map(word).collect();
    let job = Job {
        articles: vec![pages(&words, 100)],
        ..small()
    };
    let resources = Resources {
        temporary: std::env::temp_dir().join("there is no such directory"),
        ..resources(1, 0, Level::best())
    };
    let error = run(&job, &resources).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Write);
    let text = error.to_string();
    for part in [
        " MB of temporary files are needed",
        " rare words exactly",
        "there is no such directory",
    ] {
        assert!(text.contains(part), "{text}");
    }
}

/// Runs the small job with the given progress and sink.
fn run_small(progress: &Progress, sink: main_job::Sink<'_>) -> Result<(), Error> {
    let job = small();
    let inputs = MainJobInputs {
        articles: vec![&job.articles[0]],
        samples: vec![&job.samples],
        stop_words: &job.stop_words,
        hash_table: &job.hash_table,
    };
    let resources = resources(2, 0, Level::best());
    main_job::MainJob::new(2, 8, 3)?
        .run(&inputs, &resources, progress, sink)
        .map(drop)
}

/// Promise (Errors and interruptions): Ctrl-C and SIGTERM stop a run …
#[test]
fn a_run_told_to_stop_is_interrupted() {
    let progress = Progress::new();
    progress.stop();
    let error = run_small(&progress, &mut |_| Ok(())).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Interrupted);
}

#[test]
fn what_the_sink_returns_ends_the_run() {
    let mut refuse = |_: &[u8]| Err(Error::new(ErrorKind::Write, "no more room"));
    let error = run_small(&Progress::new(), &mut refuse).unwrap_err();
    assert_eq!(
        (error.kind(), error.to_string().as_str()),
        (ErrorKind::Write, "no more room")
    );
}

/// Promise (Failing inputs): A run whose input grows or is …
#[test]
fn articles_that_change_under_the_run_fail_as_a_file() {
    // The pages change after they were counted: more or fewer, with longer or shorter ids. Whatever
    // the result, the run ends, and the change of the file is detected.
    // SAFETY: the inputs are verified, and nothing else handles SIGBUS.
    unsafe { guard::install() }.unwrap();
    let words = shuffled(
        (0..60_000).map(|number| (word(number * 7), 1 + number % 2)),
        12,
    );
    let articles = pages(&words, 40);
    let mut random = Random(13);
    let mut many_pages = Vec::new();
    let mut long_ids = Vec::new();
    while long_ids.len() < articles.len() {
        long_ids.extend([b"i".repeat(random.below(3000)), b"\nx\x0c".to_vec()].concat());
    }
    while many_pages.len() < articles.len() {
        many_pages.extend(b"i\n\x0c".repeat(1 + random.below(3)));
        many_pages.extend(b"long id\nx\x0c");
    }
    for mut other in [many_pages, long_ids, Vec::new()] {
        other.truncate(articles.len());
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&articles).unwrap();
        let input = Input::open(file.path(), &std::env::temp_dir()).unwrap();
        let (progress, table) = (Progress::new(), hash_table(10_000, 64, 1));
        let inputs = MainJobInputs {
            articles: vec![input.bytes()],
            samples: vec![b"s\naaaa"],
            stop_words: b"",
            hash_table: &table,
        };
        let job = main_job::MainJob::new(10_000, 64, 3).unwrap();
        let resources = resources(1, 0, Level::best());
        std::thread::scope(|scope| {
            let run = scope.spawn(|| job.run(&inputs, &resources, &progress, &mut |_| Ok(())));
            // Ranking reads the articles several times here, so its start is noticed in time.
            while progress
                .current()
                .is_none_or(|now| now.stage != Stage::Rank)
                && !run.is_finished()
            {
                std::thread::yield_now();
            }
            file.rewind().unwrap();
            file.write_all(&other).unwrap();
            file.as_file().set_len(other.len() as u64).unwrap();
            assert!(run.join().is_ok(), "the run panicked");
        });
        assert_eq!(input.verify().unwrap_err().kind(), ErrorKind::Changed);
    }
}
