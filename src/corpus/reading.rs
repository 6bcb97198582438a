//! What decides how inputs are read.

use std::path::PathBuf;

use super::source::Format;
use crate::{Error, ErrorKind, Result};
use serde::{Deserialize, Serialize};

/// What decides how inputs are read; a part of the job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reading {
    /// The format of every input; `None` to detect each one's from its content.
    pub format: Option<Format>,
    /// The field of a JSON line or the column of a table that holds the text; dots lead into
    /// nested objects.
    pub text_field: String,
    /// The field that holds the id, a string or a number.
    pub id_field: String,
    /// The field that holds the URL.
    pub url_field: String,
    /// The field that holds the date.
    pub date_field: String,
    /// The field that decides which copy is kept, if one does.
    pub keep_field: Option<String>,
    /// What counts as the text of an HTML page.
    pub html: HtmlText,
    /// The most bytes of a document, as it stands in the decompressed input and decoded.
    pub max_document_bytes: u64,
    /// The least bytes of a chunk, but for the last and those before damage.
    pub chunk_bytes: usize,
    /// Which files are read; no part of the job, which knows the files themselves.
    #[serde(skip)]
    pub files: FileChoice,
}

/// Which files are read.
///
/// A pattern with a slash is compared with the whole path, one without with the file's name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileChoice {
    /// Patterns one of which a file in a directory, or of a pattern, has to match; none for all.
    pub include: Vec<String>,
    /// Patterns none of which a file may match.
    pub exclude: Vec<String>,
    /// A directory of which no file is read, such as that of the output. It need not exist.
    pub except_directory: Option<PathBuf>,
}

/// What counts as the text of an HTML page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HtmlText {
    /// The main text, without menus and the like; all visible text where there is none.
    Main,
    /// All visible text.
    Visible,
    /// The markup as it stands.
    Markup,
}

impl Default for HtmlText {
    /// The main text, if this build can find it.
    fn default() -> Self {
        if cfg!(feature = "html") {
            HtmlText::Main
        } else {
            HtmlText::Visible
        }
    }
}

impl HtmlText {
    /// Refuses the main text in a build that cannot find it.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] for [`HtmlText::Main`] without the feature `html`.
    pub fn check(self) -> Result<()> {
        if self == HtmlText::Main && !cfg!(feature = "html") {
            let message = "this build finds no main text in HTML: take --html visible, or build \
                           it with the feature `html`";
            return Err(Error::new(ErrorKind::Parameter, message));
        }
        Ok(())
    }
}

impl Default for Reading {
    fn default() -> Self {
        Reading {
            format: None,
            text_field: "text".into(),
            id_field: "id".into(),
            url_field: "url".into(),
            date_field: "date".into(),
            keep_field: None,
            html: HtmlText::default(),
            max_document_bytes: 64 << 20,
            chunk_bytes: 2 << 20,
            files: FileChoice::default(),
        }
    }
}

impl Reading {
    /// Checks what a person may have set.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] for a field name with an empty part, a size of zero, or a part of
    /// HTML that [this build cannot find](HtmlText::check).
    pub fn check(&self) -> Result<()> {
        self.html.check()?;
        let fields = [
            ("text", &self.text_field),
            ("id", &self.id_field),
            ("url", &self.url_field),
            ("date", &self.date_field),
        ];
        let keep = self.keep_field.iter().map(|field| ("keep", field));
        for (name, field) in fields.into_iter().chain(keep) {
            if field.split('.').any(str::is_empty) {
                let message = format!(
                    "the {name} field is {field:?}: name a field, or several joined by dots"
                );
                return Err(Error::new(ErrorKind::Parameter, message));
            }
        }
        if self.max_document_bytes == 0 || self.chunk_bytes == 0 {
            let message = format!(
                "documents of at most {} bytes in chunks of {}: both have to be at least 1",
                self.max_document_bytes, self.chunk_bytes
            );
            return Err(Error::new(ErrorKind::Parameter, message));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn main_text_needs_its_feature() {
        assert_eq!(HtmlText::Main.check().is_ok(), cfg!(feature = "html"));
        assert!(HtmlText::default().check().is_ok() && HtmlText::Visible.check().is_ok());
    }

    #[test]
    fn odd_settings_are_refused() {
        assert!(Reading::default().check().is_ok());
        let spoils: [fn(&mut Reading); 5] = [
            |reading| reading.text_field.clear(),
            |reading| reading.id_field = "a..b".into(),
            |reading| reading.keep_field = Some(".a".into()),
            |reading| reading.max_document_bytes = 0,
            |reading| reading.chunk_bytes = 0,
        ];
        for spoil in spoils {
            let mut reading = Reading::default();
            spoil(&mut reading);
            let error = reading.check().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Parameter);
        }
    }
}
