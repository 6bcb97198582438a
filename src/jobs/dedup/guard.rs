//! The guard against runs that would drop too many documents of a source.

use std::fmt::{self, Write};
use std::path::Path;
use std::str::FromStr;

use ahash::AHashMap;

use crate::corpus::Source;
use crate::{Error, ErrorKind, Result};

use super::clusters::Clusters;
use super::gathered::SourceCounts;
use super::largest::Shown;
use super::scope::path_of;

/// The largest share of the documents of a source that a run may drop, in millionths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LossLimit(u32);

/// Millionths in a whole.
const WHOLE: u32 = 1_000_000;

impl LossLimit {
    /// Whether dropping `dropped` of `read` documents exceeds it.
    pub fn is_exceeded_by(self, dropped: u64, read: u64) -> bool {
        u128::from(dropped) * u128::from(WHOLE) > u128::from(self.0) * u128::from(read)
    }
}

/// Reads a share below 1, such as `0.5`, or a percentage below 100, such as `50%`.
impl FromStr for LossLimit {
    type Err = Error;

    fn from_str(text: &str) -> Result<LossLimit> {
        let refuse = |message: String| Error::new(ErrorKind::Parameter, message);
        let expected = || {
            refuse(format!(
                "{text:?}: expected a share of the documents of a source, such as 0.5 or 50%"
            ))
        };
        let (number, shift) = match text.strip_suffix('%') {
            Some(percent) => (percent, 4),
            None => (text, 6),
        };
        let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
        let is_number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
        let is_valid = whole.len() <= 3 && decimals.len() <= shift;
        if !is_valid || whole.is_empty() || !is_number(whole) || !is_number(decimals) {
            return Err(expected());
        }
        let millionths: u32 = format!("{whole}{decimals:0<shift$}")
            .parse()
            .map_err(|_| expected())?;
        match millionths {
            0..WHOLE => Ok(LossLimit(millionths)),
            _ => Err(refuse(format!(
                "{text:?}: no run drops more than all documents of a source (expected a share below \
                 1, such as 0.5 or 50%)"
            ))),
        }
    }
}

/// As a percentage.
impl fmt::Display for LossLimit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.0 / 10_000, self.0 % 10_000);
        let decimals = format!("{rest:04}");
        match decimals.trim_end_matches('0') {
            "" => write!(out, "{whole}%"),
            decimals => write!(out, "{whole}.{decimals}%"),
        }
    }
}

/// The sources whose losses are counted together: the input files, and the files of a directory that
/// are one document each.
pub(super) struct LossGroups {
    /// The name of each group.
    names: Vec<String>,
    /// The group of each source; those of the reference lose nothing.
    pub of: Vec<u32>,
}

/// The most sources that a message describes.
const MOST_DESCRIBED: usize = 3;

impl LossGroups {
    /// The groups of all sources, of which the first `references` are the reference.
    pub fn new(sources: &[Source], references: usize) -> LossGroups {
        let mut groups = LossGroups {
            names: Vec::new(),
            of: vec![0; references.min(sources.len())],
        };
        let mut numbers: AHashMap<&Path, u32> = AHashMap::new();
        for source in sources.iter().skip(references) {
            let path = path_of(source);
            let number = *numbers.entry(path).or_insert_with(|| {
                groups.names.push(path.to_string_lossy().into_owned());
                groups.names.len() as u32 - 1
            });
            groups.of.push(number);
        }
        groups
    }

    /// The groups that lose more than `limit`, with their dropped and read documents; the largest
    /// share first.
    fn exceeding(&self, limit: LossLimit, sources: &[SourceCounts]) -> Vec<(usize, u64, u64)> {
        let mut totals = vec![(0u64, 0u64); self.names.len()];
        // Those of the reference are not among the counts.
        let groups = self
            .of
            .iter()
            .skip(self.of.len() - sources.len().min(self.of.len()));
        for (group, source) in groups.zip(sources) {
            let total = &mut totals[*group as usize];
            total.0 += source.dropped;
            total.1 += source.seen - source.skipped;
        }
        let all = totals.into_iter().enumerate();
        let mut found: Vec<(usize, u64, u64)> = all
            .map(|(group, (dropped, read))| (group, dropped, read))
            .filter(|&(_, dropped, read)| limit.is_exceeded_by(dropped, read))
            .collect();
        // The sort is stable, so equal shares stay in input order.
        found.sort_by(|a, b| {
            (u128::from(b.1) * u128::from(a.2)).cmp(&(u128::from(a.1) * u128::from(b.2)))
        });
        found
    }

    /// Refuses a finished run that dropped more than `limit` of a source.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] naming the sources.
    pub fn check_finished(&self, limit: LossLimit, sources: &[SourceCounts]) -> Result<()> {
        let found = self.exceeding(limit, sources);
        if found.is_empty() {
            return Ok(());
        }
        let message = format!(
            "the output of an earlier run without this limit is complete, and it lost {}\n(add \
             --restart to make it again, or another output directory)",
            self.lines(limit, &found, |_| Ok(String::new()))?
        );
        Err(Error::new(ErrorKind::Parameter, message))
    }

    /// Refuses to write the output of a run that drops more than `limit` of a source.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] naming the sources and the clusters that most of the dropped
    /// documents are in; those of reading work files.
    pub fn check(
        &self,
        limit: LossLimit,
        sources: &[SourceCounts],
        clusters: &Clusters,
        shown: &Shown<'_>,
    ) -> Result<()> {
        let found = self.exceeding(limit, sources);
        if found.is_empty() {
            return Ok(());
        }
        let worst = |group: usize| {
            let mut lines = String::new();
            for &(dropped, kept) in &clusters.losses[group].worst {
                let document = shown.document(kept)?;
                let _ = write!(
                    lines,
                    "\n    {dropped} as duplicates of {}",
                    one_line(&document.id)
                );
                if let Some(beginning) = document.beginning {
                    let _ = write!(lines, ": {beginning}");
                }
            }
            Ok(lines)
        };
        let message = format!(
            "nothing was written, as the input would lose {}\n(check these duplicates; the same \
             command with another limit, or without one, goes on from the decisions)",
            self.lines(limit, &found, worst)?
        );
        Err(Error::new(ErrorKind::Parameter, message))
    }

    fn lines(
        &self,
        limit: LossLimit,
        found: &[(usize, u64, u64)],
        details: impl Fn(usize) -> Result<String>,
    ) -> Result<String> {
        let (count, all) = (found.len(), self.names.len());
        let mut text = format!("more than {limit} of {count} of {all} sources:");
        for &(group, dropped, read) in found.iter().take(MOST_DESCRIBED) {
            let percent = dropped as f64 * 100.0 / read.max(1) as f64;
            let name = one_line(&self.names[group]);
            let _ = write!(
                text,
                "\n  {name}: {dropped} of {read} documents ({percent:.1}%)"
            );
            text += &details(group)?;
        }
        if let Some(more @ 1..) = count.checked_sub(MOST_DESCRIBED) {
            let _ = write!(text, "\n  and {more} more");
        }
        Ok(text)
    }
}

/// Text of the input on one line.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_exact() {
        let limit = |text: &str| text.parse::<LossLimit>();
        for (text, shown) in [
            ("0.5", "50%"),
            ("50%", "50%"),
            ("0", "0%"),
            ("0.333333", "33.3333%"),
            ("99.9999%", "99.9999%"),
            ("0.05%", "0.05%"),
        ] {
            assert_eq!(limit(text).unwrap().to_string(), shown, "{text}");
        }
        for text in [
            "",
            "x",
            "-1",
            ".5",
            "0.5.5",
            "1",
            "1.0",
            "100%",
            "150%",
            "0.1234567",
            "1e-1",
        ] {
            assert!(limit(text).is_err(), "{text}");
        }
        let half = limit("0.5").unwrap();
        assert!(half.is_exceeded_by(51, 100) && !half.is_exceeded_by(50, 100));
        assert!(!half.is_exceeded_by(0, 0));
        assert!(limit("0").unwrap().is_exceeded_by(1, u64::MAX));
        assert!(half.is_exceeded_by(u64::MAX, u64::MAX));
    }
}
