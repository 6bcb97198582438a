//! An open index with its settings and its method.

use std::path::Path;
use std::sync::Arc;

use crate::Result;
use crate::index::{Build, Index, Options, Rescued, check_creatable, parameters, rescue};
use crate::io::directory;
use crate::kernel::Level;
use crate::sketch::accidental::Chance;
use crate::sketch::registry::Spec;
use crate::sketch::{Compare, Method, Shape, content_seen};
use crate::text::Choice;

use super::settings::{ExpectedSettings, IndexSettings};
use super::text_sketcher::TextSketcher;

/// The least expected number of accidental hits per new document that is worth a warning.
const LEAST_ACCIDENTS: f64 = 0.01;

/// An open index with the method of its sketches.
pub struct Seen {
    pub(super) index: Index,
    pub(super) settings: IndexSettings,
    method: Box<dyn Method>,
    pub(super) level: Level,
}

/// The settings of the index `directory`, without opening it.
///
/// # Errors
/// Those of [`parameters`] and of [`IndexSettings::read`].
pub fn settings(directory: &Path) -> Result<IndexSettings> {
    IndexSettings::read(directory, &parameters(directory)?.spec)
}

impl Seen {
    /// Makes an empty index in `directory`.
    ///
    /// # Errors
    /// Those of [`Index::create`], of [`IndexSettings::write`] and of building the method.
    pub fn create(
        directory: &Path,
        settings: IndexSettings,
        level: Level,
        options: &Options,
    ) -> Result<Seen> {
        let method = begin(directory, &settings, level, options)?;
        let index = Index::create(directory, method, &settings.manifest()?, options)?;
        Self::with(index, settings, level)
    }

    /// Opens the index `directory`, whose settings have to match `wanted`.
    ///
    /// # Errors
    /// Those of [`Index::open`], [`IndexSettings::read`], [`IndexSettings::expect`] and
    /// [`IndexSettings::check_chinese_words`].
    pub fn open(
        directory: &Path,
        wanted: &ExpectedSettings,
        level: Level,
        options: &Options,
    ) -> Result<Seen> {
        let manifest = parameters(directory)?.spec;
        let settings = IndexSettings::read(directory, &manifest)?;
        settings.expect(directory, wanted)?;
        settings.check_chinese_words(directory)?;
        let index = Index::open(directory, compare(&settings, level)?, &manifest, options)?;
        Self::with(index, settings, level)
    }

    /// Saves the undamaged part of the index `directory` to a new one in `to`.
    ///
    /// # Errors
    /// Those of [`rescue`] and [`IndexSettings::read`], and of creating an index in `to`.
    pub fn rescue(directory: &Path, to: &Path, level: Level, options: &Options) -> Result<Rescued> {
        let manifest = parameters(directory)?.spec;
        let settings = IndexSettings::read(directory, &manifest)?;
        let method = begin(to, &settings, level, options)?;
        rescue(directory, to, method, &manifest, options)
    }

    /// An open index with the method of its settings.
    ///
    /// # Errors
    /// Those of building the method.
    pub(super) fn with(index: Index, settings: IndexSettings, level: Level) -> Result<Seen> {
        Ok(Seen {
            index,
            method: settings.method(level)?,
            settings,
            level,
        })
    }

    /// The index.
    pub fn index(&self) -> &Index {
        &self.index
    }

    /// The stored settings.
    pub fn settings(&self) -> &IndexSettings {
        &self.settings
    }

    /// The method.
    pub fn method(&self) -> &dyn Method {
        &*self.method
    }

    /// A description for the user; [`settings`](Self::settings) has all details.
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

    /// Whether answers have a likeness: the proportion of equal bits.
    pub fn has_likeness(&self) -> bool {
        self.settings.spec.name() == content_seen::ENTRY.name
    }

    /// The average number of accidental hits of a new document, if fingerprints were random; real
    /// ones have more. `None` for sketches that are not fingerprints.
    pub fn accidental_hits(&self) -> Option<f64> {
        match self.method().shape() {
            Shape::Bits { width, distance } => {
                let documents = self.index.info().documents;
                Some(Chance::uniform(width, distance).hits_per_query(documents))
            }
            Shape::Keys => None,
        }
    }

    /// A warning for the user about [`accidental_hits`](Self::accidental_hits), if at least one is
    /// expected for a hundred new documents.
    pub fn accidents(&self) -> Option<String> {
        let Shape::Bits { width, distance } = self.method().shape() else {
            return None;
        };
        let hits = self
            .accidental_hits()
            .filter(|hits| *hits >= LEAST_ACCIDENTS)?;
        Some(format!(
            "{}: fingerprints of {width} bits, distance {distance}: expect {hits:.2} accidental \
             hits for each new document among {} known ones, more if bits are skewed (an index \
             with more bits or a smaller distance has fewer)",
            self.index.directory().display(),
            self.index.info().documents,
        ))
    }

    /// A maker of sketches for one thread.
    pub fn texts(&self) -> TextSketcher<'_> {
        TextSketcher::new(self.method(), self.settings.common(self.level))
    }

    /// Copies the present state of the index to the directory `to`.
    ///
    /// # Errors
    /// Those of [`Index::copy`], and of creating an index in `to`.
    pub fn copy(&self, to: &Path, options: &Options) -> Result<()> {
        begin(to, &self.settings, self.level, options)?;
        self.index.copy(to)
    }
}

fn compare(settings: &IndexSettings, level: Level) -> Result<Arc<dyn Compare>> {
    let method: Box<dyn Compare> = settings.method(level)?;
    Ok(Arc::from(method))
}

/// Writes the settings of a new index to its directory, and makes its method.
fn begin(
    directory: &Path,
    settings: &IndexSettings,
    level: Level,
    options: &Options,
) -> Result<Arc<dyn Compare>> {
    let method = compare(settings, level)?;
    check_creatable(directory)?;
    directory::create(directory, &options.faults)?;
    settings.write(directory, &options.faults)?;
    Ok(method)
}

/// Starts building an index of many documents.
///
/// # Errors
/// Those of [`Build::create`].
pub(super) fn build(
    directory: &Path,
    settings: &IndexSettings,
    level: Level,
    options: &Options,
) -> Result<Build> {
    let method = begin(directory, settings, level, options)?;
    Build::create(directory, method, &settings.manifest()?, options)
}
