//! The names of shards in the output directory.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::shard_settings::ShardSettings;
use crate::Result;
use crate::shards::place::ShardPlace;
use crate::skeleton::invocation::Invocation;
use crate::workdir::Work;
use crate::workdir::entries;
use crate::write::targets;

/// The files in the output directory of a run that have names of shards of the streams in
/// `directories`, locally or in an object store, and the first shard of each stream; relative to that
/// directory.
///
/// # Errors
/// [`ErrorKind::Write`](crate::ErrorKind::Write) if a directory cannot be read; those of the request.
pub fn names(
    settings: &ShardSettings,
    directories: &[&'static str],
    invocation: &Invocation<'_>,
) -> Result<BTreeSet<PathBuf>> {
    let mut names = local_names(settings, directories, invocation.out)?;
    if let Some(remote) = invocation.remote
        && !directories.is_empty()
    {
        let is_shard = |path: &Path| {
            let directory = path.parent().and_then(Path::to_str);
            let file = path.file_name().and_then(OsStr::to_str);
            directory.is_some_and(|directory| directories.contains(&directory))
                && file.is_some_and(|file| settings.name.is_of(file, settings.format))
        };
        names.extend(remote.list(&is_shard)?.into_keys());
    }
    Ok(names)
}

/// Refuses shards in `out` if a symbolic link, directory or file is in the way.
///
/// # Errors
/// Errors of [`check_targets`].
pub fn check_names(
    settings: &ShardSettings,
    directories: &[&'static str],
    out: &Path,
) -> Result<()> {
    let names: Vec<PathBuf> = local_names(settings, directories, out)?
        .into_iter()
        .collect();
    targets::check(out, &names)
}

fn local_names(
    settings: &ShardSettings,
    directories: &[&'static str],
    out: &Path,
) -> Result<BTreeSet<PathBuf>> {
    let (format, name) = (settings.format, &settings.name);
    let mut names = BTreeSet::new();
    for directory in directories {
        let first = name.file(0, format);
        let found = match out.join(directory).is_dir() {
            true => entries(&out.join(directory))?,
            false => Vec::new(),
        };
        let others = found.into_iter().filter(|file| name.is_of(file, format));
        let all = others.chain([first]);
        names.extend(all.map(|file| Path::new(directory).join(file)));
    }
    Ok(names)
}

/// How many shards of each of some streams are complete, as parts of a sentence for the user.
///
/// # Errors
/// Errors of [`ShardPlace::complete`].
pub fn complete(
    settings: &ShardSettings,
    directories: &[&'static str],
    work: &Work,
    out: &Path,
) -> Result<String> {
    let mut text = String::new();
    for directory in directories {
        let place = ShardPlace {
            out,
            directory,
            settings,
            outputs: work.outputs(),
            work,
        };
        text += &format!(
            ", {} shards of {directory}/ written",
            place.complete()?.len()
        );
    }
    Ok(text)
}
