//! The result of a job on a cluster is that of the command, in whatever order tasks run, and however
//! often they and the driver are stopped.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use simtool::engine::Progress;
use simtool::io::remote::Client;
use simtool::program::dedup_call;
use simtool_cluster::{Called, Facts, Inputs, Job, Request, StoredJob};

/// A job on a cluster of this process.
struct Cluster {
    work: PathBuf,
    request: Request,
}

impl Cluster {
    fn new(work: PathBuf, flags: &[&str], inputs: &[PathBuf], task_bytes: u64) -> Cluster {
        let mut words: Vec<String> = vec!["dedup".into()];
        words.extend(flags.iter().map(|flag| (*flag).to_owned()));
        words.extend(["-o".into(), "out".into(), "--".into()]);
        words.extend(inputs.iter().map(|path| path.to_str().unwrap().to_owned()));
        let request = json!({ "words": words, "task_bytes": task_bytes, "most_documents": 6 });
        Cluster {
            work,
            request: serde_json::from_value(request).unwrap(),
        }
    }

    fn job(&self) -> simtool::Result<Job> {
        let words = self.request.words.iter().map(OsString::from).collect();
        let call = dedup_call(words, &Client::new())?;
        let inputs = Inputs {
            inputs: &call.inputs,
            lists: &call.lists,
            references: &call.against,
            known: call.known.as_deref(),
        };
        Job::open(&self.work, self.request.clone(), call.job, inputs)
    }

    fn task(&self, stage: &str, task: usize) -> simtool::Result<Facts> {
        let words = self.request.words.iter().map(OsString::from).collect();
        let call = dedup_call(words, &Client::new())?;
        let called = Called {
            job: &call.job,
            known: call.known.as_deref(),
        };
        let (temporary, progress) = (std::env::temp_dir(), Progress::new());
        StoredJob::open(&self.work)?.run(called, (stage, task), &temporary, &progress)
    }

    fn run(&self) -> simtool::Result<Vec<(&'static str, u64)>> {
        let job = self.job()?;
        while let Some(stage) = job.next()? {
            let found = (0..stage.tasks).map(|task| self.task(&stage.name, task));
            job.finish(&stage.name, found.collect::<simtool::Result<_>>()?)?;
        }
        job.summary()
    }

    /// The dropped documents with the evidence.
    fn duplicates(&self) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        for file in fs::read_dir(self.work.join("tables/duplicates")).unwrap() {
            let file = fs::File::open(file.unwrap().path()).unwrap();
            let rows =
                parquet::arrow::arrow_reader::ParquetRecordBatchReader::try_new(file, 1 << 16);
            for batch in rows.unwrap() {
                found.extend(rows_of(&batch.unwrap()));
            }
        }
        found
    }
}

/// The rows of a batch, as JSON.
fn rows_of(batch: &arrow_array::RecordBatch) -> Vec<String> {
    use arrow_array::Array;
    use arrow_array::cast::AsArray;
    use arrow_array::types::Int64Type;

    let text = |name: &str, row: usize| {
        let column = batch.column_by_name(name).unwrap().as_string::<i32>();
        column.is_valid(row).then(|| column.value(row).to_owned())
    };
    let number = |name: &str, row: usize| {
        let column = batch
            .column_by_name(name)
            .unwrap()
            .as_primitive::<Int64Type>();
        column.is_valid(row).then(|| column.value(row))
    };
    let rows = (0..batch.num_rows()).map(|row| {
        pair_text(&json!({
            "id": text("id", row),
            "kept": text("kept", row),
            "method": text("method", row),
            "shared": number("shared", row),
            "shingles": number("shingles", row),
            "cluster_size": number("cluster_size", row),
            "distance": number("distance", row),
            "newest": text("newest", row),
        }))
    });
    rows.collect()
}

const FIELDS: [&str; 8] = [
    "id",
    "kept",
    "method",
    "shared",
    "shingles",
    "cluster_size",
    "distance",
    "newest",
];

fn pair_text(row: &Value) -> String {
    let values = FIELDS.map(|name| row.get(name).unwrap_or(&Value::Null).to_string());
    values.join(" ")
}

/// What the command drops, and its summary.
fn of_the_command(out: &Path, flags: &[&str], inputs: &[PathBuf]) -> (BTreeSet<String>, Value) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_simtool"));
    command
        .arg("dedup")
        .args(flags)
        .args(["--quiet", "--no-page", "-o"])
        .arg(out);
    let done = command.arg("--").args(inputs).output().unwrap();
    assert!(matches!(done.status.code(), Some(0 | 3)), "{done:?}");
    let rows = fs::read_to_string(out.join("duplicates.jsonl")).unwrap();
    let rows = rows
        .lines()
        .map(|line| pair_text(&serde_json::from_str(line).unwrap()));
    let summary = fs::read_to_string(out.join("summary.json")).unwrap();
    (rows.collect(), serde_json::from_str(&summary).unwrap())
}

/// Numbers that look random. Source: Marsaglia, "Xorshift RNGs", 2003.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % end
    }
}

/// Documents of which most repeat another one, edited or not, in several files.
fn documents(directory: &Path, seed: u64) -> Vec<PathBuf> {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mut texts: Vec<String> = Vec::new();
    for number in 0..160 {
        let mut words: Vec<String> = match random.below(4) {
            0 if number > 0 => {
                let earlier = random.below(texts.len() as u64) as usize;
                texts[earlier].split(' ').map(str::to_owned).collect()
            }
            1 => (0..40).map(|word| format!("t{word}")).collect(),
            _ => (0..5 + random.below(60))
                .map(|_| format!("w{}", random.below(400)))
                .collect(),
        };
        for _ in 0..random.below(4) {
            let place = random.below(words.len() as u64) as usize;
            words[place] = format!("e{}", random.below(1000));
        }
        if random.below(5) == 0 {
            // A part of another text, maybe.
            words.truncate(8 + random.below(20) as usize);
        }
        texts.push(words.join(" "));
    }
    let files = texts.chunks(23).enumerate().map(|(number, texts)| {
        let path = directory.join(format!("{number}.jsonl"));
        let lines: Vec<String> = texts
            .iter()
            .enumerate()
            .map(|(line, text)| {
                let group = text.len() % 3;
                let mut document =
                    json!({ "id": format!("{number}-{line}"), "text": text, "group": group });
                let fields = document.as_object_mut().unwrap();
                if random.below(4) > 0 {
                    let url = format!("http://example.org/{}#{line}", random.below(25));
                    fields.insert("url".into(), url.into());
                }
                if random.below(3) > 0 {
                    let date = format!("2024-01-{:02}", 1 + random.below(8));
                    fields.insert("date".into(), date.into());
                }
                document.to_string()
            })
            .collect();
        fs::write(&path, lines.join("\n") + "\n").unwrap();
        path
    });
    files.collect()
}

/// In flags, the first file, or an index of it, which is no input then.
const FIRST: &str = "{first}";
const INDEX: &str = "{index}";

const SETTINGS: [&[&str]; 22] = [
    &[],
    &["--keep", "longest"],
    &["--keep", "field:group,longest", "--keep-copies", "2"],
    &["--method", "simhash", "--refused"],
    &["--method", "normalized", "--keep", "none"],
    &["--cluster", "components", "--similarity", "0.6"],
    &["--within", "field:group", "--keep", "none"],
    &["--within", "source"],
    &["--method", "shingles", "--similarity", "0.7", "--refused"],
    &["--cluster", "components", "--keep", "longest", "--refused"],
    &["--method", "url"],
    &["--method", "url then minhash", "--keep-copies", "2"],
    &[
        "--method",
        "url then simhash",
        "--keep",
        "longest",
        "--within",
        "field:group",
    ],
    &[
        "--method",
        "url then minhash",
        "--against",
        FIRST,
        "--refused",
    ],
    &[
        "--method",
        "url then minhash",
        "--against",
        FIRST,
        "--against-only",
    ],
    &["--similarity", "containment:0.8", "--refused"],
    &[
        "--similarity",
        "containment:0.6",
        "--keep",
        "newest",
        "--within",
        "field:group",
    ],
    &[
        "--similarity",
        "containment:0.9",
        "--method",
        "url then shingles",
        "--keep-copies",
        "2",
    ],
    &["--against", INDEX, "--refused"],
    &["--against", INDEX, "--keep", "longest"],
    &["--against", INDEX, "--against-only"],
    &[
        "--against",
        INDEX,
        "--method",
        "simhash:distance=12",
        "--similarity",
        "0.6",
    ],
];

// Promise (On a cluster): Tasks in any order, each more than once, of any size, give the result of the
// command, for files, policies, groups, stars and components
#[test]
fn the_result_is_that_of_the_command() {
    for (seed, flags) in (1..).zip(SETTINGS) {
        for task_bytes in [1, [4000, 1 << 30][seed as usize % 2]] {
            let directory = tempfile::tempdir().unwrap();
            let mut inputs = documents(directory.path(), seed);
            let mut flags = flags.to_vec();
            let first = inputs[0].to_str().unwrap().to_owned();
            let index = directory.path().join("index").to_str().unwrap().to_owned();
            for (of, flag) in [(FIRST, &first), (INDEX, &index)] {
                if let Some(place) = flags.iter().position(|flag| *flag == of) {
                    flags[place] = flag;
                    inputs.remove(0);
                }
            }
            if flags.contains(&&*index) {
                let method = flags.iter().skip_while(|flag| **flag != "--method").take(4);
                let mut build = Command::new(env!("CARGO_BIN_EXE_simtool"));
                build.args(["index", "build", &index, &first]).args(method);
                let built = build.output().unwrap();
                assert!(built.status.success(), "{built:?}");
            }
            let flags = &flags[..];
            let (expected, summary) = of_the_command(&directory.path().join("out"), flags, &inputs);
            if flags.contains(&"--against") {
                assert!(
                    summary["dropped_against"].as_u64().unwrap() > 5,
                    "{flags:?}"
                );
            }
            let cluster = Cluster::new(directory.path().join("work"), flags, &inputs, task_bytes);
            let counts = cluster.run().unwrap();
            assert_eq!(
                cluster.duplicates(),
                expected,
                "{flags:?}, {task_bytes} bytes"
            );
            for (name, count) in counts {
                let expected = match name {
                    "same_url" => summary["dropped_by"].get("url"),
                    "same_text" => summary["dropped_by"].get("exact"),
                    name => summary.get(name).filter(|value| value.is_number()),
                };
                if let Some(expected) = expected {
                    assert_eq!(expected, count, "{name}: {flags:?}, {task_bytes} bytes");
                }
            }
        }
    }
}

// Promise (On a cluster): A job goes on within a stage: what a task finished is not done again,
// whatever drivers died
/// The driver dies while a stage is running, and after each stage; tasks run more than once.
#[test]
fn nothing_that_is_finished_is_done_again() {
    let directory = tempfile::tempdir().unwrap();
    let inputs = documents(directory.path(), 99);
    let flags = ["--keep", "longest"];
    let (expected, _) = of_the_command(&directory.path().join("out"), &flags, &inputs);
    let cluster = Cluster::new(directory.path().join("work"), &flags, &inputs, 1);
    let mut stages = 0;
    loop {
        let Some(stage) = cluster.job().unwrap().next().unwrap() else {
            break;
        };
        stages += 1;
        // In another order, half of them.
        let before: Vec<usize> = (0..stage.tasks).rev().step_by(2).collect();
        for task in &before {
            assert_eq!(cluster.task(&stage.name, *task).unwrap().found, 0);
        }
        // Another driver.
        let job = cluster.job().unwrap();
        assert_eq!(job.next().unwrap().as_ref(), Some(&stage));
        let found = (0..stage.tasks).map(|task| cluster.task(&stage.name, task).unwrap());
        let facts = job.finish(&stage.name, found.collect()).unwrap();
        assert_eq!(facts.found, before.len() as u64, "{}", stage.name);
    }
    assert!(stages > 15, "{stages} stages");
    assert_eq!(cluster.duplicates(), expected);
}

// Promise (On a cluster): Another job in its directory, files of others there, inputs that changed
// since, and texts that change during a job are errors
#[test]
fn other_jobs_and_changed_inputs_are_noticed() {
    let directory = tempfile::tempdir().unwrap();
    let inputs = documents(directory.path(), 5);
    let work = directory.path().join("work");
    let cluster = Cluster::new(work.clone(), &[], &inputs, 1);
    let job = cluster.job().unwrap();
    let other = Cluster::new(work.clone(), &["--keep", "longest"], &inputs, 1);
    let error = other.job().err().unwrap().to_string();
    assert!(error.contains("has another job (settings"), "{error}");
    while let Some(stage) = job.next().unwrap().filter(|stage| stage.name != "sets") {
        let found = (0..stage.tasks).map(|task| cluster.task(&stage.name, task).unwrap());
        job.finish(&stage.name, found.collect()).unwrap();
    }
    let text = fs::read_to_string(&inputs[0]).unwrap();
    fs::write(&inputs[0], text.replace("t1 ", "T9 ")).unwrap();
    let found = (0..inputs.len()).map(|task| cluster.task("sets", task));
    let error = found.filter_map(Result::err).next().unwrap().to_string();
    assert!(error.contains("changed during the job"), "{error}");
    let error = cluster.job().err().unwrap().to_string();
    assert!(error.contains("files that changed since"), "{error}");
    // A directory of others.
    let home = directory.path().join("home");
    fs::create_dir(&home).unwrap();
    fs::write(home.join("job.json"), "mine").unwrap();
    let other = Cluster::new(home.clone(), &[], &inputs[1..], 1);
    let error = other.job().err().unwrap().to_string();
    assert!(error.contains("has files that no job wrote"), "{error}");
    assert_eq!(fs::read_dir(&home).unwrap().count(), 1);
}
