//! A service without a network, for tests.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use simtool::corpus::{HtmlText, Reading};
use simtool::index::Options;
use simtool::io::Faults;
use simtool::kernel::Level;
use simtool::run::collection::Manner;
use simtool::run::seen::{Seen, Settings};
use simtool::sketch::registry::Spec;
use simtool::text::Choice;
use tempfile::TempDir;

use super::ask::Asked;
use super::{Config, Limits, Log, Service};

/// A place for an index, and how it is going to be.
pub struct Trial {
    pub directory: TempDir,
    method: String,
    pub options: Options,
    pub limits: Limits,
}

impl Trial {
    /// Of the usual method.
    pub fn new() -> Trial {
        Trial::of("simhash")
    }

    /// Of another one.
    pub fn of(method: &str) -> Trial {
        Trial {
            directory: tempfile::tempdir().unwrap(),
            method: method.into(),
            options: Options {
                merge_apart: true,
                ..Options::default()
            },
            limits: Limits {
                body_bytes: 16 << 20,
                memory_bytes: 64 << 20,
                requests: 16,
                connections: 16,
                header: Duration::from_secs(60),
                request: Duration::from_secs(60),
                grace: Duration::from_secs(60),
            },
        }
    }

    /// Whose disk fails.
    pub fn with(faults: Faults) -> Trial {
        let mut trial = Trial::new();
        trial.options.faults = faults;
        trial
    }

    /// The index; a new one.
    pub fn seen(&self) -> Seen {
        let manner = Manner {
            reading: Reading {
                html: HtmlText::default(),
                ..Reading::default()
            },
            tokenizer: Choice::default(),
            stop_words: simtool::text::builtin_stop_words(),
        };
        let spec = Spec::parse(&self.method).unwrap();
        let settings = Settings::without_collection(spec, &manner).unwrap();
        let place = self.directory.path().join("seen");
        Seen::create(&place, settings, Level::best(), &self.options).unwrap()
    }

    /// How the service runs.
    pub fn config(&self) -> Config {
        Config {
            listen: ([127, 0, 0, 1], 0).into(),
            limits: self.limits,
            token: None,
            threads: 2,
            log: Log::Quiet,
            tls: None,
            copies: Some(self.directory.path().to_owned()),
        }
    }

    /// The service.
    pub fn service(&self) -> Arc<Service> {
        Arc::new(Service::start(self.seen(), self.config()).unwrap())
    }
}

/// A text that begins so takes so long to read.
pub const SLOW_TEXT: &str = "a text that takes ten minutes ";
pub const SLOW: Duration = Duration::from_secs(600);

/// Stands for whatever makes reading a document slow.
pub fn read_slowly(text: Option<&str>) {
    if text.is_some_and(|text| text.starts_with(SLOW_TEXT)) {
        std::thread::sleep(SLOW);
    }
}

/// What every change of a file meets.
pub type Failure = fn() -> io::Error;

/// A disk that may stand still, and fail.
#[derive(Clone, Default)]
pub struct Disk {
    still: Arc<AtomicBool>,
    fails: Arc<Mutex<Option<Failure>>>,
    asked: Arc<AtomicUsize>,
}

impl Disk {
    pub fn faults(&self) -> Faults {
        let Disk {
            still,
            fails,
            asked,
        } = self.clone();
        Faults::decided_by(move |_, _| {
            asked.fetch_add(1, Ordering::Relaxed);
            while still.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(1));
            }
            let fails = *fails.lock().unwrap();
            fails.map_or(Ok(()), |fails| Err(fails()))
        })
    }

    /// So many changes were begun.
    pub fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }

    /// From now on it stands still, or not.
    pub fn stand_still(&self, still: bool) {
        self.still.store(still, Ordering::Relaxed);
    }

    /// From now on it fails, or not.
    pub fn fail(&self, fails: Option<Failure>) {
        *self.fails.lock().unwrap() = fails;
    }
}

/// Does what waits for others.
pub fn run(task: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.unwrap().block_on(task);
}

/// Waits until `is_so`, for a minute at most.
pub async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    for _ in 0..60_000 {
        if is_so() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    panic!("waited for {what}");
}

/// A document of a 64-bit fingerprint that is to be added.
pub fn addition(id: &str, fingerprint: u64) -> Asked {
    Asked {
        id: Some(id.into()),
        sketch: fingerprint.to_le_bytes().to_vec(),
        add: true,
        limit: 10,
        ..Asked::default()
    }
}
