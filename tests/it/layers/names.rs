//! A name of a type stands for one type of its crate, and the `impl` blocks of a type stand in one
//! file.
//!
//! The list of exceptions only becomes shorter: a test fails if a listed name is no exception.

use std::collections::{BTreeMap, BTreeSet};

use super::{Source, none, sources};

/// Types with inherent `impl` blocks in several files: the choice of an instruction set (`dispatch`)
/// depends on all kernels of its folder, the commands of an index (`Index`, `Seen`) have a file each, and
/// `NearSearch` has the methods that mark candidates in a file of their own.
const SPLIT: [&str; 13] = [
    "Comparison",
    "Index",
    "KeyTable",
    "NearSearch",
    "Pipeline",
    "Runs",
    "Seen",
    "Service",
    "SignRows",
    "Source",
    "Table",
    "Tables",
    "Words",
];

const KINDS: [&str; 4] = ["struct ", "enum ", "union ", "trait "];

/// The name of the type that a line defines.
fn defined(line: &str) -> Option<&str> {
    let item = match line.strip_prefix("pub") {
        Some(rest) => rest.split_once(' ')?.1,
        None => line,
    };
    let item = item.strip_prefix("unsafe ").unwrap_or(item);
    let name = KINDS.iter().find_map(|kind| item.strip_prefix(kind))?;
    first_name(name)
}

/// The name of the type of the inherent `impl` block that starts in a line.
fn implemented(line: &str) -> Option<&str> {
    let mut rest = line.strip_prefix("impl")?;
    if rest.starts_with('<') {
        let (mut depth, mut previous) = (0, ' ');
        let end = rest.char_indices().find_map(|(offset, character)| {
            let closes = character == '>' && previous != '-';
            depth += i32::from(character == '<') - i32::from(closes);
            previous = character;
            (depth == 0).then_some(offset + 1)
        })?;
        rest = &rest[end..];
    }
    let of = rest.strip_prefix(' ')?;
    let path = of.split([' ', '<']).next()?;
    let is_inherent = !of.contains(" for ");
    is_inherent
        .then(|| path.rsplit("::").next())?
        .and_then(first_name)
}

fn first_name(text: &str) -> Option<&str> {
    let end = text
        .find(|character: char| character != '_' && !character.is_ascii_alphanumeric())
        .unwrap_or(text.len());
    text[..end]
        .starts_with(|character: char| character.is_ascii_uppercase())
        .then_some(&text[..end])
}

/// The places of each crate and name that `name` finds in a line.
fn places(
    sources: &[Source],
    name: impl Fn(&str) -> Option<&str>,
) -> BTreeMap<(&'static str, String), Vec<String>> {
    let mut places: BTreeMap<_, Vec<String>> = BTreeMap::new();
    for source in sources {
        if source.path.ends_with("/tests.rs") {
            continue;
        }
        for name in source.code.lines().filter_map(&name) {
            let key = (source.crate_root, name.to_owned());
            places.entry(key).or_default().push(source.path.clone());
        }
    }
    places
}

#[test]
fn type_names_are_unique_in_their_crates() {
    let mut repeated = places(&sources(), defined);
    repeated.retain(|_, places| places.len() > 1);
    let complaint = |((root, name), places): (_, Vec<String>)| {
        format!("{root}: {name}: several types: {}", places.join(", "))
    };
    none(repeated.into_iter().map(complaint).collect());
}

#[test]
fn methods_of_a_type_stand_in_one_file() {
    let mut split = places(&sources(), implemented);
    for places in split.values_mut() {
        places.dedup();
    }
    split.retain(|_, places| places.len() > 1);
    let found: BTreeSet<&str> = split.keys().map(|(_, name)| name.as_str()).collect();
    let solved = SPLIT.iter().filter(|name| !found.contains(*name));
    let solved = solved.map(|name| format!("{name}: in one file now; take it off the list"));
    let new = split
        .iter()
        .filter(|((_, name), _)| !SPLIT.contains(&name.as_str()));
    let new = new.map(|((root, name), places)| {
        format!("{root}: {name}: not in one file: {}", places.join(", "))
    });
    none(new.chain(solved).collect());
}

#[test]
fn definitions_and_blocks_are_found() {
    assert_eq!(defined("pub(super) struct Row<'a> {"), Some("Row"));
    assert_eq!(defined("pub unsafe trait Pod: Copy {"), Some("Pod"));
    assert_eq!(defined("enum Kind {"), Some("Kind"));
    assert_eq!(defined("pub fn structure() {"), None);
    assert_eq!(implemented("impl<F: Fingerprint> Key<F> {"), Some("Key"));
    assert_eq!(implemented("impl<T: Fn() -> u8> Key<T> {"), Some("Key"));
    assert_eq!(implemented("impl super::Page<'_> {"), Some("Page"));
    assert_eq!(implemented("impl fmt::Display for Key {"), None);
}
