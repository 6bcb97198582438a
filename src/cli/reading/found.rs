//! The files that inputs stand for, and messages about files that are left out.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use simtool::Result;
use simtool::corpus::{Discovery, FileChoice, LeftOut, LeftOutReason, Reading, Source, searched};
use simtool::engine::text_field;
use simtool::io::remote::is_remote;

use super::listing;
use super::server_waits::report_waits;
use crate::cli::process::session::Session;
use crate::cli::screen::message;

/// The sources of each group of inputs. Writes messages about files that are left out, and about
/// patterns that no file of any group matched.
///
/// # Errors
/// Errors of [`find`] and of [`check_text_field`].
pub fn discover<const N: usize>(
    groups: [&[PathBuf]; N],
    reading: &Reading,
    session: &Session,
) -> Result<[Vec<Source>; N]> {
    let mut sources = groups.map(|_| Vec::new());
    let mut unmatched = Vec::new();
    for (inputs, sources) in groups.into_iter().zip(&mut sources) {
        let found = find(inputs, &[], reading, session)?;
        *sources = found.sources;
        unmatched.push(found.unmatched);
    }
    warn_of_patterns(&unmatched, sources.iter().flatten());
    for sources in &sources {
        check_text_field("--text-field", sources, reading)?;
    }
    Ok(sources)
}

/// What inputs and lists of inputs stand for. Shows progress in the form of the log, and writes messages
/// about files that are left out.
///
/// # Errors
/// Errors of [`Discovery::of`].
pub fn find(
    inputs: &[PathBuf],
    lists: &[PathBuf],
    reading: &Reading,
    session: &Session,
) -> Result<Discovery> {
    if let [name] = inputs
        && let Some(rows) = session.rows.iter().find(|rows| rows.path == *name)
    {
        return Ok(Discovery {
            sources: vec![rows.clone()],
            left_out: Vec::new(),
            excepted: Vec::new(),
            unmatched: FileChoice::default(),
        });
    }
    let asks_servers = inputs.iter().chain(lists).any(|name| is_remote(name));
    let client = &session.client;
    let found = report_waits(client, asks_servers, || {
        listing::showing(session.log, |progress| {
            Discovery::of(inputs, lists, reading, client, progress)
        })
    })?;
    let lines = left_out(&found.left_out);
    lines.iter().for_each(|line| message::say(line));
    for directory in earlier_outputs(inputs, &found.sources) {
        let name = directory.file_name().unwrap_or_default().display();
        message::warn(&format!(
            "{}: has the output of a run of simtool {}, and is read as input (--exclude {name}/ \
             leaves it out)",
            directory.display(),
            command_of(directory)
        ));
    }
    Ok(found)
}

/// The directories with the output of a run, in or below one of `inputs`, that have files of `sources`.
/// Looks at each directory once, and at each source once.
fn earlier_outputs<'a>(inputs: &[PathBuf], sources: &'a [Source]) -> BTreeSet<&'a Path> {
    let inputs: HashSet<PathBuf> = inputs.iter().map(|input| searched(input)).collect();
    let is_read = |directory: &Path| directory.ancestors().any(|above| inputs.contains(above));
    let mut known = HashSet::new();
    let mut outputs = BTreeSet::new();
    for source in sources.iter().filter(|source| source.object.is_none()) {
        for directory in source.path.ancestors().skip(1) {
            if !known.insert(directory) || !is_read(directory) {
                break;
            }
            let has = |name: &&str| directory.join(name).is_file();
            if ["run.json", "summary.json"].iter().all(has) {
                outputs.insert(directory);
            }
        }
    }
    outputs
}

/// The command whose output is in `directory`, by its `run.json`.
fn command_of(directory: &Path) -> String {
    #[derive(Deserialize)]
    struct Run {
        job: Job,
    }
    #[derive(Deserialize)]
    struct Job {
        settings: Settings,
    }
    #[derive(Deserialize)]
    struct Settings {
        command: Option<String>,
    }
    let opened = File::open(directory.join("run.json")).ok();
    let run = opened.and_then(|file| serde_json::from_reader(BufReader::new(file)).ok());
    // Only other commands than `dedup` name themselves.
    let command = run.and_then(|Run { job }| job.settings.command);
    let is_name = |name: &String| name.bytes().all(|letter| letter.is_ascii_lowercase());
    command.filter(is_name).unwrap_or_else(|| "dedup".into())
}

/// Refuses `sources` if no document of them has the field of the text, which `flag` names.
///
/// # Errors
/// Errors of [`text_field::check`].
pub fn check_text_field(flag: &str, sources: &[Source], reading: &Reading) -> Result<()> {
    text_field::check(flag, sources, reading)
}

/// Warns of patterns that are `unmatched` in every group of inputs, which stand for `sources`.
pub fn warn_of_patterns<'a>(unmatched: &[FileChoice], sources: impl Iterator<Item = &'a Source>) {
    let mut sources = sources.peekable();
    let are_files =
        sources.peek().is_none() || sources.any(|source| source.path.as_os_str() != "-");
    unmatched_lines(unmatched, are_files)
        .iter()
        .for_each(|line| message::warn(line));
}

/// A line for each unmatched pattern; `are_files` is `false` if standard input alone is read.
fn unmatched_lines(unmatched: &[FileChoice], are_files: bool) -> Vec<String> {
    let Some((first, others)) = unmatched.split_first() else {
        return Vec::new();
    };
    let in_all = |lists: fn(&FileChoice) -> &[String], text: &String| {
        others.iter().all(|other| lists(other).contains(text))
    };
    let lines = |flag: &str, of: &str, lists: fn(&FileChoice) -> &[String]| {
        let texts = lists(first).iter().filter(|text| in_all(lists, text));
        let line = |text: &String| {
            if !are_files {
                return format!("{flag} {text}: has no effect on standard input");
            }
            let hint = match text.ends_with('/') {
                true => String::new(),
                false => format!(" ({text}/ is for the files below directories)"),
            };
            format!("{flag} {text}: matches no file{of}{hint}")
        };
        texts.map(line).collect::<Vec<_>>()
    };
    let mut all = lines("--include", " of a directory or pattern", |choice| {
        &choice.include
    });
    all.extend(lines("--exclude", "", |choice| &choice.exclude));
    all
}

/// A line for each reason that files are left out for, the most frequent one first.
fn left_out(files: &[LeftOut]) -> Vec<String> {
    let mut counts: BTreeMap<_, (usize, &LeftOut)> = BTreeMap::new();
    for file in files {
        // Each format has its own advice. The texts of other reasons may name other files.
        let format = (file.reason == LeftOutReason::Format).then_some(&file.why);
        counts.entry((file.reason, format)).or_insert((0, file)).0 += 1;
    }
    let mut counts: Vec<_> = counts.into_values().collect();
    counts.sort_by_key(|&(count, _)| Reverse(count));
    let line = |(count, file): (usize, &LeftOut)| {
        let what = match file.reason {
            LeftOutReason::Empty => "directories",
            LeftOutReason::Hidden => "files or directories",
            _ => "files",
        };
        let many = match count {
            1 => String::new(),
            more => format!("{more} {what}, such as "),
        };
        format!("not read: {many}{} ({})", file.path.display(), file.why)
    };
    counts.into_iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_that_match_in_no_group_are_told() {
        let choice = |include: &[&str], exclude: &[&str]| FileChoice {
            include: include.iter().map(|&text| text.to_owned()).collect(),
            exclude: exclude.iter().map(|&text| text.to_owned()).collect(),
            except_directory: None,
            take: None,
        };
        let (one, other) = (choice(&["a", "b"], &["c/"]), choice(&["b"], &["c/", "d"]));
        let expected = [
            "--include b: matches no file of a directory or pattern (b/ is for the files below \
             directories)",
            "--exclude c/: matches no file",
        ];
        assert_eq!(unmatched_lines(&[one.clone(), other], true), expected);
        assert_eq!(unmatched_lines(&[one, choice(&[], &[])], true), [""; 0]);
    }

    #[test]
    fn each_reason_is_told_once_and_frequent_ones_come_first() {
        let file = |number: usize, reason, why: &str| LeftOut {
            path: format!("f{number}").into(),
            reason,
            why: why.to_owned(),
        };
        let format = LeftOutReason::Format;
        let mut files = vec![file(0, format, "a GIF image")];
        assert_eq!(left_out(&files), ["not read: f0 (a GIF image)"]);
        let same = |number| {
            let why = format!("the same file as g{number}");
            file(number, LeftOutReason::SameFile, &why)
        };
        files.extend((1..4).map(same));
        files.extend((4..2210).map(|number| file(number, format, "JSON (use jq)")));
        assert_eq!(
            left_out(&files),
            [
                "not read: 2206 files, such as f4 (JSON (use jq))",
                "not read: 3 files, such as f1 (the same file as g1)",
                "not read: f0 (a GIF image)",
            ]
        );
    }
}
