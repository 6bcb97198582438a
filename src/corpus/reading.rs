//! What decides how inputs are read.

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
}

/// What counts as the text of an HTML page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HtmlText {
    /// The main text, without menus and the like; all visible text where there is none.
    Main,
    /// All visible text.
    Visible,
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
            html: HtmlText::Main,
            max_document_bytes: 64 << 20,
            chunk_bytes: 2 << 20,
        }
    }
}

impl Reading {
    /// Checks what a person may have set.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] for a field name with an empty part, or a size of zero.
    pub fn check(&self) -> Result<()> {
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
