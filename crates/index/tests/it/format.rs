//! Stored indexes: those of the format that is written are opened, and answer as they did; one of an
//! earlier format is refused.

use super::answers::sketch;
use super::model::{Model, Page, entries, min_hashes, simhash};
use flate2::read::GzDecoder;
use flate2::{Compression, write::GzEncoder};
use simtool_core::ErrorKind;
use simtool_core::sketch::Compare;
use simtool_index::{Entry, Index, Layout, Options, Standing, Verdict, parameters, rescue};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn home() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata")
}

/// A stored index of format 3.
struct Stored {
    name: &'static str,
    spec: &'static str,
    method: Arc<dyn Compare>,
    sketches: Vec<Vec<u8>>,
}

/// Fingerprints, and sketches that are found by keys.
fn all_stored() -> [Stored; 2] {
    let (method, sketches) = min_hashes();
    [
        Stored {
            name: "index-3/simhash",
            spec: "simhash, 64 bits, distance 3, made by the first version of format 3",
            method: simhash(64, 3),
            sketches: (1..60).map(|seed| sketch(64, seed)).collect(),
        },
        Stored {
            name: "index-3/minhash",
            spec: "minhash, similarity 0.5, recall 0.95, made by the first version of format 3",
            method,
            sketches,
        },
    ]
}

fn options() -> Options {
    Options {
        layout: Layout::Compact,
        seal_documents: 20,
        ..Options::default()
    }
}

impl Stored {
    fn page(&self, number: usize) -> Page {
        let of = number % 37;
        Page {
            id: format!("http://example.org/{}", number % 45).into_bytes(),
            words: (number % 5 != 1 && number != 7).then_some((of as u128 + 1) << 77),
            text: number as u64 / 37 * 3 % 6 * (of as u64 % 2),
            sketch: match of {
                7 => Vec::new(),
                _ => self.sketches[of].clone(),
            },
            payload: format!("fetched on day {number}").into_bytes(),
            is_place: false,
            source: number as u64 % 4,
            site: of as u64 % 6,
            keep: vec![number as u8 % 5],
        }
    }

    /// Two segments of two dumps, recent documents, and removals of all kinds.
    fn fill(&self, index: Option<&Index>) -> Model {
        let mut model = Model::new(self.method.clone());
        let pages: Vec<Page> = (0..66).map(|number| self.page(number)).collect();
        let calls = [
            ("2026-05", 0..12),
            ("2026-06", 12..24),
            ("2026-06", 24..50),
            ("2026-05", 50..58),
            ("2026-07", 58..66),
        ];
        for (call, (dump, pages_of)) in calls.into_iter().enumerate() {
            // Few at a time: they are recent first, and sealed together.
            for pages in pages[pages_of].chunks(4) {
                model.add_all(pages, dump, 3);
                index.map(|index| index.add(&entries(pages), dump, 3).unwrap());
            }
            for number in [[9, 30, 13][call % 3], [20, 44, 8][call % 3]] {
                let id = format!("http://example.org/{number}");
                model.remove(id.as_bytes());
                index.map(|index| index.remove(&[id.as_bytes()]).unwrap());
            }
        }
        model
    }

    fn unpack(&self, to: &Path) {
        unpack(&home().join(self.name), to);
    }
}

/// The files of an index, except `lock`, which is empty.
fn files(directory: &Path) -> Vec<PathBuf> {
    let inside = |part: &str| {
        let found = std::fs::read_dir(directory.join(part)).unwrap();
        let found = found.map(|entry| entry.unwrap().path());
        let found = found.filter(|path| path.is_file() && !path.ends_with("lock"));
        found.collect::<Vec<PathBuf>>()
    };
    [inside(""), inside("segments")].concat()
}

/// Unpacks an index: its database is mostly zeros, the other files compress well too.
fn unpack(from: &Path, to: &Path) {
    std::fs::create_dir_all(to.join("segments")).unwrap();
    std::fs::write(to.join("lock"), b"").unwrap();
    for file in files(from) {
        let packed = std::fs::read(&file).unwrap();
        let mut bytes = Vec::new();
        GzDecoder::new(&packed[..]).read_to_end(&mut bytes).unwrap();
        let name = file.strip_prefix(from).unwrap().with_extension("");
        std::fs::write(to.join(name), bytes).unwrap();
    }
}

/// Promise (The index): An index of the format that is written stays readable
#[test]
fn an_index_is_read_and_goes_on() {
    for stored in all_stored() {
        let temporary = tempfile::tempdir().unwrap();
        let directory = temporary.path().join("index");
        stored.unpack(&directory);
        let mut model = stored.fill(None);
        let standings = |is: fn(&Standing) -> bool| {
            let found = model.live().filter(|(_, held)| is(&held.standing));
            found.count()
        };
        // Every kind of record is there.
        assert!(standings(|of| matches!(of, Standing::Empty)) > 0);
        assert!(standings(|of| matches!(of, Standing::Kept)) > 4);
        assert!(standings(|of| matches!(of, Standing::Near(_))) > 4);
        assert!(standings(|of| matches!(of, Standing::Same { text: true, .. })) > 3);
        assert!(standings(|of| matches!(of, Standing::Same { text: false, .. })) > 3);
        for read_only in [true, false] {
            let options = Options {
                read_only,
                ..options()
            };
            let method = stored.method.clone();
            let index = Index::open(&directory, method, stored.spec, &options).unwrap();
            assert!(index.info().segments.len() > 1);
            assert!(index.info().recent > 0);
            model.assert_same(&index);
            for number in 0..60 {
                let page = stored.page(number + 3);
                let queries = [
                    page.entry(),
                    Entry {
                        id: &[],
                        words: None,
                        ..page.entry()
                    },
                ];
                let expected = queries.map(|query| model.seen(&query, 9));
                assert_eq!(index.seen(&queries, 9).unwrap(), expected);
            }
        }
        let method = stored.method.clone();
        let index = Index::open(&directory, method, stored.spec, &options()).unwrap();
        let new = Page {
            id: b"new".to_vec(),
            words: Some(5),
            ..Page::default()
        };
        let answer = index.add(&[new.entry()], "2026-08", 1).unwrap().remove(0);
        assert_eq!(answer.verdict, Verdict::New);
        model.add(&new.entry(), "2026-08", 1);
        index.compact().unwrap();
        model.assert_same(&index);
        index.remove_dump("2026-06").unwrap();
        model.remove_dump("2026-06");
        model.assert_same(&index);
    }
}

/// Promise (The index): An index of an earlier format is refused, and named
#[test]
fn an_index_of_format_1_is_refused() {
    let temporary = tempfile::tempdir().unwrap();
    let directory = temporary.path().join("index");
    unpack(&home().join("index"), &directory);
    let spec = "simhash, 64 bits, distance 3, made by the first version";
    let to = temporary.path().join("to");
    let open = |read_only| {
        let options = Options {
            read_only,
            ..options()
        };
        Index::open(&directory, simhash(64, 3), spec, &options).map(drop)
    };
    for refused in [
        open(true),
        open(false),
        parameters(&directory).map(drop),
        rescue(&directory, &to, simhash(64, 3), spec, &options()).map(drop),
    ] {
        let error = refused.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Content);
        assert_eq!(error.file(), Some(&*directory.join("index.json")));
        let text = error.to_string();
        assert!(text.contains("has format 1"), "{text}");
        assert!(text.contains("reads format 3"), "{text}");
        assert!(text.contains("build the index again"), "{text}");
    }
    assert!(!to.exists());
    // Without its manifest, it is not taken for an unfinished one, which would be replaced.
    std::fs::remove_file(directory.join("index.json")).unwrap();
    let made = Index::create(&directory, simhash(64, 3), spec, &options()).map(drop);
    for refused in [made, open(true), open(false)] {
        let text = refused.unwrap_err().to_string();
        assert!(text.contains("has format 1"), "{text}");
    }
    assert!(directory.join("segments/00000001").exists());
}

/// Creates `testdata/index-3`.
#[test]
#[ignore = "writes testdata"]
fn make() {
    for stored in all_stored() {
        let temporary = tempfile::tempdir().unwrap();
        let directory = temporary.path().join("index");
        let method = stored.method.clone();
        let index = Index::create(&directory, method, stored.spec, &options()).unwrap();
        stored.fill(Some(&index));
        drop(index);
        let home = home().join(stored.name);
        let _ = std::fs::remove_dir_all(&home);
        std::fs::create_dir_all(home.join("segments")).unwrap();
        for file in files(&directory) {
            let bytes = std::fs::read(&file).unwrap();
            let mut packed = GzEncoder::new(Vec::new(), Compression::best());
            packed.write_all(&bytes).unwrap();
            let name = file.strip_prefix(&directory).unwrap().to_str().unwrap();
            let bytes = packed.finish().unwrap();
            std::fs::write(home.join(format!("{name}.gz")), bytes).unwrap();
        }
    }
}
