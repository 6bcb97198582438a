//! The sources with the largest counts, or the directories of many small sources.

use ahash::{AHashMap, AHashSet};

use super::number;

/// The maximum number of rows.
const ROWS: usize = 20;
/// Sources with fewer documents on average are counted by directory, and a directory has at least
/// as many sources on average.
const FEW: usize = 10;

/// A source, or a directory of sources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place<T> {
    /// Its path, which may be invalid UTF-8. That of a directory ends in a slash.
    pub name: Vec<u8>,
    /// The number of its sources, if it is a directory.
    pub files: Option<u64>,
    /// Its counts.
    pub totals: T,
}

impl<T> Place<T> {
    /// The number of sources in words; empty if it is no directory.
    pub(super) fn note(&self) -> String {
        match self.files {
            None => String::new(),
            Some(1) => "1 file".to_owned(),
            Some(files) => format!("{} files", number::count(files)),
        }
    }
}

/// The places with the largest counts, and the others together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places<T> {
    /// At most 20 places, the one with the largest count first, equal ones in the order of the input.
    pub rows: Vec<Place<T>>,
    /// The number of other places.
    pub others: u64,
    /// Their sums.
    pub rest: T,
}

impl<T: Copy + Default> Places<T> {
    /// Sorts `sources`, paths with their counts, by `count`.
    ///
    /// More than 20 sources with fewer than ten documents each, on average, are counted by directory:
    /// by the deepest level of directories that has at most 20 of them, or at most a tenth of the
    /// number of sources. Time and memory: linear in the bytes of all paths for each level.
    pub fn largest(
        sources: &[(&[u8], T)],
        documents: fn(&T) -> u64,
        count: fn(&T) -> u64,
        add: fn(&mut T, &T),
    ) -> Places<T> {
        let all: u64 = sources.iter().map(|(_, totals)| documents(totals)).sum();
        let is_small = sources.len() > ROWS && all < (FEW * sources.len()) as u64;
        let mut rows = match is_small {
            true => by_directory(sources, add),
            false => sources.iter().map(of_source).collect(),
        };
        rows.sort_by_key(|place| u64::MAX - count(&place.totals));
        let others = rows.split_off(rows.len().min(ROWS));
        let mut rest = T::default();
        others
            .iter()
            .for_each(|place| add(&mut rest, &place.totals));
        Places {
            rows,
            others: others.len() as u64,
            rest,
        }
    }
}

impl<T> Places<T> {
    /// What the places are called: a source, or several of them.
    pub fn noun(&self) -> [&'static str; 2] {
        match self.rows.first() {
            Some(Place { files: Some(_), .. }) => ["directory", "directories"],
            _ => ["source", "sources"],
        }
    }
}

fn of_source<T: Copy>((name, totals): &(&[u8], T)) -> Place<T> {
    Place {
        name: name.to_vec(),
        files: None,
        totals: *totals,
    }
}

/// The directories of all sources, at the deepest level that has few enough.
fn by_directory<T: Copy + Default>(sources: &[(&[u8], T)], add: fn(&mut T, &T)) -> Vec<Place<T>> {
    let directories: Vec<&[u8]> = sources.iter().map(|(name, _)| directory(name)).collect();
    let mut ends: Vec<usize> = vec![common(&directories); directories.len()];
    loop {
        let deeper: Vec<usize> = (directories.iter().zip(&ends))
            .map(|(directory, &end)| next_level(directory, end))
            .collect();
        let names = directories.iter().zip(&deeper);
        let different: AHashSet<&[u8]> = names.map(|(name, &end)| &name[..end]).collect();
        if deeper == ends || different.len() > ROWS.max(sources.len() / FEW) {
            break;
        }
        ends = deeper;
    }
    let mut numbers: AHashMap<&[u8], usize> = AHashMap::new();
    let mut places: Vec<Place<T>> = Vec::new();
    for ((name, end), (_, totals)) in directories.iter().zip(ends).zip(sources) {
        let number = *numbers.entry(&name[..end]).or_insert(places.len());
        if number == places.len() {
            places.push(Place {
                name: match end {
                    0 => b"./".to_vec(),
                    _ => name[..end].to_vec(),
                },
                files: Some(0),
                totals: T::default(),
            });
        }
        let place = &mut places[number];
        place.files = place.files.map(|files| files + 1);
        add(&mut place.totals, totals);
    }
    places
}

/// The directory of a path, with its slash; empty if the path has none.
fn directory(path: &[u8]) -> &[u8] {
    let slash = path.iter().rposition(|&byte| byte == b'/');
    &path[..slash.map_or(0, |slash| slash + 1)]
}

/// The length of the longest directory that all `directories` are in.
fn common(directories: &[&[u8]]) -> usize {
    let Some((first, others)) = directories.split_first() else {
        return 0;
    };
    let shared = others.iter().fold(first.len(), |shared, other| {
        let shorter = shared.min(other.len());
        let mut places = 0..shorter;
        places
            .position(|at| first[at] != other[at])
            .unwrap_or(shorter)
    });
    directory(&first[..shared]).len()
}

/// The end of the directory below the one that ends at `end`; `end` if there is none.
fn next_level(directory: &[u8], end: usize) -> usize {
    let below = directory[end..].iter().position(|&byte| byte == b'/');
    below.map_or(end, |slash| end + slash + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows of sources with a document each, of which the number is counted.
    fn rows(paths: &[String]) -> Vec<(String, Option<u64>, u64)> {
        let sources: Vec<(&[u8], u64)> = paths.iter().map(|path| (path.as_bytes(), 1)).collect();
        let found = Places::largest(&sources, |_| 1, |count| *count, |sum, more| *sum += more);
        let name = |place: &Place<u64>| String::from_utf8(place.name.clone()).unwrap();
        let all: u64 = found.rows.iter().map(|place| place.totals).sum();
        assert_eq!(all + found.rest, paths.len() as u64);
        found
            .rows
            .iter()
            .map(|place| (name(place), place.files, place.totals))
            .collect()
    }

    /// Promise (Methods and their evaluation): The HTML page of a deduplication has …
    #[test]
    fn many_small_files_are_counted_by_directory() {
        let paths = |directories: u64, each: u64| -> Vec<String> {
            let names = (0..directories).flat_map(|directory| {
                (0..each).map(move |file| format!("/data/{directory}/lib/{}/{file}", file % 7))
            });
            names.collect()
        };
        // The deepest level has 21 directories, a tenth of the number of files.
        let found = rows(&paths(3, 70));
        assert_eq!(found.len(), 20);
        assert_eq!(found[0], ("/data/0/lib/0/".to_owned(), Some(10), 10));
        // It would have 84, so a level above it counts, and directories of one directory are none.
        let found = rows(&paths(12, 7));
        assert_eq!(found.len(), 12);
        assert_eq!(found[1], ("/data/1/lib/".to_owned(), Some(7), 7));
        // A directory for each file: all of them together.
        let each: Vec<String> = (0..99)
            .map(|file| format!("s3://b/k/{file}/text"))
            .collect();
        assert_eq!(rows(&each), [("s3://b/k/".to_owned(), Some(99), 99)]);
        let bare: Vec<String> = (0..99).map(|file| format!("{file}.txt")).collect();
        assert_eq!(rows(&bare), [("./".to_owned(), Some(99), 99)]);
    }

    #[test]
    fn few_files_and_files_of_many_documents_stand_alone() {
        let paths: Vec<String> = (0..20).map(|file| format!("d/{file}")).collect();
        assert_eq!(rows(&paths)[3], ("d/3".to_owned(), None, 1));
        let sources: Vec<(&[u8], u64)> = vec![(b"d/a", 10); 30];
        let found = Places::largest(&sources, |count| *count, |count| *count, |a, b| *a += b);
        assert_eq!((found.rows.len(), found.others, found.rest), (20, 10, 100));
        assert_eq!(found.noun(), ["source", "sources"]);
    }

    #[test]
    fn nothing_is_no_place() {
        assert_eq!(rows(&[]), []);
    }
}
