//! What happens to repeated parts of documents.

use std::fmt;

use crate::{Error, ErrorKind, Result};

/// What happens to repeated parts of documents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Action {
    /// They are reported; no document changes.
    #[default]
    Mark,
    /// They are removed. A document of which only white space remains is dropped.
    Cut,
    /// Their characters become blanks of the same length.
    Mask,
    /// Documents with at least this share of repeated text are dropped; the others do not change.
    DropDocument(DropShare),
}

/// A share of the bytes of a text, in millionths: more than 0 and at most 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DropShare(u32);

/// Millionths in a whole.
const WHOLE: u32 = 1_000_000;

impl Action {
    /// Reads `mark`, `cut`, `mask` or `drop-document:SHARE`, with a share such as `0.5`.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] for anything else.
    pub fn parse(text: &str) -> Result<Action> {
        match (text, text.split_once(':')) {
            ("mark", _) => Ok(Action::Mark),
            ("cut", _) => Ok(Action::Cut),
            ("mask", _) => Ok(Action::Mask),
            (_, Some(("drop-document", share))) if DropShare::parse(share).is_some() => {
                let share = DropShare::parse(share).unwrap_or(DropShare(WHOLE));
                Ok(Action::DropDocument(share))
            }
            _ => {
                let message = format!(
                    "action {text:?}: expected mark, cut, mask or drop-document:SHARE, with a \
                     share of the text above 0 and at most 1, such as drop-document:0.5"
                );
                Err(Error::new(ErrorKind::Parameter, message))
            }
        }
    }

    /// The directory of the rewritten inputs; `None` if they are not written.
    pub fn directory(self) -> Option<&'static str> {
        match self {
            Action::Mark => None,
            Action::Cut => Some("cut"),
            Action::Mask => Some("masked"),
            Action::DropDocument(_) => Some("kept"),
        }
    }

    /// What happens to passages, as a participle: "removed", for example.
    pub fn participle(self) -> &'static str {
        match self {
            Action::Mark => "marked",
            Action::Cut => "removed",
            Action::Mask => "masked",
            Action::DropDocument(_) => "found",
        }
    }

    /// Whether texts of documents change.
    pub fn changes_texts(self) -> bool {
        matches!(self, Action::Cut | Action::Mask)
    }
}

/// In the format of [`Action::parse`].
impl fmt::Display for Action {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Action::Mark => out.write_str("mark"),
            Action::Cut => out.write_str("cut"),
            Action::Mask => out.write_str("mask"),
            Action::DropDocument(DropShare(WHOLE)) => out.write_str("drop-document:1"),
            Action::DropDocument(DropShare(share)) => {
                let decimals = format!("{share:06}");
                write!(out, "drop-document:0.{}", decimals.trim_end_matches('0'))
            }
        }
    }
}

impl DropShare {
    /// Whether `part` of `whole` bytes is at least this share.
    pub fn is_reached_by(self, part: u64, whole: u64) -> bool {
        part > 0 && u128::from(part) * u128::from(WHOLE) >= u128::from(whole) * u128::from(self.0)
    }

    fn parse(text: &str) -> Option<DropShare> {
        let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
        let is_number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
        if !(matches!(whole, "0" | "1") && decimals.len() <= 6 && is_number(decimals)) {
            return None;
        }
        let millionths: u32 = format!("{whole}{decimals:0<6}").parse().ok()?;
        (1..=WHOLE)
            .contains(&millionths)
            .then_some(DropShare(millionths))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_written() {
        for name in [
            "mark",
            "cut",
            "mask",
            "drop-document:1",
            "drop-document:0.5",
            "drop-document:0.000001",
        ] {
            assert_eq!(Action::parse(name).unwrap().to_string(), name);
        }
        for name in [
            "",
            "drop",
            "drop-document",
            "drop-document:0",
            "drop-document:1.1",
            "drop-document:x",
            "drop-document:0.0000001",
            "drop-document:50%",
        ] {
            assert!(Action::parse(name).is_err(), "{name}");
        }
    }

    #[test]
    fn a_share_is_reached_exactly() {
        let Action::DropDocument(half) = Action::parse("drop-document:0.5").unwrap() else {
            unreachable!()
        };
        assert!(half.is_reached_by(1, 2) && half.is_reached_by(2, 3));
        assert!(!half.is_reached_by(1, 3) && !half.is_reached_by(0, 0));
        assert!(half.is_reached_by(u64::MAX, u64::MAX));
    }
}
