//! The jobs: all documents in the database, kills at random moments, and only recent documents.

use std::fs;
use std::hint::black_box;
use std::io::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use xxhash_rust::xxh3::xxh3_64;

use crate::figures::{Rows, Times, disk_bytes, rounded, usage};
use crate::{Document, Result, Store};

/// The documents of a commit, which must be present completely or not at all.
const COMMIT: u32 = 1000;
const LOOK_UPS: u32 = 200_000;
/// A child is killed at some moment of its first seconds, of which opening is a part.
const LIFE: Duration = Duration::from_secs(3);
/// Recent documents, of which the last are added one by one; so many times.
const RECENT: usize = 65_536;
const ALONE: usize = 512;
const CYCLES: usize = 4;

/// The argument that makes a program the child.
pub const ADD_UNTIL_KILLED: &str = "add-until-killed";

/// Runs all jobs in a new directory below `directory`.
pub fn measure<S: Store>(directory: &Path, count: u32, kills: u32) -> Result<Rows> {
    eprintln!("{}", S::NAME);
    let mut rows = vec![("pairs: median / 99th percentile", S::NAME.to_owned())];
    let directory = directory.join(S::NAME);
    let (large, small) = (directory.join("all"), directory.join("recent"));
    fs::create_dir_all(&large)?;
    fs::create_dir_all(&small)?;
    let commits = count.div_ceil(COMMIT);
    ingest::<S>(&large, commits, &mut rows)?;
    look_up::<S>(&large, commits * COMMIT, &mut rows)?;
    kill::<S>(&large, commits, kills, &mut rows)?;
    recent::<S>(&small, &mut rows)?;
    fs::remove_dir_all(&directory)?;
    Ok(rows)
}

fn documents_of(commit: u32) -> Vec<Document> {
    let numbers = commit * COMMIT..(commit + 1) * COMMIT;
    numbers.map(Document::of).collect()
}

fn ingest<S: Store>(directory: &Path, commits: u32, rows: &mut Rows) -> Result<()> {
    let [idle, _] = usage()?;
    for commit in 0..commits {
        black_box(documents_of(commit));
    }
    let mut times = Times::default();
    let [begin, written] = usage()?;
    let store = S::open(directory)?;
    for commit in 0..commits {
        let documents = documents_of(commit);
        times.time(|| store.add(&documents, true))?;
    }
    let commit = times.spread(1e-3);
    // The remaining work of its threads is part of the job.
    times.time(|| drop(store));
    let documents = f64::from(commits * COMMIT);
    let bytes = disk_bytes(directory)? as f64 / documents;
    let [end, all_written] = usage()?;
    let written = (all_written - written) / 1e6;
    rows.extend([
        ("documents added a second", rounded(documents / times.sum())),
        ("one commit of 1000, ms", commit),
        ("processor seconds", rounded(end - begin - (begin - idle))),
        ("written to disk, MB", rounded(written)),
        ("on disk, bytes a document", rounded(bytes)),
    ]);
    Ok(())
}

fn look_up<S: Store>(directory: &Path, count: u32, rows: &mut Rows) -> Result<()> {
    let mut opening = Times::default();
    for _ in 0..5 {
        drop(opening.time(|| S::open(directory))?);
    }
    let store = S::open(directory)?;
    let (mut present, mut absent) = (Times::default(), Times::default());
    for look_up in 0..LOOK_UPS {
        let random = xxh3_64(&look_up.to_le_bytes()) % u64::from(count);
        let there = Document::of(random as u32);
        let found = present.time(|| store.look_up(there.name))?;
        let nowhere = Document::of(u32::MAX - look_up);
        let not_found = absent.time(|| store.look_up(nowhere.name))?;
        if found != Some(there.record) || not_found.is_some() {
            return Err(format!("{}: a wrong answer", S::NAME).into());
        }
    }
    rows.extend([
        (
            "look-ups of what is there, a second",
            rounded(present.rate()),
        ),
        ("one, µs", present.spread(1e-6)),
        ("look-ups of what is not, a second", rounded(absent.rate())),
        ("one, µs", absent.spread(1e-6)),
        ("opened after a clean end, ms", opening.spread(1e-3)),
    ]);
    Ok(())
}

/// The process that is killed: adds one commit after another, and reports each when it is durable.
pub fn add_until_killed<S: Store>(directory: &Path, first: u32) -> Result<()> {
    let store = S::open(directory)?;
    for commit in first.. {
        store.add(&documents_of(commit), true)?;
        writeln!(std::io::stdout(), "{commit}")?;
    }
    Ok(())
}

fn kill<S: Store>(directory: &Path, begin: u32, kills: u32, rows: &mut Rows) -> Result<()> {
    let mut opening = Times::default();
    let (mut commits, mut acknowledged, mut ahead, mut broken) = (begin, 0, 0, 0);
    for round in 0..kills {
        let mut child = Command::new(std::env::current_exe()?)
            .args([ADD_UNTIL_KILLED, S::NAME])
            .arg(directory)
            .arg(commits.to_string())
            .stdout(Stdio::piped())
            .spawn()?;
        let moment = xxh3_64(&round.to_le_bytes()) as f64 / u64::MAX as f64;
        sleep(LIFE.mul_f64(moment));
        child.kill()?;
        let ended = child.wait_with_output()?;
        if ended.status.signal() != Some(9) {
            return Err(format!("{}: the child ended by itself", S::NAME).into());
        }
        let said = ended.stdout.iter().filter(|byte| **byte == b'\n').count() as u32;
        let store = opening.time(|| S::open(directory))?;
        let whole = whole_commits(&store)?;
        commits += said;
        acknowledged += said;
        if whole == Some(commits + 1) {
            (commits, ahead) = (commits + 1, ahead + 1);
        } else if whole != Some(commits) {
            broken += 1;
        }
    }
    rows.extend([
        ("opened after a kill, ms", opening.spread(1e-3)),
        ("kills", kills.to_string()),
        ("commits acknowledged before them", acknowledged.to_string()),
        ("there as a whole, not acknowledged", ahead.to_string()),
        ("kills that lost or tore a commit", broken.to_string()),
    ]);
    Ok(())
}

/// The number of commits; `None` if one is torn or missing, or if there are documents that were not
/// added.
fn whole_commits<S: Store>(store: &S) -> Result<Option<u32>> {
    let (mut names, mut records) = (Vec::new(), Vec::new());
    let (mut own_names, mut own_records) = (true, true);
    let count = |commits: &mut Vec<u32>, number: u32| {
        let commit = (number / COMMIT) as usize;
        commits.resize(commits.len().max(commit + 1), 0);
        commits[commit] += 1;
    };
    store.each(
        |name, number| {
            own_names &= Document::of(number).name == name;
            count(&mut names, number);
        },
        |number, record| {
            own_records &= Document::of(number).record == record;
            count(&mut records, number);
        },
    )?;
    let whole = names == records && names.iter().all(|documents| *documents == COMMIT);
    Ok((own_names && own_records && whole).then_some(names.len() as u32))
}

fn recent<S: Store>(directory: &Path, rows: &mut Rows) -> Result<()> {
    let documents: Vec<Document> = (0..RECENT as u32).map(Document::of).collect();
    let (many, alone) = documents.split_at(RECENT - ALONE);
    let store = S::open(directory)?;
    let mut removing = Times::default();
    let mut adding = [
        (many, 256, Times::default(), 0.0),
        (alone, 1, Times::default(), 0.0),
    ];
    for _ in 0..CYCLES {
        for (documents, size, times, written) in &mut adding {
            let [_, before] = usage()?;
            for commit in documents.chunks(*size) {
                times.time(|| store.add(commit, false))?;
            }
            *written += usage()?[1] - before;
        }
        removing.time(|| store.remove_records())?;
    }
    let [(.., many, many_written), (.., alone, alone_written)] = adding;
    let kilobytes = |written: f64, times: &Times| rounded(written / times.count() / 1e3);
    rows.extend([
        ("recent: commits of 256 a second", rounded(many.rate())),
        ("one, ms", many.spread(1e-3)),
        ("written for one, KB", kilobytes(many_written, &many)),
        ("recent: commits of 1 a second", rounded(alone.rate())),
        ("one, ms", alone.spread(1e-3)),
        ("written for one, KB", kilobytes(alone_written, &alone)),
        ("recent: all 65 536 removed, ms", removing.spread(1e-3)),
    ]);
    Ok(())
}
