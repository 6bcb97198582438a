//! Settings for reading inputs.

use std::ops::Range;
use std::path::PathBuf;

#[cfg(doc)]
use super::chunk::Position;
use super::document::MAX_FIELDS;
use super::source::Format;
use crate::{Error, ErrorKind, Result};
use serde::{Deserialize, Serialize};

/// Settings for reading inputs; a part of the job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reading {
    /// The format of every input; `None` to detect each one's from its content.
    pub format: Option<Format>,
    /// The field of a JSON line or the column of a table that contains the text; a dot separates
    /// the names of nested objects.
    pub text_field: String,
    /// The field of the id, a string or a number.
    pub id_field: String,
    /// The field of the URL.
    pub url_field: String,
    /// The field of the date.
    pub date_field: String,
    /// Further fields whose values the job needs, at most [`MAX_FIELDS`]. In web archives, they
    /// are names of headers.
    pub fields: Vec<String>,
    /// Whether a field of a JSON line that is a list of strings and numbers is read as these, each on
    /// a line of its own. Otherwise, lists are no texts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub joins_lists: bool,
    /// The part of an HTML page that is its text.
    pub html: HtmlText,
    /// The maximum number of bytes of a document, both decompressed and decoded.
    pub max_document_bytes: u64,
    /// The minimum number of bytes of a chunk, except before damage, before a document over the
    /// length limit, and at the end; for tables, about the maximum of a batch.
    pub chunk_bytes: usize,
    /// The number of bytes of a [section](Position::of_section) of a source, at least 4: several
    /// readers can read one source.
    #[serde(skip, default = "section_bytes")]
    pub section_bytes: u64,
    /// The choice of files. Not a part of the job, which lists the files themselves.
    #[serde(skip)]
    pub files: FileChoice,
}

/// The choice of files that are read.
///
/// A pattern with a slash is compared with the whole path, one without a slash with the file name. A
/// pattern that ends in a slash matches all files below the directories with that name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileChoice {
    /// A file found in a directory or by a pattern must match one of these; if empty, all match.
    pub include: Vec<String>,
    /// A file must not match any of these patterns.
    pub exclude: Vec<String>,
    /// A directory whose files are not read, such as that of the output. It need not exist.
    pub except_directory: Option<PathBuf>,
    /// Of the names in each list of inputs, only those with these numbers are read, from 0.
    pub take: Option<Range<u64>>,
}

/// The part of an HTML page that is its text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HtmlText {
    /// The main text, without menus, found by classifying lines; all visible text if a page has no
    /// main text.
    #[default]
    Main,
    /// All visible text.
    Visible,
    /// The unchanged markup.
    Markup,
}

impl Default for Reading {
    fn default() -> Self {
        Reading {
            format: None,
            text_field: "text".into(),
            id_field: "id".into(),
            url_field: "url".into(),
            date_field: "date".into(),
            fields: Vec::new(),
            joins_lists: false,
            html: HtmlText::default(),
            max_document_bytes: 64 << 20,
            chunk_bytes: 2 << 20,
            section_bytes: section_bytes(),
            files: FileChoice::default(),
        }
    }
}

fn section_bytes() -> u64 {
    64 << 20
}

impl Reading {
    /// Checks the settings.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] for a field name with an empty part, too many fields, or a size of
    /// zero.
    pub fn check(&self) -> Result<()> {
        let fields = [
            ("text", &self.text_field),
            ("id", &self.id_field),
            ("url", &self.url_field),
            ("date", &self.date_field),
        ];
        let further = self.fields.iter().map(|field| ("requested", field));
        for (name, field) in fields.into_iter().chain(further) {
            if field.split('.').any(str::is_empty) {
                let message = format!(
                    "the {name} field is {field:?}: name a field, or several joined by dots"
                );
                return Err(Error::new(ErrorKind::Parameter, message));
            }
        }
        if self.fields.len() > MAX_FIELDS {
            let message = format!(
                "{} fields are requested besides text, id, URL and date: expected at most \
                 {MAX_FIELDS}",
                self.fields.len()
            );
            return Err(Error::new(ErrorKind::Parameter, message));
        }
        if self.max_document_bytes == 0 || self.chunk_bytes == 0 {
            let message = format!(
                "documents of at most {} bytes in chunks of {}: both must be at least 1",
                self.max_document_bytes, self.chunk_bytes
            );
            return Err(Error::new(ErrorKind::Parameter, message));
        }
        // The first section has the byte-order mark.
        if self.section_bytes < 4 {
            let message = format!("sections of {} bytes: at least 4", self.section_bytes);
            return Err(Error::new(ErrorKind::Parameter, message));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_settings_are_refused() {
        assert!(Reading::default().check().is_ok());
        let spoils: [fn(&mut Reading); 7] = [
            |reading| reading.text_field.clear(),
            |reading| reading.id_field = "a..b".into(),
            |reading| reading.fields = vec![".a".into()],
            |reading| reading.fields = vec!["a".into(); MAX_FIELDS + 1],
            |reading| reading.max_document_bytes = 0,
            |reading| reading.chunk_bytes = 0,
            |reading| reading.section_bytes = 3,
        ];
        for spoil in spoils {
            let mut reading = Reading::default();
            spoil(&mut reading);
            let error = reading.check().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Parameter);
        }
    }
}
