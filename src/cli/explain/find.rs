//! Which two documents are meant?

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use simtool::corpus::{Reading, Source};
use simtool::run::Progress;
use simtool::run::explain::{Found, Lookup};
use simtool::{Error, ErrorKind, Result};

use super::super::found::discover;
use super::ExplainArgs;
use super::listed::{Listed, listed};
use crate::cli::watch::Watch;
use crate::cli::{interrupt, machine};

/// Two documents, and what a deduplication said of them.
pub struct Pair {
    /// The documents, A and B.
    pub documents: [Found; 2],
    /// The line of `--pair`.
    pub listed: Option<Listed>,
}

/// The documents that the flags name.
///
/// # Errors
/// Those of finding and reading them; [`ErrorKind::Parameter`] for a name that nothing has.
pub fn pair(args: &ExplainArgs, reading: &Reading) -> Result<Pair> {
    let progress = Arc::new(Progress::new());
    let _stoppable = interrupt::stoppable(&progress);
    let watch = Watch::start(&progress, false);
    let lookup = Lookup {
        reading,
        threads: machine::all_cores(),
        progress: &progress,
    };
    let found = match (&args.pair, &args.id, &args.a, &args.b) {
        (Some(list), Some(id), ..) => of_line(list, id, &lookup),
        (_, _, Some(a), Some(b)) => by_names([a, b], &args.inputs, &lookup),
        _ => Err(refuse("name two documents".to_owned())),
    };
    drop(watch);
    found
}

fn refuse(message: String) -> Error {
    Error::new(ErrorKind::Parameter, message)
}

fn of_line(list: &Path, id: &OsStr, lookup: &Lookup<'_>) -> Result<Pair> {
    let line = listed(list, id.as_bytes(), &|| lookup.progress.check())?;
    let find = |at: &super::listed::At| {
        let found = lookup.at(Path::new(&at.file), at.member, at.start)?;
        if found.place.length == at.length {
            return Ok(found);
        }
        let message = format!(
            "changed since: the document at {} is of {} bytes, and was of {}",
            at.start, found.place.length, at.length
        );
        Err(Error::new(ErrorKind::Changed, message).in_file(&at.file))
    };
    Ok(Pair {
        documents: [find(&line.at)?, find(&line.kept_at)?],
        listed: Some(line),
    })
}

/// Ids first, where there are inputs to look them up in; else files and places.
fn by_names(names: [&OsString; 2], inputs: &[PathBuf], lookup: &Lookup<'_>) -> Result<Pair> {
    let sources = discover(inputs, &[], lookup.reading)?;
    if let Some(stream) = sources.iter().find(|source| source.is_stream()) {
        let message = "cannot be looked through: copy it to a file, and name that";
        return Err(refuse(message.to_owned()).in_file(&stream.path));
    }
    let ids = names.map(|name| name.as_bytes());
    let [a, b] = match sources.as_slice() {
        [] => [None, None],
        sources => lookup.by_ids(sources, ids)?,
    };
    let find = |found: Option<Found>, name| match found {
        Some(found) => Ok(found),
        None => by_place(name, &sources, lookup),
    };
    Ok(Pair {
        documents: [find(a, names[0])?, find(b, names[1])?],
        listed: None,
    })
}

fn by_place(name: &OsStr, sources: &[Source], lookup: &Lookup<'_>) -> Result<Found> {
    let path = Path::new(name);
    if path.is_file() {
        return lookup.only(path);
    }
    if let Some((file, member, offset)) = place(name).filter(|(file, ..)| file.is_file()) {
        return lookup.at(file, member, offset);
    }
    let shown = path.display();
    Err(refuse(match sources.len() {
        0 => format!(
            "{shown}: there is no such file (expected a file, a place such as FILE:OFFSET, or an \
             id and --in INPUT...)"
        ),
        1 => format!("id {shown}: not in {}", sources[0].path.display()),
        count => format!("id {shown}: in none of the {count} files"),
    }))
}

/// The parts of `FILE:OFFSET` or `FILE:MEMBER+OFFSET`.
fn place(name: &OsStr) -> Option<(&Path, Option<u64>, u64)> {
    let bytes = name.as_bytes();
    let colon = bytes.iter().rposition(|&byte| byte == b':')?;
    let (file, numbers) = (&bytes[..colon], &bytes[colon + 1..]);
    let numbers = std::str::from_utf8(numbers).ok()?;
    let number = |digits: &str| {
        let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit());
        digits.parse::<u64>().ok().filter(|_| is_plain)
    };
    let (member, offset) = match numbers.split_once('+') {
        Some((member, offset)) => (Some(number(member)?), number(offset)?),
        None => (None, number(numbers)?),
    };
    Some((Path::new(OsStr::from_bytes(file)), member, offset))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_parsed() {
        let parsed = |text: &'static str| place(OsStr::new(text));
        let file = |name: &'static str| Path::new(name);
        assert_eq!(parsed("a:b:12"), Some((file("a:b"), None, 12)));
        assert_eq!(parsed("a.gz:7+0"), Some((file("a.gz"), Some(7), 0)));
        for none in [
            "a",
            "a:",
            "a:x",
            "a:1+",
            "a:+1",
            "a:1+2+3",
            "a:-1",
            "a:99999999999999999999",
        ] {
            assert_eq!(parsed(none), None, "{none}");
        }
    }
}
