//! What is frozen in an index: the flags of every command that makes or opens one.

use std::path::PathBuf;

use clap::Args;
use simtool::Result;
use simtool::corpus::{HtmlText, Reading};
use simtool::io::InputFiles;
use simtool::run::collection::Manner;
use simtool::run::seen::{Settings, Wanted};
use simtool::sketch::registry::Spec;
use simtool::text::{Choice, builtin_stop_words};

use crate::cli::effect::{WordFlags, check_words};
use crate::cli::method_flags::{USUAL_METHOD, tokenizer};
use crate::cli::reading_flags::{HtmlPart, stop_words};
use crate::cli::values;

/// What is frozen in an index.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Frozen in the index")]
pub struct SettingsArgs {
    /// How near documents are found: NAME or NAME:parameter=value,...; simtool methods lists them
    /// [default: simhash, or that of the index]
    #[arg(
        long, value_name = "METHOD", value_parser = values::method(), hide_possible_values = true
    )]
    method: Option<String>,

    /// What is taken for a word: auto, ascii, unicode, chinese or chars [default: auto, or that of
    /// the index]
    #[arg(
        long, value_name = "KIND", value_parser = values::tokenizer(tokenizer),
        hide_possible_values = true
    )]
    tokenizer: Option<Choice>,

    /// File of the words, between white space, that methods leave out as stop words [default: the
    /// common words of nine languages, or those of the index]
    #[arg(long, value_name = "FILE")]
    stop_words: Option<PathBuf>,

    /// What counts as the text of an HTML page [default: main, or that of the index]
    #[arg(long, value_name = "PART")]
    html: Option<HtmlPart>,
}

impl SettingsArgs {
    /// The files that these flags name, so that no output replaces them.
    pub fn files(&self) -> InputFiles {
        let mut files = InputFiles::default();
        if let Some(path) = &self.stop_words {
            files.add(path);
        }
        files
    }

    /// What an index that is there has to have.
    ///
    /// # Errors
    /// Those of reading the method and the stop words.
    pub fn wanted(&self) -> Result<Wanted> {
        Ok(Wanted {
            spec: self.method.as_deref().map(Spec::parse).transpose()?,
            tokenizer: self.tokenizer,
            html: self.html.map(HtmlText::from),
            stop_words: self.stop_words.as_deref().map(stop_words).transpose()?,
        })
    }

    /// The method of a new index.
    ///
    /// # Errors
    /// Those of reading it, and of flags about words that it does not use.
    pub fn spec(&self) -> Result<Spec> {
        let spec = Spec::parse(self.method.as_deref().unwrap_or(USUAL_METHOD))?;
        let words = WordFlags {
            tokenizer: self.tokenizer.is_some(),
            stop_words: self.stop_words.is_some(),
        };
        check_words(std::slice::from_ref(&spec), words)?;
        Ok(spec)
    }

    /// How the documents of a new index are read; `reading` says the rest.
    ///
    /// # Errors
    /// Those of reading the stop words.
    pub fn manner(&self, reading: Reading) -> Result<Manner> {
        let Wanted {
            tokenizer,
            html,
            stop_words,
            ..
        } = self.wanted()?;
        Ok(Manner {
            reading: Reading {
                html: html.unwrap_or_default(),
                ..reading
            },
            tokenizer: tokenizer.unwrap_or_default(),
            stop_words: stop_words.unwrap_or_else(builtin_stop_words),
        })
    }
}

/// How documents are read for an index that is there.
pub fn manner_of(settings: &Settings, reading: Reading) -> Manner {
    Manner {
        reading: Reading {
            html: settings.html,
            ..reading
        },
        tokenizer: settings.tokenizer,
        stop_words: settings.stop_words.clone(),
    }
}
