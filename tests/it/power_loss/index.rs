//! An index: additions, removals, sealing, merges, compaction, copies, builds.

use std::fs;
use std::path::Path;

use simtool::corpus::{HtmlText, Reading};
use simtool::engine::collection::InputSettings;
use simtool::index::{Build, Document, Entry, Index, Options};
use simtool::jobs::seen::{ExpectedSettings, IndexSettings, Seen};
use simtool::kernel::Level;
use simtool::sketch::registry::Spec;
use simtool::text::{Choice, builtin_stop_words};

use crate::index_model::{Model, simhash};
use crate::power_loss::disk::{Disk, Ignored, Point};
use crate::power_loss::failures;

const SPEC: &str = "simhash for power losses";
const STEPS: u64 = 26;

fn options() -> Options {
    Options {
        seal_documents: 6,
        memory_bytes: 1 << 16,
        ..Options::default()
    }
}

fn document(number: u64) -> Document {
    Document {
        id: vec![(number % 19) as u8],
        sketch: (number % 11)
            .wrapping_mul(0x0101_0000_0001_1001)
            .to_le_bytes()
            .to_vec(),
        payload: number.to_le_bytes().repeat(20),
    }
}

fn entry(document: &Document) -> Entry<'_> {
    Entry {
        id: &document.id,
        sketch: &document.sketch,
        payload: &document.payload,
        ..Entry::default()
    }
}

/// The label of the dump of a step.
fn dump_of(number: u64) -> String {
    (number / 9).to_string()
}

/// The expected state after each step: the index and its copies.
type States = Vec<(Option<Model>, Vec<(String, Model)>)>;

/// One step of changes; returns the copy that it made.
fn step(root: &Path, index: &Index, model: &mut Model, number: u64) -> Option<String> {
    match number % 13 {
        5 => {
            let ids: Vec<[u8; 1]> = (0..3).map(|i| [((number + i * 5) % 19) as u8]).collect();
            let ids: Vec<&[u8]> = ids.iter().map(|id| &id[..]).collect();
            let expected: Vec<bool> = ids.iter().map(|id| model.remove(id)).collect();
            assert_eq!(index.remove(&ids).unwrap(), expected);
        }
        8 => {
            let name = format!("copy-{number}");
            index.copy(&root.join(&name)).unwrap();
            return Some(name);
        }
        11 if number > 13 => {
            let label = dump_of(number - 9);
            let expected = model.remove_dump(&label);
            let removed = index.remove_dump(&label);
            assert_eq!(removed.ok(), expected);
        }
        12 => index.compact().unwrap(),
        _ => {
            let documents: Vec<Document> = (0..1 + number % 4)
                .map(|i| document(number * 7 + i * 3))
                .collect();
            let entries: Vec<Entry<'_>> = documents.iter().map(entry).collect();
            let dump = dump_of(number);
            let add = |entry| model.add(entry, &dump, 3);
            let expected: Vec<_> = entries.iter().map(add).collect();
            assert_eq!(index.add(&entries, &dump, 3).unwrap(), expected);
        }
    }
    None
}

fn scenario(every: u64, turns: u64, ignored: Ignored) -> Vec<String> {
    let temporary = tempfile::tempdir().unwrap();
    let root = temporary.path();
    let disk = Disk::new(root, every, ignored);
    let mut states: States = vec![(None, Vec::new())];
    let index = Index::create(&root.join("index"), simhash(64, 3), SPEC, &options()).unwrap();
    disk.acknowledge();
    let mut model = Model::new(simhash(64, 3));
    let mut copies = Vec::new();
    states.push((Some(model.clone()), Vec::new()));
    for number in 0..STEPS {
        let copied = step(root, &index, &mut model, number);
        disk.acknowledge();
        copies.extend(copied.map(|name| (name, model.clone())));
        states.push((Some(model.clone()), copies.clone()));
    }
    assert!(disk.syncs() > 100, "{}", disk.syncs());
    // Closing the index changes nothing.
    drop(index);
    states.extend(states.last().cloned());
    failures(&disk, turns, |point, root| check(point, root, &states))
}

fn check(point: &Point, root: &Path, states: &States) -> Result<(), String> {
    let steps = point.steps();
    let models: Vec<Option<&Model>> = steps
        .clone()
        .map(|steps| states[steps].0.as_ref())
        .collect();
    check_index(&root.join("index"), &models)?;
    for (name, model) in &states[*steps.start()].1 {
        check_index(&root.join(name), &[Some(model)]).map_err(|what| format!("{name}: {what}"))?;
    }
    Ok(())
}

/// Fails unless the index equals one of `models`, where `None` is no index, and can be changed.
fn check_index(directory: &Path, models: &[Option<&Model>]) -> Result<(), String> {
    let opened = Index::open(directory, simhash(64, 3), SPEC, &options());
    let index = match opened {
        Ok(index) => index,
        Err(error) if models.iter().any(Option::is_none) => {
            let text = error.to_string();
            let is_none = text.contains("no such index") || text.contains("unfinished");
            // An index can be created there.
            let made = Index::create(directory, simhash(64, 3), SPEC, &options());
            return match (is_none, made) {
                (true, Ok(_)) => Ok(()),
                (_, Err(error)) => Err(format!("cannot be made again: {error}")),
                (false, _) => Err(text),
            };
        }
        Err(error) => return Err(error.to_string()),
    };
    let documents = index.info().documents;
    let mut states = models.iter().flatten();
    if !states.any(|model| model.is_same(&index)) {
        return Err(format!("{documents} documents, in no state that may be"));
    }
    let checked = index.check().map_err(|error| error.to_string())?;
    if !checked.problems.is_empty() || checked.documents != documents {
        return Err(format!("{checked:?}"));
    }
    let more = document(1_000_003);
    let added = index.add(&[entry(&more)], "", 1);
    added.map(drop).map_err(|error| error.to_string())
}

/// Promise (The index): Acknowledged changes are kept, and others are applied completely or not at
/// all, after a power failure that loses all unsynced data, leaves names without contents, or loses
/// random pages and names. It is simulated at syncs of additions, removals, seals, merges,
/// compactions, copies and builds; a disk whose syncs do nothing is noticed (every sync by hand)
#[test]
fn acknowledged_changes_survive_and_nothing_is_torn() {
    assert_eq!(scenario(7, 3, |_| false), Vec::<String>::new());
}

#[test]
#[ignore = "takes minutes"]
fn the_same_at_every_sync() {
    assert_eq!(scenario(1, 8, |_| false), Vec::<String>::new());
}

/// On a disk that ignores syncs of the database, of segments, of their directory, or of other directories.
/// Promise (The index): Acknowledged changes are kept, and others are applied completely or not at
/// all, after …
#[test]
fn missing_syncs_are_noticed() {
    let ignored: [(&str, Ignored); 4] = [
        ("database", |path| path.ends_with("index.redb")),
        ("segments", |path| {
            path.is_file()
                && path
                    .parent()
                    .is_some_and(|parent| parent.ends_with("segments"))
        }),
        ("names of segments", |path| path.ends_with("segments")),
        ("names", |path| path.is_dir() && !path.ends_with("segments")),
    ];
    for (what, ignored) in ignored {
        assert!(!scenario(1000, 2, ignored).is_empty(), "{what}");
    }
}

/// A built index is complete or missing.
/// Promise (The index): Acknowledged changes are kept, and others are applied completely or not at
/// all, after …
#[test]
fn an_acknowledged_build_survives() {
    let run = |ignored: Ignored| {
        let temporary = tempfile::tempdir().unwrap();
        let directory = temporary.path().join("index");
        let disk = Disk::new(temporary.path(), 1, ignored);
        let mut model = Model::new(simhash(64, 3));
        let build = Build::create(&directory, simhash(64, 3), SPEC, &options()).unwrap();
        for number in 0..60 {
            let document = document(number);
            let entry = entry(&document);
            build.index().add(&[entry], "", 1).unwrap();
            model.add(&entry, "", 1);
        }
        drop(build.finish().unwrap());
        disk.acknowledge();
        let states = [None, Some(&model)];
        failures(&disk, 4, |point, root| {
            check_index(&root.join("index"), &states[point.steps()])
        })
    };
    assert_eq!(run(|_| false), Vec::<String>::new());
    let ignored: [Ignored; 3] = [
        |path| path.ends_with("index.redb"),
        |path| path.ends_with("segments"),
        |path| path.extension().is_some_and(|kind| kind == "part"),
    ];
    for ignored in ignored {
        assert!(!run(ignored).is_empty());
    }
}

/// The files of settings are durable before the index is.
/// Promise (The index): Acknowledged changes are kept, and others are applied completely or not at
/// all, after …
#[test]
fn the_settings_of_an_index_survive() {
    let settings = || {
        let input_settings = InputSettings {
            reading: Reading {
                html: HtmlText::Main,
                ..Reading::default()
            },
            tokenizer: Choice::default(),
            stop_words: builtin_stop_words(),
        };
        let spec = Spec::parse("simhash").unwrap();
        IndexSettings::without_collection(spec, &input_settings, None).unwrap()
    };
    let run = |ignored: Ignored| {
        let temporary = tempfile::tempdir().unwrap();
        let directory = temporary.path().join("index");
        let disk = Disk::new(temporary.path(), 1, ignored);
        let made = Seen::create(&directory, settings(), Level::best(), &options()).unwrap();
        disk.acknowledge();
        made.index().add(&[entry(&document(3))], "", 1).unwrap();
        disk.acknowledge();
        drop(made);
        failures(&disk, 4, |point, root| {
            let directory = root.join("index");
            let wanted = ExpectedSettings::default();
            match Seen::open(&directory, &wanted, Level::best(), &options()) {
                Ok(seen) => match point
                    .steps()
                    .contains(&(seen.index().info().documents as usize + 1))
                {
                    true => Ok(()),
                    false => Err("another number of documents".into()),
                },
                Err(_) if point.acknowledged == 0 => {
                    let made = Seen::create(&directory, settings(), Level::best(), &options());
                    made.map(drop).map_err(|error| error.to_string())
                }
                Err(error) => Err(error.to_string()),
            }
        })
    };
    assert_eq!(run(|_| false), Vec::<String>::new());
    let ignored: Ignored = |path| {
        let kept = fs::read(path).unwrap_or_default();
        path.is_file() && kept.starts_with(b"{\"simtool_settings\"")
    };
    assert!(!run(ignored).is_empty());
}
