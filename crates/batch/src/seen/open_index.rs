//! An open index with its settings and its method.

use std::path::Path;
use std::sync::Arc;

use crate::{Error, ErrorKind, Result};
use simtool_core::kernel::Level;
use simtool_core::sketch::registry::Spec;
use simtool_core::sketch::{Compare, Score, Shape, SignedMethod, content_seen};
use simtool_core::text::Choice;
use simtool_files::directory;
use simtool_index::{
    Build, Evidence, Index, Match, Options, Rescued, check_creatable, parameters, rescue,
};

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
        let other = wanted.similarity.filter(|_| {
            let stored = settings.signatures.map(|stored| stored.thousandths);
            wanted.similarity != stored
        });
        if other.is_some() && !options.read_only {
            let message = "was made with another similarity, by which its documents were decided about \
                           (leave --similarity out, or build another index)";
            return Err(Error::new(ErrorKind::Parameter, message).in_file(directory));
        }
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
            let how = match self.settings.estimates() {
                true => "estimated",
                false => "verified",
            };
            parts.push(format!("{how} at similarity {similarity}"));
        }
        if !self.settings.keep.is_input_order() {
            parts.push(format!("the best copy by {}", self.settings.keep));
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

    /// The similarity of the texts of a match as a fraction, which is exact unless the settings
    /// [estimate](IndexSettings::estimates) it. `None` if the sketches do not tell.
    pub fn similarity(&self, found: &Match) -> Option<[u64; 2]> {
        similarity_of(&self.settings, found.evidence)
    }

    /// A maker of sketches for one thread.
    pub fn texts(&self) -> TextSketcher<'_> {
        TextSketcher::new(self.method(), &self.settings, self.level)
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

/// The similarity of two texts, for one of which the other is dropped.
pub(super) fn similarity_of(settings: &IndexSettings, evidence: Evidence) -> Option<[u64; 2]> {
    match evidence {
        Evidence::Text | Evidence::Words => Some([1, 1]),
        Evidence::Near { similarity, score } => match (similarity, score) {
            (Some(similarity), _) => Some(similarity.map(u64::from)),
            (None, Score::Fraction(part, whole)) if is_exact(&settings.spec) => Some([part, whole]),
            _ => None,
        },
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
