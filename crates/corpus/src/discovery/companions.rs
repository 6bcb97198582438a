//! Files that are not data and are found next to or above data files.

use super::file_filter::FileFilter;
use super::left_out::{LeftOut, LeftOutReason};
use crate::source::{Format, Source};
use std::collections::HashMap;
use std::path::Path;

/// Files that are one document each are texts rather than companions of data if there are more than
/// this number for each data file, and more bytes of them.
const TEXTS_FOR_DATA: u64 = 8;

/// The files in or below a directory.
#[derive(Default)]
struct Around<'a> {
    /// The first data file.
    data: Option<&'a Path>,
    data_files: u64,
    data_bytes: u64,
    /// The files that are one document each.
    texts: u64,
    text_bytes: u64,
}

type Directories<'a> = HashMap<&'a Path, Around<'a>>;

/// Leaves out files that are one document each and are next to or above data files that the same
/// directory or pattern means; the number of that directory or pattern is given with each source.
/// Files that a pattern of `filter` includes stay, and so do those where most files are texts.
pub(super) fn leave_out(
    sources: &mut Vec<(Source, Option<u32>)>,
    filter: &FileFilter,
    left_out: &mut Vec<LeftOut>,
) {
    let is_text = |source: &Source| source.format.is_whole_file() && !filter.includes(&source.path);
    let groups = groups(sources, is_text);
    if groups.is_empty() {
        return;
    }
    let companions: Vec<Option<LeftOut>> = sources
        .iter()
        .map(|(source, group)| {
            let directories = groups.get(&(*group)?)?;
            let around = directories.get(directory(source))?;
            let data = around
                .data
                .filter(|_| is_text(source) && !around.is_of_texts())?;
            let what = match source.bytes {
                Some(0) => "empty,",
                _ => "not a data file, but",
            };
            let data = data.display();
            Some(LeftOut {
                path: source.path.clone(),
                reason: LeftOutReason::Companion,
                why: format!(
                    "{what} next to or above data files such as {data} (read with --include)"
                ),
            })
        })
        .collect();
    let mut kept = companions.iter().map(Option::is_none);
    sources.retain(|_| kept.next().unwrap_or(true));
    left_out.extend(companions.into_iter().flatten());
}

/// What is in or below each directory of the groups that have data files.
fn groups<'a>(
    sources: &'a [(Source, Option<u32>)],
    is_text: impl Fn(&Source) -> bool,
) -> HashMap<u32, Directories<'a>> {
    let mut groups: HashMap<u32, Directories<'a>> = HashMap::new();
    for (source, group) in sources {
        if let Some(group) = group.filter(|_| is_data(source)) {
            let directories = groups.entry(group).or_default();
            let around = directories.entry(directory(source)).or_default();
            around.data.get_or_insert(&source.path);
            around.data_files += 1;
            around.data_bytes += source.bytes.unwrap_or(0);
        }
    }
    for (source, group) in sources.iter().filter(|(source, _)| is_text(source)) {
        if let Some(directories) = group.and_then(|group| groups.get_mut(&group)) {
            let around = directories.entry(directory(source)).or_default();
            around.texts += 1;
            around.text_bytes += source.bytes.unwrap_or(0);
        }
    }
    groups.values_mut().for_each(add_to_parents);
    groups
}

/// Adds what is in each directory to those above it.
fn add_to_parents(directories: &mut Directories<'_>) {
    let mut own: Vec<_> = std::mem::take(directories).into_iter().collect();
    // The first data file of the input is named.
    own.sort_unstable_by_key(|(path, _)| *path);
    for (path, own) in own {
        for directory in path.ancestors() {
            let around = directories.entry(directory).or_default();
            around.data = around.data.or(own.data);
            around.data_files += own.data_files;
            around.data_bytes += own.data_bytes;
            around.texts += own.texts;
            around.text_bytes += own.text_bytes;
        }
    }
}

impl Around<'_> {
    fn is_of_texts(&self) -> bool {
        self.texts > TEXTS_FOR_DATA * self.data_files && self.text_bytes > self.data_bytes
    }
}

fn directory(source: &Source) -> &Path {
    source.path.parent().unwrap_or(Path::new(""))
}

/// Whether only data files have this format. Form feeds occur in plain texts too.
fn is_data(source: &Source) -> bool {
    matches!(
        source.format,
        Format::Jsonl | Format::Parquet | Format::Warc | Format::Arc
    )
}
