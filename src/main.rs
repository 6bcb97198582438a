//! The `simtool` command.

use simtool::io::{AtomicFile, Input};
use simtool::kernel::Level;
use simtool::run::{
    Progress, Resources,
    matching::{Inputs, Job},
};
use std::io::Write;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    simtool::io::guard::install().unwrap();
    let spool = std::path::Path::new(".");
    let open = |name: &str| Input::open(std::path::Path::new(name), spool).unwrap();
    let (a, s, w, h) = (
        open("article.txt"),
        open("sample.txt"),
        open("stopwords.txt"),
        open("hashvalue.txt"),
    );
    let inputs = Inputs {
        articles: vec![a.bytes()],
        samples: vec![s.bytes()],
        stop_words: w.bytes(),
        hash_table: h.bytes(),
    };
    let threads = std::env::var("T").map_or(2, |t| t.parse().unwrap());
    let level = std::env::var("SIMTOOL_SIMD").map_or(Level::best(), |l| l.parse().unwrap());
    let resources = Resources {
        threads,
        memory_bytes: std::env::var("MEM").map_or(8 << 30, |t| t.parse::<u64>().unwrap() << 20),
        temporary: ".".into(),
        level,
    };
    let job = Job::new(args[1].parse().unwrap(), args[2].parse().unwrap(), 3).unwrap();
    let progress = Progress::new();
    let mut out = AtomicFile::create(std::path::Path::new("result.txt")).unwrap();
    let summary = job
        .run(&inputs, &resources, &progress, &mut |bytes| {
            out.write_all(bytes).unwrap();
            Ok(())
        })
        .unwrap();
    out.publish().unwrap();
    if std::env::var("V").is_ok() {
        for stage in progress.finished() {
            eprintln!(
                "{:?} {:?} {:.2} GB/s",
                stage.stage,
                stage.time,
                stage.bytes as f64 / 1e9 / stage.time.as_secs_f64()
            );
        }
        eprintln!("{summary:?}");
    }
}
