//! A long query blocks neither changes nor other queries.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use simtool_core::sketch::{Compare, Score, Shape};
use simtool_index::{Entry, Index, Options};

/// Sketches of one byte, all found by one key. A comparison blocks on demand.
struct Waiting {
    armed: AtomicBool,
    reached: Mutex<Sender<()>>,
    go_on: Mutex<Receiver<()>>,
}

impl Compare for Waiting {
    fn name(&self) -> &'static str {
        "waiting"
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    fn shape(&self) -> Shape {
        Shape::Keys
    }

    fn sketch_bytes(&self) -> Option<usize> {
        Some(1)
    }

    fn keys(&self, _: &[u8], emit: &mut dyn FnMut(u64)) {
        emit(7);
    }

    fn score(&self, a: &[u8], b: &[u8]) -> Score {
        if self.armed.swap(false, SeqCst) {
            self.reached.lock().unwrap().send(()).unwrap();
            self.go_on.lock().unwrap().recv().unwrap();
        }
        Score::Distance(u32::from(a[0].abs_diff(b[0])))
    }

    fn accepts(&self, score: &Score) -> bool {
        *score == Score::Distance(0)
    }
}

fn entry<'a>(id: &'a str, sketch: &'a [u8]) -> Entry<'a> {
    Entry {
        id: id.as_bytes(),
        sketch,
        ..Entry::default()
    }
}

/// Promise (The index): A long query, or a long batch of them, blocks neither changes nor other
/// queries
#[test]
fn changes_and_queries_go_on_beside_a_long_query() {
    // A single query, a small batch and a large one.
    for queries in [1, 64, 1000] {
        changes_go_on_beside(queries);
    }
}

fn changes_go_on_beside(queries: usize) {
    let temporary = tempfile::tempdir().unwrap();
    let (reached, is_reached) = channel();
    let (end, ended) = channel();
    let method = Arc::new(Waiting {
        armed: AtomicBool::new(false),
        reached: Mutex::new(reached),
        go_on: Mutex::new(ended),
    });
    let directory = temporary.path().join("index");
    let spec = "waiting";
    let index = Index::create(&directory, method.clone(), spec, &Options::default()).unwrap();
    let index = Arc::new(index);
    index
        .add(&[entry("first", &[1]), entry("second", &[2])], "", 1)
        .unwrap();

    method.armed.store(true, SeqCst);
    let batch = thread::spawn({
        let index = index.clone();
        move || {
            let query = Entry {
                sketch: &[1],
                ..Entry::default()
            };
            index.seen(&vec![query; queries], 9).unwrap()
        }
    });
    is_reached.recv().unwrap();
    let (done, is_done) = channel();
    thread::spawn({
        let index = index.clone();
        move || {
            index.add(&[entry("third", &[3])], "", 1).unwrap();
            assert_eq!(index.remove(&[b"first"]).unwrap(), [true]);
            index.compact().unwrap();
            let query = Entry {
                sketch: &[3],
                ..Entry::default()
            };
            let found = index.seen(&[query], 9).unwrap().remove(0);
            assert_eq!(found.matches.len(), 1);
            assert_eq!(found.matches[0].id, b"third");
            done.send(index.info().documents).unwrap();
        }
    });
    let documents = is_done.recv_timeout(Duration::from_secs(1800));
    end.send(()).unwrap();
    assert_eq!(documents, Ok(2), "they wait for {queries} queries");
    // The queries see the state at their beginning.
    for answer in batch.join().unwrap() {
        assert_eq!(answer.matches.len(), 1);
        assert_eq!(answer.matches[0].id, b"first");
    }
}
