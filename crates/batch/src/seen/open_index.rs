//! An open index with its settings and its method.

use std::path::Path;
use std::sync::Arc;

use crate::Result;
use simtool_core::kernel::Level;
use simtool_core::sketch::registry::Spec;
use simtool_core::sketch::{Compare, Score, Shape, SignedMethod, content_seen};
use simtool_core::text::Choice;
use simtool_files::directory;
use simtool_index::{Build, Index, Match, Options, Rescued, check_creatable, parameters, rescue};

use super::settings::{ExpectedSettings, IndexSettings, is_exact};
use super::text_sketcher::TextSketcher;

/// An open index with the method of its sketches.
pub struct Seen {
    pub(super) index: Index,
    pub(super) settings: IndexSettings,
    method: SignedMethod,
    pub(super) level: Level,
}

/// The settings of the index `directory`, without opening it.
///
/// # Errors
/// Errors of [`parameters`] and of [`IndexSettings::read`].
pub fn settings(directory: &Path) -> Result<IndexSettings> {
    IndexSettings::read(directory, &parameters(directory)?.spec)
}

impl Seen {
    /// Makes an empty index in `directory`.
    ///
    /// # Errors
    /// Errors of [`Index::create`], of [`IndexSettings::write`] and of building the method.
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
    /// Errors of [`Index::open`], [`IndexSettings::read`], [`IndexSettings::expect`] and
    /// [`IndexSettings::with_similarity`].
    pub fn open(
        directory: &Path,
        wanted: &ExpectedSettings,
        level: Level,
        options: &Options,
    ) -> Result<Seen> {
        let manifest = parameters(directory)?.spec;
        let settings = IndexSettings::read(directory, &manifest)?;
        settings.expect(directory, wanted)?;
        let settings = settings.with_similarity(wanted.similarity)?;
        let index = Index::open(directory, compare(&settings, level)?, &manifest, options)?;
        Self::with(index, settings, level)
    }

    /// Saves the undamaged part of the index `directory` to a new one in `to`.
    ///
    /// # Errors
    /// Errors of [`rescue`] and [`IndexSettings::read`], and of creating an index in `to`.
    pub fn rescue(directory: &Path, to: &Path, level: Level, options: &Options) -> Result<Rescued> {
        let manifest = parameters(directory)?.spec;
        let settings = IndexSettings::read(directory, &manifest)?;
        let method = begin(to, &settings, level, options)?;
        rescue(directory, to, method, &manifest, options)
    }

    /// An open index with the method of its settings.
    ///
    /// # Errors
    /// Errors of building the method.
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

    /// The method, with signatures.
    pub fn method(&self) -> &SignedMethod {
        &self.method
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
        if let Some(signatures) = self.settings.signatures {
            let similarity = f64::from(signatures.thousandths) / 1000.0;
            parts.push(format!("verified at similarity {similarity}"));
        }
        if self.settings.tokenizer != Choice::default() {
            parts.push(format!("tokenizer {}", self.settings.tokenizer));
        }
        parts.join("; ")
    }

    /// Whether answers have a likeness: the proportion of equal bits.
    pub fn has_likeness(&self) -> bool {
        self.settings.spec.name() == content_seen::ENTRY.name
    }

    /// The similarity of the texts of a match as a fraction: an estimate from the signatures, or exact
    /// if the method is. `None` if the index or the query has no signature.
    pub fn similarity(&self, found: &Match) -> Option<[u64; 2]> {
        let exact = is_exact(&self.settings.spec);
        match (found.similarity, found.score) {
            (Some(similarity), _) => Some(similarity.map(u64::from)),
            (None, Score::Fraction(part, whole)) if exact => Some([part, whole]),
            (None, Score::Distance(0)) if exact => Some([1, 1]),
            _ => None,
        }
    }

    /// A maker of sketches for one thread.
    pub fn texts(&self) -> TextSketcher<'_> {
        TextSketcher::new(self.method(), self.settings.common(self.level))
    }

    /// Copies the present state of the index to the directory `to`.
    ///
    /// # Errors
    /// Errors of [`Index::copy`], and of creating an index in `to`.
    pub fn copy(&self, to: &Path, options: &Options) -> Result<()> {
        begin(to, &self.settings, self.level, options)?;
        self.index.copy(to)
    }
}

fn compare(settings: &IndexSettings, level: Level) -> Result<Arc<dyn Compare>> {
    Ok(Arc::new(settings.method(level)?))
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
/// Errors of [`Build::create`].
pub(super) fn build(
    directory: &Path,
    settings: &IndexSettings,
    level: Level,
    options: &Options,
) -> Result<Build> {
    let method = begin(directory, settings, level, options)?;
    Build::create(directory, method, &settings.manifest()?, options)
}
