//! The settings of an index: the flags of every command that makes or opens one.

use std::path::PathBuf;

use clap::Args;
use simtool::Result;
use simtool::corpus::{HtmlText, Reading};
use simtool::engine::collection::InputSettings;
use simtool::io::InputFiles;
use simtool::jobs::seen::{ExpectedSettings, IndexSettings, spec_of_new_index};
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

    /// Least similarity of a match: the share of shingles that two texts have in common, estimated
    /// from the stored signatures [default: 0.8, or that of the index]
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

    /// The settings that an existing index must have.
    ///
    /// # Errors
    /// Errors of reading the method and the stop words.
    pub fn wanted(&self) -> Result<ExpectedSettings> {
        let tokenizer = self.tokenizer.unwrap_or_default();
        let method = self.method.as_deref();
        let spec = method.map(|method| spec_of_new_index(Some(method), tokenizer, None));
        Ok(ExpectedSettings {
            spec: spec.transpose()?,
            tokenizer: self.tokenizer,
            html: self.html,
            stop_words: self.stop_words.as_deref().map(stop_words).transpose()?,
            similarity: self.similarity,
        })
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
            ..
        } = self.wanted()?;
        Ok(InputSettings {
            reading: Reading {
                html: html.unwrap_or_default(),
                ..reading
            },
            tokenizer: tokenizer.unwrap_or_default(),
            stop_words: stop_words.unwrap_or_else(builtin_stop_words),
        })
    }
}

/// How documents are read for an existing index.
pub fn input_settings_of(settings: &IndexSettings, reading: Reading) -> InputSettings {
    InputSettings {
        reading: Reading {
            html: settings.html,
            ..reading
        },
        tokenizer: settings.tokenizer,
        stop_words: settings.stop_words.clone(),
    }
}
