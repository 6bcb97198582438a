//! Documents in and out of an index: has this been seen?
//!
//! An [index](crate::index) knows sketches; here are the documents they come from. What decides
//! sketches is frozen in the index ([`Settings`]), so that opening one needs its directory alone.

mod add;
mod known;
mod lines;
mod part;
mod payload;
mod query;
mod settings;

use std::path::Path;
use std::sync::Arc;

use crate::Result;
use crate::index::{Build, Index, Options, Rescued, frozen, rescue, vacant};
use crate::io::directory;
use crate::kernel::Level;
use crate::run::sketcher::{Sketched, Sketcher};
use crate::sketch::accidental::Chance;
use crate::sketch::registry::Spec;
use crate::sketch::{Compare, Method, Shape, content_seen};
use crate::text::Choice;

pub use add::{Added, Listing};
pub use lines::{changed, near};
pub use part::too_long;
pub use payload::Payload;
pub use query::Asked;
pub use settings::{Settings, Wanted};

/// Takes JSON Lines, in input order.
pub type Take<'a> = &'a mut dyn FnMut(&[u8]) -> Result<()>;

/// So many accidental hits for each new document are worth a word.
const NOTICED: f64 = 0.01;

/// An open index and what makes its sketches.
pub struct Seen {
    index: Index,
    settings: Settings,
    /// One; what is built for a sketcher.
    methods: Vec<Box<dyn Method>>,
    level: Level,
}

/// Makes sketches of texts for an index; each thread has its own.
pub struct Texts<'a> {
    sketcher: Sketcher<'a>,
    method: &'a dyn Method,
    made: Vec<Sketched>,
}

/// The settings of the index `directory`, without opening it.
///
/// # Errors
/// Those of [`frozen`] and of [`Settings::read`].
pub fn settings(directory: &Path) -> Result<Settings> {
    Settings::read(directory, &frozen(directory)?.spec)
}

impl Seen {
    /// Makes an empty index in `directory`.
    ///
    /// # Errors
    /// Those of [`Index::create`].
    pub fn create(
        directory: &Path,
        settings: Settings,
        level: Level,
        options: &Options,
    ) -> Result<Seen> {
        let method = begin(directory, &settings, level, options)?;
        let index = Index::create(directory, method, &settings.manifest()?, options)?;
        Self::with(index, settings, level)
    }

    /// Opens the index `directory`, which has to have what is `wanted`.
    ///
    /// # Errors
    /// Those of [`Index::open`], [`Settings::read`] and [`Settings::expect`].
    pub fn open(
        directory: &Path,
        wanted: &Wanted,
        level: Level,
        options: &Options,
    ) -> Result<Seen> {
        let manifest = frozen(directory)?.spec;
        let settings = Settings::read(directory, &manifest)?;
        settings.expect(directory, wanted)?;
        let index = Index::open(directory, compare(&settings, level)?, &manifest, options)?;
        Self::with(index, settings, level)
    }

    /// Saves what can be saved of the damaged index `directory` into a new one in `to`.
    ///
    /// # Errors
    /// Those of [`rescue`].
    pub fn rescue(directory: &Path, to: &Path, level: Level, options: &Options) -> Result<Rescued> {
        let manifest = frozen(directory)?.spec;
        let settings = Settings::read(directory, &manifest)?;
        let method = begin(to, &settings, level, options)?;
        rescue(directory, to, method, &manifest, options)
    }

    fn with(index: Index, settings: Settings, level: Level) -> Result<Seen> {
        let methods = vec![settings.method(level)?];
        Ok(Seen {
            index,
            settings,
            methods,
            level,
        })
    }

    /// The index.
    pub fn index(&self) -> &Index {
        &self.index
    }

    /// What was frozen.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The method.
    pub fn method(&self) -> &dyn Method {
        &*self.methods[0]
    }

    /// How documents are compared, for people; the [settings](Self::settings) say all of it.
    pub fn about(&self) -> String {
        let spec = &self.settings.spec;
        let usual = Spec::parse(&spec.name()).map_or(Vec::new(), |usual| usual.list());
        let mut parts = vec![match self.method().shape() {
            Shape::Bits { width, distance } => {
                format!("{}, {width} bits, distance {distance}", spec.name())
            }
            Shape::Keys => spec.name(),
        }];
        let mut stop_words = None;
        for (name, value) in spec.list() {
            match name.as_str() {
                "bits" | "distance" => {}
                "stop-words" if value == "skip" => stop_words = Some("stop words left out"),
                _ if usual.contains(&(name.clone(), value.clone())) => {}
                _ => parts.push(format!("{name} {value}")),
            }
        }
        parts.extend(stop_words.map(String::from));
        if self.settings.tokenizer != Choice::default() {
            parts.push(format!("tokenizer {}", self.settings.tokenizer));
        }
        parts.join("; ")
    }

    /// Whether answers speak of likeness.
    pub fn has_likeness(&self) -> bool {
        self.settings.spec.name() == content_seen::ENTRY.name
    }

    /// The known documents that are near a new one by accident, on average, if fingerprints were
    /// random; real ones have more. None for sketches that are no fingerprints.
    pub fn accidental_hits(&self) -> Option<f64> {
        match self.method().shape() {
            Shape::Bits { width, distance } => {
                let documents = self.index.info().documents;
                Some(Chance::uniform(width, distance).hits_per_query(documents))
            }
            Shape::Keys => None,
        }
    }

    /// What to tell people of [`accidental_hits`](Self::accidental_hits), if there are enough to be
    /// noticed: one for a hundred new documents, or more.
    pub fn accidents(&self) -> Option<String> {
        let Shape::Bits { width, distance } = self.method().shape() else {
            return None;
        };
        let hits = self.accidental_hits().filter(|hits| *hits >= NOTICED)?;
        Some(format!(
            "{}: fingerprints of {width} bits, distance {distance}: expect {hits:.2} accidental \
             hits for each new document among {} known ones, more if bits are skewed (an index \
             with more bits or a smaller distance has fewer)",
            self.index.directory().display(),
            self.index.info().documents,
        ))
    }

    /// What makes sketches of texts, for one thread.
    pub fn texts(&self) -> Texts<'_> {
        let sketcher = Sketcher::new(&self.methods, self.settings.common(self.level));
        Texts {
            made: sketcher.nothing(),
            sketcher,
            method: self.method(),
        }
    }

    /// Copies the index, as it is now, into the directory `to`.
    ///
    /// # Errors
    /// Those of [`Index::copy`].
    pub fn copy(&self, to: &Path, options: &Options) -> Result<()> {
        begin(to, &self.settings, self.level, options)?;
        self.index.copy(to)
    }
}

impl Texts<'_> {
    /// The sketch of `text`; nothing if there is nothing to be compared.
    pub fn sketch(&mut self, text: &[u8]) -> Option<&[u8]> {
        let Texts {
            sketcher,
            method,
            made,
        } = self;
        for sketched in &mut *made {
            sketched.sketches.clear();
            sketched.usable.clear();
        }
        sketcher.sketch(text, made);
        let sketched = &made[0];
        sketched.usable[0].then(|| sketched.sketches.all(*method).get(0))
    }
}

fn compare(settings: &Settings, level: Level) -> Result<Arc<dyn Compare>> {
    let method: Box<dyn Compare> = settings.method(level)?;
    Ok(Arc::from(method))
}

/// Puts the settings where an index is going to be, and makes its method.
fn begin(
    directory: &Path,
    settings: &Settings,
    level: Level,
    options: &Options,
) -> Result<Arc<dyn Compare>> {
    let method = compare(settings, level)?;
    vacant(directory)?;
    directory::create(directory, &options.faults)?;
    settings.write(directory, &options.faults)?;
    Ok(method)
}

/// Starts an index of many documents.
fn build(directory: &Path, settings: &Settings, level: Level, options: &Options) -> Result<Build> {
    let method = begin(directory, settings, level, options)?;
    Build::create(directory, method, &settings.manifest()?, options)
}
