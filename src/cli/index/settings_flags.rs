//! The settings of an index: the flags of every command that makes or opens one.

use std::path::{Path, PathBuf};

use clap::Args;
use simtool::Result;
use simtool::corpus::{HtmlText, Reading};
use simtool::dedup::keep::KeepOrder;
use simtool::engine::collection::InputSettings;
use simtool::io::InputFiles;
use simtool::jobs::seen::{
    ExpectedSettings, IndexSettings, keep_fields, settings, spec_of_new_index,
};
use simtool::sketch::registry::Spec;
use simtool::text::{Choice, builtin_stop_words};

use crate::cli::dedup::method_flags::{similarity, tokenizer};
use crate::cli::reading::reading_flags::{HtmlPart, stop_words};
use crate::cli::values;
use crate::cli::values::effect::{WordFlags, check_words};

/// The settings of an index.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Settings of the index")]
pub struct SettingsArgs {
    /// How near documents are found: NAME or NAME:parameter=value,...; simtool methods lists them
    /// [default: minhash, or that of the index]
    #[arg(
        long, value_name = "METHOD", value_parser = values::method(), hide_possible_values = true
    )]
    method: Option<String>,

    /// Least similarity of a match: the share of shingles that two texts have in common [default: 0.8,
    /// or that of the index]
    #[arg(long, value_name = "SHARE", value_parser = similarity)]
    pub similarity: Option<u16>,

    /// Kind of words: auto, ascii, unicode, chars or code [default: auto, or that of the index]
    #[arg(
        long, value_name = "KIND", value_parser = values::tokenizer(tokenizer),
        hide_possible_values = true
    )]
    tokenizer: Option<Choice>,

    /// File of stop words, separated by white space, which methods leave out [default: the common
    /// words of nine languages, or those of the index]
    #[arg(long, value_name = "FILE")]
    stop_words: Option<PathBuf>,

    /// Store 128 bytes of each document's shingles in place of all of them. Similarities are estimates
    /// then, and every answer says so
    #[arg(long)]
    pub signatures: bool,

    /// Order of preference among copies, as in simtool dedup: an answer says which earlier copy a better
    /// one replaces. The first copy is kept in any case [default: first, or that of the index]
    #[arg(long, value_name = "POLICY,...", value_parser = keep_order)]
    keep: Option<KeepOrder>,

    /// Part of an HTML page that is its text [default: main, or that of the index]
    #[arg(long, value_name = "PART", value_parser = HtmlPart)]
    html: Option<HtmlText>,
}

impl SettingsArgs {
    /// The files that these flags name, which no output may replace.
    pub fn files(&self) -> InputFiles {
        let mut files = InputFiles::default();
        if let Some(path) = &self.stop_words {
            files.add(path);
        }
        files
    }

    /// The settings that the existing index `directory` must have. What the method does not say is that
    /// of the other flags, as when the index was made, or else that of the index.
    ///
    /// # Errors
    /// Errors of reading the method and the stop words.
    pub fn wanted(&self, directory: &Path) -> Result<ExpectedSettings> {
        let mut wanted = self.given()?;
        if let Some(method) = &self.method {
            // Opening the index reports what is wrong with it.
            let stored = settings(directory).ok();
            let tokenizer = self
                .tokenizer
                .or(stored.as_ref().map(|stored| stored.tokenizer));
            let spec = |similarity| {
                spec_of_new_index(Some(method), tokenizer.unwrap_or_default(), similarity)
            };
            // A higher similarity may be that of this command alone.
            let usual = spec(None)?;
            let is_usual =
                stored.is_some_and(|stored| stored.spec.to_string() == usual.to_string());
            wanted.spec = match is_usual {
                true => Some(usual),
                false => Some(spec(self.similarity)?),
            };
        }
        Ok(wanted)
    }

    /// The flags, without the method.
    fn given(&self) -> Result<ExpectedSettings> {
        Ok(ExpectedSettings {
            spec: None,
            tokenizer: self.tokenizer,
            html: self.html,
            stop_words: self.stop_words.as_deref().map(stop_words).transpose()?,
            similarity: self.similarity,
            signatures: self.signatures,
            keep: self.keep.clone(),
        })
    }

    /// The settings of a new index, by those of its documents.
    ///
    /// # Errors
    /// Errors of [`IndexSettings::with_signatures`].
    pub fn made(&self, settings: IndexSettings) -> Result<IndexSettings> {
        let settings = settings.with_keep(self.keep.clone().unwrap_or_default());
        match self.signatures {
            true => settings.with_signatures(),
            false => Ok(settings),
        }
    }

    /// The method of a new index.
    ///
    /// # Errors
    /// Errors of parsing it, and of flags about words that it does not use.
    pub fn spec(&self) -> Result<Spec> {
        let tokenizer = self.tokenizer.unwrap_or_default();
        let spec = spec_of_new_index(self.method.as_deref(), tokenizer, self.similarity)?;
        let words = WordFlags {
            tokenizer: self.tokenizer.is_some(),
            stop_words: self.stop_words.is_some(),
        };
        check_words(std::slice::from_ref(&spec), words)?;
        Ok(spec)
    }

    /// How the documents of a new index are read; `reading` has the other settings.
    ///
    /// # Errors
    /// Errors of reading the stop words.
    pub fn input_settings(&self, reading: Reading) -> Result<InputSettings> {
        let ExpectedSettings {
            tokenizer,
            html,
            stop_words,
            keep,
            ..
        } = self.given()?;
        Ok(InputSettings {
            reading: Reading {
                html: html.unwrap_or_default(),
                fields: keep_fields(&keep.unwrap_or_default()),
                ..reading
            },
            tokenizer: tokenizer.unwrap_or_default(),
            stop_words: stop_words.unwrap_or_else(builtin_stop_words),
        })
    }
}

/// Parses a keep order; the message is for clap.
fn keep_order(text: &str) -> std::result::Result<KeepOrder, String> {
    KeepOrder::parse(text).map_err(|error| error.to_string())
}

/// How documents are read for an existing index.
pub fn input_settings_of(settings: &IndexSettings, reading: Reading) -> InputSettings {
    InputSettings {
        reading: Reading {
            html: settings.html,
            fields: settings.keep_fields(),
            ..reading
        },
        tokenizer: settings.tokenizer,
        stop_words: settings.stop_words.clone(),
    }
}
