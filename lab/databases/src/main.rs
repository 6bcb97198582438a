//! `databases DIRECTORY [COUNT [KILLS]]`: the same jobs done by redb, fjall and LMDB, as a Markdown
//! table. DIRECTORY must be on the disk in question: most of the time goes into making commits
//! durable.

mod documents;
mod figures;
mod jobs;
mod with_fjall;
mod with_heed;
mod with_redb;

use std::path::Path;

use documents::Document;
use figures::Rows;
use with_fjall::Fjall;
use with_heed::Heed;
use with_redb::Redb;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// The cache size of databases with their own cache.
const CACHE_BYTES: usize = 64 << 20;

/// A database with two tables: a document's name (the hash of its id) to its number, and the
/// number to its record. Every commit is one transaction, as durable as the database can make it.
trait Store: Sized {
    /// Its name in the table.
    const NAME: &str;

    /// Opens it in `directory`, which exists; creates it if there is none.
    fn open(directory: &Path) -> Result<Self>;

    /// Adds the records of all of `documents`, and their names if `named`.
    fn add(&self, documents: &[Document], named: bool) -> Result<()>;

    /// The record of the document with this name, if there is one.
    fn look_up(&self, name: u64) -> Result<Option<Vec<u8>>>;

    /// Calls the visitors for all names with their numbers, then for all records with theirs.
    fn each(&self, name: impl FnMut(u64, u32), record: impl FnMut(u32, &[u8])) -> Result<()>;

    /// Removes all records.
    fn remove_records(&self) -> Result<()>;
}

/// The jobs of one database: its name, what is measured, and what is killed.
type Jobs = (
    &'static str,
    fn(&Path, u32, u32) -> Result<Rows>,
    fn(&Path, u32) -> Result<()>,
);

const fn of<S: Store>() -> Jobs {
    (S::NAME, jobs::measure::<S>, jobs::add_until_killed::<S>)
}

/// In the order of the table.
const DATABASES: [Jobs; 4] = [
    of::<Redb<false>>(),
    of::<Redb<true>>(),
    of::<Fjall>(),
    of::<Heed>(),
];

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [job, name, directory, commit] = &arguments[..]
        && job == jobs::ADD_UNTIL_KILLED
    {
        let known = DATABASES.iter().find(|(known, ..)| known == name);
        let (.., add) = known.ok_or("no such database")?;
        return add(Path::new(directory), commit.parse()?);
    }
    let directory = arguments.first().ok_or("which directory?")?;
    let number = |at: usize, default| arguments.get(at).map_or(Ok(default), |text| text.parse());
    let (count, kills) = (number(1, 1_000_000)?.max(1), number(2, 20)?.max(1));
    let mut columns = Vec::new();
    for (_, measure, _) in DATABASES {
        columns.push(measure(Path::new(directory), count, kills)?);
    }
    for (at, (label, _)) in columns[0].iter().enumerate() {
        let cells: Vec<&str> = columns.iter().map(|rows| &rows[at].1[..]).collect();
        println!("| {label} | {} |", cells.join(" | "));
        if at == 0 {
            println!("|---|---|---|---|---|");
        }
    }
    Ok(())
}
