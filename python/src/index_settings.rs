//! The settings of an index, by the names that the flags of the command have.

use pyo3::prelude::*;
use simtool::corpus::{HtmlText, Reading};
use simtool::dedup::keep::KeepOrder;
use simtool::engine::collection::InputSettings;
use simtool::engine::methods::{Common, build_without_statistics};
use simtool::index::{Layout, Options};
use simtool::jobs::seen::{IndexSettings, Payload, spec_of_new_index};
use simtool::kernel::Level;
use simtool::sketch::Shape;
use simtool::sketch::registry::Spec;
use simtool::text::{Choice, WordSet, builtin_stop_words};
use simtool::{Error, ErrorKind, Result};

use crate::sketches::tokenizer;

const HTML: [(&str, HtmlText); 3] = [
    ("main", HtmlText::Main),
    ("visible", HtmlText::Visible),
    ("markup", HtmlText::Markup),
];
const LAYOUTS: [(&str, Layout); 2] = [("fast", Layout::Fast), ("compact", Layout::Compact)];
const PAYLOADS: [(&str, Payload); 4] = [
    ("none", Payload::None),
    ("url", Payload::Url),
    ("date", Payload::Date),
    ("url,date", Payload::UrlAndDate),
];

/// The settings of a new index.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct NewIndex {
    method: Option<String>,
    tokenizer: Option<String>,
    similarity: Option<f64>,
    html: Option<String>,
    layout: Option<String>,
    signatures: bool,
    keep: Option<String>,
}

impl NewIndex {
    pub fn spec(&self) -> Result<Spec> {
        let tokenizer = tokenizer(self.tokenizer.as_deref())?;
        spec_of_new_index(self.method.as_deref(), tokenizer, self.similarity()?)
    }

    pub fn similarity(&self) -> Result<Option<u16>> {
        thousandths(self.similarity)
    }

    /// The settings with those of the index that are not of its documents.
    ///
    /// # Errors
    /// Errors of [`IndexSettings::with_signatures`] and of an invalid order of copies.
    pub fn made(&self, settings: IndexSettings) -> Result<IndexSettings> {
        let settings = settings.with_keep(self.keep()?);
        match self.signatures {
            true => settings.with_signatures(),
            false => Ok(settings),
        }
    }

    /// Which copy is the best.
    pub fn keep(&self) -> Result<KeepOrder> {
        let order = self.keep.as_deref().map(KeepOrder::parse);
        Ok(order.transpose()?.unwrap_or_default())
    }

    pub fn html(&self) -> Result<HtmlText> {
        html(self.html.as_deref())
    }

    /// The settings of the documents.
    pub fn input_settings(&self, reading: Reading) -> Result<InputSettings> {
        Ok(InputSettings {
            reading,
            tokenizer: tokenizer(self.tokenizer.as_deref())?,
            stop_words: builtin_stop_words(),
        })
    }

    /// The options of the index; a layout without effect is an error.
    pub fn options(&self) -> Result<Options> {
        let layout = self.layout.as_deref();
        let layout = layout.map(|name| of_name("layout", &LAYOUTS, name));
        let layout = layout.transpose()?;
        let spec = self.spec()?;
        let common = Common {
            tokenizer: Choice::default(),
            stop_words: &WordSet::default(),
            level: Level::Scalar,
        };
        if layout.is_some() && build_without_statistics(&spec, common)?.shape() == Shape::Keys {
            let name = spec.name();
            let message =
                format!("layout has no effect with the method {name}: it makes no fingerprints");
            return Err(Error::new(ErrorKind::Parameter, message));
        }
        Ok(Options {
            layout: layout.unwrap_or_default(),
            ..Options::default()
        })
    }
}

/// A part of an HTML page, by default the main text.
pub fn html(name: Option<&str>) -> Result<HtmlText> {
    name.map_or(Ok(HtmlText::default()), |name| of_name("html", &HTML, name))
}

/// The name of a part of an HTML page.
pub fn html_name(part: HtmlText) -> Option<&'static str> {
    name_of(&HTML, part)
}

/// The name of a layout.
pub fn layout_name(layout: Layout) -> Option<&'static str> {
    name_of(&LAYOUTS, layout)
}

/// What is stored with a document, by default nothing.
pub fn payload(name: Option<&str>) -> Result<Payload> {
    name.map_or(Ok(Payload::None), |name| {
        of_name("payload", &PAYLOADS, name)
    })
}

/// A similarity in thousandths.
pub fn thousandths(similarity: Option<f64>) -> Result<Option<u16>> {
    let Some(share) = similarity else {
        return Ok(None);
    };
    let thousandths = (share * 1000.0).round();
    match (1.0..=1000.0).contains(&thousandths) {
        true => Ok(Some(thousandths as u16)),
        false => {
            let message = format!("similarity {share}: expected 0.001 to 1");
            Err(Error::new(ErrorKind::Parameter, message))
        }
    }
}

fn of_name<T: Copy>(setting: &str, all: &[(&str, T)], name: &str) -> Result<T> {
    let found = all.iter().find(|(known, _)| *known == name);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
        let message = format!("{setting} {name:?}: expected {}", names.join(", "));
        Error::new(ErrorKind::Parameter, message)
    })
}

fn name_of<T: PartialEq>(all: &[(&'static str, T)], value: T) -> Option<&'static str> {
    let found = all.iter().find(|(_, known)| *known == value);
    found.map(|(name, _)| *name)
}
