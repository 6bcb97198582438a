//! A service without a network, for tests.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use simtool_batch::seen::{IndexSettings, Seen, TextFacts};
use simtool_core::kernel::Level;
use simtool_core::sketch::registry::Spec;
use simtool_core::text::Choice;
use simtool_corpus::{HtmlText, Reading};
use simtool_engine::collection::InputSettings;
use simtool_files::Faults;
use simtool_index::Options;
use tempfile::TempDir;

use crate::config::{Config, Limits};
use crate::log::Log;
use crate::question::Question;
use crate::service::Service;

/// A limit that is not reached, however slow the machine is.
const NO_LIMIT: Duration = Duration::from_secs(3600);

/// The settings of a service under test, and the directory of its index.
pub struct TestService {
    pub directory: TempDir,
    method: String,
    /// Whether the index stores whole sets of shingles, and no signatures of fixed length.
    pub has_sets: bool,
    pub options: Options,
    pub limits: Limits,
}

impl TestService {
    /// With the default method.
    pub fn new() -> TestService {
        TestService::of("simhash")
    }

    /// With another method.
    pub fn of(method: &str) -> TestService {
        TestService {
            directory: tempfile::tempdir().unwrap(),
            method: method.into(),
            has_sets: false,
            options: Options {
                merge_apart: true,
                ..Options::default()
            },
            limits: Limits {
                body_bytes: 16 << 20,
                memory_bytes: 64 << 20,
                requests: 16,
                connections: 16,
                header: NO_LIMIT,
                request: NO_LIMIT,
                document: NO_LIMIT,
                grace: NO_LIMIT,
            },
        }
    }

    /// With injected failures of the disk.
    pub fn with(faults: Faults) -> TestService {
        let mut trial = TestService::new();
        trial.options.faults = faults;
        trial
    }

    /// Creates the index.
    pub fn seen(&self) -> Seen {
        let input_settings = InputSettings {
            reading: Reading {
                html: HtmlText::default(),
                ..Reading::default()
            },
            tokenizer: Choice::default(),
            stop_words: simtool_core::text::builtin_stop_words(),
        };
        let spec = Spec::parse(&self.method).unwrap();
        let settings = IndexSettings::without_collection(spec, &input_settings, None).unwrap();
        let settings = match self.has_sets || settings.signatures.is_none() {
            true => settings,
            false => settings.with_signatures().unwrap(),
        };
        let place = self.directory.path().join("seen");
        Seen::create(&place, settings, Level::best(), &self.options).unwrap()
    }

    /// The configuration.
    pub fn config(&self) -> Config {
        Config {
            listen: ([127, 0, 0, 1], 0).into(),
            limits: self.limits,
            token: None,
            threads: 2,
            log: Log::Failures(|_| {}),
            tls: None,
            copies: Some(self.directory.path().to_owned()),
            dump: String::new(),
        }
    }

    /// Starts the service.
    pub fn service(&self) -> Arc<Service> {
        Arc::new(Service::start(self.seen(), self.config()).unwrap())
    }
}

/// Makes the error of a change of a file.
pub type Failure = fn() -> io::Error;

/// A disk that blocks or fails on demand.
#[derive(Clone, Default)]
pub struct Disk {
    blocked: Arc<AtomicBool>,
    fails: Arc<Mutex<Option<Failure>>>,
    begun: Arc<AtomicUsize>,
}

impl Disk {
    pub fn faults(&self) -> Faults {
        let Disk {
            blocked,
            fails,
            begun,
        } = self.clone();
        Faults::decided_by(move |_, _| {
            begun.fetch_add(1, Ordering::Relaxed);
            while blocked.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(1));
            }
            let fails = *fails.lock().unwrap();
            fails.map_or(Ok(()), |fails| Err(fails()))
        })
    }

    /// The number of changes that were begun.
    pub fn begun(&self) -> usize {
        self.begun.load(Ordering::Relaxed)
    }

    /// Blocks changes from now on, or not.
    pub fn block(&self, blocked: bool) {
        self.blocked.store(blocked, Ordering::Relaxed);
    }

    /// Has changes fail from now on, or not.
    pub fn fail(&self, fails: Option<Failure>) {
        *self.fails.lock().unwrap() = fails;
    }
}

/// Runs an asynchronous test.
pub fn run(task: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.unwrap().block_on(task);
}

/// Waits until `is_so`; a panic if that takes half an hour.
pub async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let waiting = async {
        while !is_so() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    let waited = tokio::time::timeout(NO_LIMIT / 2, waiting).await;
    assert!(waited.is_ok(), "waited for {what}");
}

/// An addition of a document with a 64-bit fingerprint.
pub fn addition(id: &str, fingerprint: u64) -> Question {
    Question {
        id: Some(id.into()),
        facts: TextFacts {
            sketch: fingerprint.to_le_bytes().to_vec(),
            ..TextFacts::default()
        },
        add: true,
        limit: 10,
        ..Question::default()
    }
}

/// The number of fingerprints of [`near_zero`].
pub const NEAR_ZERO: u64 = 343;

/// Fingerprints of six bits, no three of which two of them have in common: all are near 0, and none
/// is near another.
pub fn near_zero(number: u64) -> u64 {
    assert!(number < NEAR_ZERO);
    let [a, b, c] = [number % 7, number / 7 % 7, number / 49];
    // Different polynomials of this degree agree at two places at most.
    let bits = (0..6).map(|place| 7 * place + (a + b * place + c * place * place) % 7);
    bits.fold(0, |set, bit| set | 1 << bit)
}
