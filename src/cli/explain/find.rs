//! Look-up of the two documents that the flags name.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use simtool::corpus::{Reading, Source};
use simtool::io::remote::{self, Client};
use simtool::jobs::explain::{FoundDocument, Lookup};
use simtool::{Error, ErrorKind, Result};

use super::flags::ExplainArgs;
use super::listed::{Listed, listed};
use super::place::TEXT_FIELD;
use super::{hit, place};
use crate::cli::process::machine;
use crate::cli::process::session::Session;
use crate::cli::reading::found::discover;
use crate::cli::screen::log::Log;

/// Two documents, and the line about them in a deduplication's report.
pub struct Pair {
    /// The documents, A and B.
    pub documents: [FoundDocument; 2],
    /// The line of `--pair`.
    pub listed: Option<Listed>,
}

/// Looks up the documents that the flags name.
///
/// # Errors
/// Errors of finding and reading them; [`ErrorKind::Parameter`] for a name without a document.
pub fn pair(args: &ExplainArgs, reading: &Reading, client: &Client) -> Result<Pair> {
    let session = Session::new(Log::usual(), client);
    session.run(|progress| {
        let lookup = Lookup {
            reading,
            threads: machine::all_cores(),
            progress,
        };
        match (&args.pair, &args.hit, &args.id) {
            (Some(list), _, Some(id)) => of_line(list, id, &lookup),
            (_, Some(list), Some(id)) => {
                let number = args.range.unwrap_or(1);
                let documents = hit::pair(list, id.as_bytes(), number, &lookup)?;
                Ok(Pair {
                    documents,
                    listed: None,
                })
            }
            _ => names(args).and_then(|(names, inputs)| by_names(names, inputs, &lookup, &session)),
        }
    })
}

/// The two names and the inputs. `--in` takes every following word, so a missing name is its last
/// value.
fn names(args: &ExplainArgs) -> Result<([&OsStr; 2], &[PathBuf])> {
    let given: Vec<&OsStr> = [&args.a, &args.b]
        .into_iter()
        .flatten()
        .map(OsString::as_os_str)
        .collect();
    let inputs = args.inputs.len().saturating_sub(2 - given.len());
    let (inputs, behind) = args.inputs.split_at(inputs);
    let names: Vec<&OsStr> = given
        .into_iter()
        .chain(behind.iter().map(|name| name.as_os_str()))
        .collect();
    let is_file = |name: &&PathBuf| name.exists();
    match (names.as_slice(), behind.iter().find(is_file)) {
        (&[a, b], None) if behind.is_empty() || !inputs.is_empty() => Ok(([a, b], inputs)),
        (_, Some(file)) => {
            let message = "is a file, where an id is expected (two ids follow the values of \
                           --in, or precede it)";
            Err(refuse(message.to_owned()).in_file(file))
        }
        _ => Err(refuse(
            "name two documents: A B, or A B --in INPUT..., or --in INPUT... A B".to_owned(),
        )),
    }
}

fn refuse(message: String) -> Error {
    Error::new(ErrorKind::Parameter, message)
}

fn of_line(list: &Path, id: &OsStr, lookup: &Lookup<'_>) -> Result<Pair> {
    let line = listed(list, id.as_bytes(), &|| lookup.progress.check())?;
    Ok(Pair {
        documents: [
            place::listed(list, &line.at, lookup, TEXT_FIELD)?,
            place::listed(list, &line.kept_at, lookup, TEXT_FIELD)?,
        ],
        listed: Some(line),
    })
}

/// Looks names up as ids in the inputs, if any; a name that is no id there, as a file or a place.
fn by_names(
    names: [&OsStr; 2],
    inputs: &[PathBuf],
    lookup: &Lookup<'_>,
    session: &Session,
) -> Result<Pair> {
    let [sources] = discover([inputs], lookup.reading, session)?;
    if let Some(stream) = sources.iter().find(|source| source.is_stream()) {
        let message = "cannot be searched: copy it to a file, and name that";
        return Err(refuse(message.to_owned()).in_file(&stream.path));
    }
    let ids = names.map(|name| name.as_bytes());
    let [a, b] = match sources.as_slice() {
        [] => [None, None],
        sources => lookup.by_ids(sources, ids)?,
    };
    let find = |found: Option<FoundDocument>, name| match found {
        Some(found) => Ok(found),
        None => by_place(name, &sources, lookup),
    };
    Ok(Pair {
        documents: [find(a, names[0])?, find(b, names[1])?],
        listed: None,
    })
}

fn by_place(name: &OsStr, sources: &[Source], lookup: &Lookup<'_>) -> Result<FoundDocument> {
    let path = Path::new(name);
    if path.is_file() {
        place::check_file(path, lookup, TEXT_FIELD)?;
        return lookup.only(path);
    }
    if let Some((file, member, offset)) = place(name).filter(|(file, ..)| file.is_file()) {
        place::check_file(file, lookup, TEXT_FIELD)?;
        return lookup.at(file, member, offset);
    }
    let shown = path.display();
    Err(refuse(match sources.len() {
        0 if remote::is_remote(path) => format!(
            "{shown}: places on servers are not read (name documents by their ids, and the object \
             with --in)"
        ),
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
