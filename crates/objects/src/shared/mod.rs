//! What a client has without any connection.

pub(super) mod cache_directory;
pub(super) mod interruption;
pub(super) mod memory;

use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex};

use crate::environment::{Environment, Settings};
use cache_directory::CacheDirectory;
use interruption::Interruption;
use memory::Memory;

/// What a client has without any connection.
pub(crate) struct Shared {
    pub(crate) environment: Environment,
    pub(crate) settings: Settings,
    pub(crate) memory: Arc<Memory>,
    pub(crate) interruption: Interruption,
    pub(crate) cache: Mutex<Option<Arc<CacheDirectory>>>,
    /// What is called with a message about a server that makes no progress.
    pub(crate) notify: Mutex<Option<fn(&str)>>,
    /// The files that are being sent now.
    pub(crate) uploads: AtomicUsize,
}

impl Shared {
    pub(crate) fn new(environment: Environment) -> Shared {
        Shared {
            settings: Settings::of(&environment),
            environment,
            memory: Arc::default(),
            interruption: Interruption::default(),
            cache: Mutex::default(),
            notify: Mutex::default(),
            uploads: AtomicUsize::new(0),
        }
    }
}
