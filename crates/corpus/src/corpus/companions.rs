//! Files that are not data and are found next to or above data files.

use super::file_filter::FileFilter;
use super::left_out::{LeftOut, LeftOutReason};
use super::source::{Format, Source};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The first data file in or below each directory.
type AroundData = HashMap<PathBuf, PathBuf>;

/// Leaves out files that are one document each and are next to or above data files that the same
/// directory or pattern means; the number of that directory or pattern is given with each source.
/// Files that a pattern of `filter` includes stay.
pub(super) fn leave_out(
    sources: &mut Vec<(Source, Option<u32>)>,
    filter: &FileFilter,
    left_out: &mut Vec<LeftOut>,
) {
    let mut groups: HashMap<u32, AroundData> = HashMap::new();
    for (source, group) in &*sources {
        if let Some(group) = group.filter(|_| is_data(source)) {
            add(groups.entry(group).or_default(), &source.path);
        }
    }
    if groups.is_empty() {
        return;
    }
    sources.retain(|(source, group)| {
        let around_data = group.and_then(|group| groups.get(&group));
        let directory = source.path.parent().unwrap_or(Path::new(""));
        let data = around_data.and_then(|around_data| around_data.get(directory));
        let is_companion = || source.format.is_whole_file() && !filter.includes(&source.path);
        let Some(data) = data.filter(|_| is_companion()) else {
            return true;
        };
        let what = match source.bytes {
            Some(0) => "empty,",
            _ => "not a data file, but",
        };
        let data = data.display();
        left_out.push(LeftOut {
            path: source.path.clone(),
            reason: LeftOutReason::Companion,
            why: format!("{what} next to or above data files such as {data} (read with --include)"),
        });
        false
    });
}

/// Adds the directories around the data file `data`.
fn add(around_data: &mut AroundData, data: &Path) {
    for directory in data.ancestors().skip(1) {
        // If a directory is known already, so are those above it.
        if around_data.contains_key(directory) {
            break;
        }
        around_data.insert(directory.to_owned(), data.to_owned());
    }
}

/// Whether only data files have this format. Form feeds occur in plain texts too.
fn is_data(source: &Source) -> bool {
    matches!(
        source.format,
        Format::Jsonl | Format::Parquet | Format::Warc | Format::Arc
    )
}
