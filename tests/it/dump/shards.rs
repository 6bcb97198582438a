//! Documents written as shards: the records in input order, the borders of shards, and their names.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use simtool::ErrorKind;
use simtool::engine::{Progress, Resources};
use simtool::jobs::dedup::{DedupJob, SkippedRecords, WriteMode};
use simtool::jobs::shards::{ShardName, ShardSettings, WriteFormat};

use crate::dump::documents::{Text, documents};
use crate::dump::setup::{
    Form, Packed, check, contents, file, job, lines, refusal, resources, run, write,
};

/// A job that writes kept and removed documents as shards.
fn shard_job(format: WriteFormat, bytes: u64) -> DedupJob {
    let mut job = DedupJob {
        write: WriteMode::Kept,
        removed: true,
        shards: ShardSettings {
            format,
            bytes,
            ..ShardSettings::default()
        },
        ..job()
    };
    job.reading.fields = job.fields();
    job
}

/// Runs a job; returns the directory of its output.
fn output(
    job: &DedupJob,
    inputs: &[PathBuf],
    resources: impl Fn(&Path) -> Resources,
) -> tempfile::TempDir {
    let out = tempfile::tempdir().unwrap();
    let resources = resources(out.path());
    run(job, inputs, &[], out.path(), &resources, &Progress::new()).unwrap();
    check(out.path());
    out
}

fn with_threads(threads: usize) -> impl Fn(&Path) -> Resources {
    move |path| resources(threads, path)
}

/// The decompressed contents of the shards in a directory, in order of their names.
fn shards(directory: &Path, format: WriteFormat) -> Vec<String> {
    let mut paths: Vec<PathBuf> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    let packed = match format {
        WriteFormat::JsonlGzip => Packed::Gzip(1),
        WriteFormat::JsonlZstd => Packed::Zstd(1),
        _ => Packed::Plain,
    };
    let read = |path: &PathBuf| packed.unpack(&fs::read(path).unwrap());
    paths
        .iter()
        .map(|path| String::from_utf8(read(path)).unwrap())
        .collect()
}

/// The records cut by the definition: a shard ends with the record that reaches the size.
fn cut(records: &[String], bytes: u64) -> Vec<String> {
    let mut shards = vec![String::new()];
    for record in records {
        if shards.last().unwrap().len() as u64 >= bytes {
            shards.push(String::new());
        }
        shards.last_mut().unwrap().push_str(record);
    }
    shards
}

/// Four inputs of three formats, and the documents of each.
fn inputs(directory: &Path) -> (Vec<PathBuf>, Vec<Text>) {
    let all = documents(11, 400);
    let forms = [
        ("b \u{e9}'\".jsonl", Form::Jsonl),
        ("a.gz", Form::JsonlGzip),
        ("pages", Form::Pages),
        ("c.zst", Form::JsonlZstd),
    ];
    let paths = forms
        .into_iter()
        .zip(all.chunks(100))
        .map(|((name, form), documents)| {
            let path = directory.join(name);
            write(&path, form, documents);
            path
        });
    (paths.collect(), all)
}

/// The line of a document of [`inputs`], by the definition.
fn line(number: usize, document: &Text, path: &Path) -> Value {
    let path = path.to_str().unwrap();
    json!({
        "id": document.id, "url": document.url, "date": document.date, "text": document.text,
        "n": number, "source": path,
    })
}

/// The ids in a list of the output.
fn ids(out: &Path, list: &str) -> HashSet<String> {
    let lines = lines(&out.join(list));
    lines
        .iter()
        .map(|line| line["id"].as_str().unwrap().to_owned())
        .collect()
}

/// Promise (Deduplication): Shards have the records of the kept and of the removed documents in
/// input order, each field of a line unchanged; a shard ends with the record that reaches the size,
/// for any size; the summary has the records, bytes and digest of each
#[test]
fn records_are_the_documents_in_input_order_cut_where_the_size_is_reached() {
    let directory = tempfile::tempdir().unwrap();
    let (paths, all) = inputs(directory.path());
    for (format, bytes) in [
        (WriteFormat::Jsonl, 1),
        (WriteFormat::JsonlGzip, 3000),
        (WriteFormat::JsonlZstd, 20_000),
        (WriteFormat::JsonlZstd, 1 << 30),
    ] {
        let job = shard_job(format, bytes);
        let out = output(&job, &paths, with_threads(2));
        let dropped = ids(out.path(), "duplicates.jsonl");
        assert!(dropped.len() > 50);
        for (stream, is_removed) in [("kept", false), ("removed", true)] {
            let found = shards(&out.path().join(stream), format);
            let records: Vec<String> = found
                .concat()
                .split_inclusive('\n')
                .map(str::to_owned)
                .collect();
            assert_eq!(found, cut(&records, bytes));
            let mut records = records.iter();
            for (number, document) in all.iter().enumerate() {
                if dropped.contains(&document.id) != is_removed {
                    continue;
                }
                let record: Value = serde_json::from_str(records.next().unwrap()).unwrap();
                let path = &paths[number / 100];
                match number / 100 {
                    // Pages have no fields of their own.
                    2 => {
                        assert_eq!(record["id"], document.id);
                        assert_eq!(record["text"], document.text);
                        assert_eq!(record["source"], path.to_str().unwrap());
                        let fields: Vec<&String> = record.as_object().unwrap().keys().collect();
                        assert_eq!(fields.len(), 9, "{fields:?}");
                    }
                    _ => assert_eq!(record, line(number % 100, document, path)),
                }
            }
            assert_eq!(records.next(), None);
        }
    }
}

/// Promise (Deduplication): Shards have the records of the kept …
#[test]
fn lines_stay_byte_for_byte() {
    let text = "{ \"text\" : \"a\\u00e9 \\/ b\",\"n\":1.50, \"x\":[1 ,2]}\r\n\n{\"id\":7,\"text\":\"other words\"}";
    let (_directory, path) = file(text.as_bytes());
    let out = output(
        &shard_job(WriteFormat::Jsonl, 1 << 30),
        std::slice::from_ref(&path),
        with_threads(1),
    );
    let source = format!(",\"source\":\"{}\"}}\n", path.display());
    let expected = [
        "{ \"text\" : \"a\\u00e9 \\/ b\",\"n\":1.50, \"x\":[1 ,2]",
        &source,
        "{\"id\":7,\"text\":\"other words\"",
        &source,
    ];
    assert_eq!(
        shards(&out.path().join("kept"), WriteFormat::Jsonl).concat(),
        expected.concat()
    );
    assert!(!out.path().join("removed").exists());
}

/// Promise (Deduplication): Shards have the same bytes for any threads and memory, and after a kill
/// at any change
#[test]
fn shards_have_the_same_bytes_for_any_threads_memory_and_chunks() {
    let directory = tempfile::tempdir().unwrap();
    let (paths, _) = inputs(directory.path());
    for format in [WriteFormat::JsonlZstd, WriteFormat::JsonlGzip] {
        let mut job = shard_job(format, 9000);
        let files = |job: &DedupJob, resources: &dyn Fn(&Path) -> Resources| {
            let out = output(job, &paths, resources);
            let mut files = contents(out.path());
            files.retain(|name, _| name.starts_with("kept") || name.starts_with("removed"));
            files
        };
        let expected = files(&job, &with_threads(1));
        assert!(expected.len() > 10, "{}", expected.len());
        for threads in [2, 8] {
            assert!(files(&job, &with_threads(threads)) == expected);
        }
        let much = |path: &Path| Resources {
            memory_bytes: 4 << 30,
            ..resources(3, path)
        };
        assert!(files(&job, &much) == expected);
        for chunk_bytes in [1, 700, 1 << 20] {
            job.reading.chunk_bytes = chunk_bytes;
            assert!(files(&job, &with_threads(2)) == expected, "{chunk_bytes}");
        }
    }
}

/// Lines of documents of their own, each of `bytes` with its source.
fn equal_lines(count: usize, bytes: usize, path: &Path) -> String {
    let source = format!(",\"source\":\"{}\"", path.display());
    let line = |number: usize| {
        let text = format!(
            "{{\"text\":\"{number:04} {}",
            "word ".repeat(number % 7 + 3)
        );
        let rest = bytes - text.len() - source.len() - 3;
        text + &"x".repeat(rest) + "\"}\n"
    };
    (0..count).map(line).collect()
}

/// Promise (Deduplication): Shards have the records of the kept …
#[test]
fn borders_of_shards() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("lines.jsonl");
    fs::write(&path, equal_lines(10, 300, &path)).unwrap();
    for (bytes, records) in [
        (1, &[1; 10][..]),
        (300, &[1; 10]),
        (301, &[2; 5]),
        (600, &[2; 5]),
        (900, &[3, 3, 3, 1]),
        (3000, &[10]),
        (3001, &[10]),
    ] {
        let out = output(
            &shard_job(WriteFormat::Jsonl, bytes),
            std::slice::from_ref(&path),
            with_threads(2),
        );
        let found = shards(&out.path().join("kept"), WriteFormat::Jsonl);
        let counts: Vec<usize> = found.iter().map(|shard| shard.lines().count()).collect();
        assert_eq!(counts, records, "{bytes}");
        assert!(
            found
                .iter()
                .all(|shard| shard.lines().all(|line| line.len() == 299))
        );
        let summary: Value =
            serde_json::from_slice(&fs::read(out.path().join("summary.json")).unwrap()).unwrap();
        let written = &summary["written"]["kept"];
        assert_eq!(written["records"], 10);
        assert_eq!(written["record_bytes"], 3000);
        for (shard, count) in written["shards"].as_array().unwrap().iter().zip(records) {
            let bytes = fs::read(out.path().join(shard["file"].as_str().unwrap())).unwrap();
            assert_eq!(shard["records"], *count);
            assert_eq!(shard["file_bytes"], bytes.len());
            let digest = xxhash_rust::xxh3::xxh3_128(&bytes);
            assert_eq!(shard["xxh3_128"], format!("{digest:032x}"));
        }
    }
}

/// Some programs refuse JSON Lines without a line.
/// Promise (Deduplication): Shards have the records of the kept …
#[test]
fn no_documents_make_no_shard_of_json_lines() {
    for format in [
        WriteFormat::Jsonl,
        WriteFormat::JsonlGzip,
        WriteFormat::JsonlZstd,
    ] {
        // The only line is no document.
        let (_directory, path) = file(b"{\"text\": 1}\n");
        let mut job = shard_job(format, 1000);
        job.reading.format = Some(simtool::corpus::Format::Jsonl);
        let out = output(&job, &[path], with_threads(2));
        let summary: Value =
            serde_json::from_slice(&fs::read(out.path().join("summary.json")).unwrap()).unwrap();
        for stream in ["kept", "removed"] {
            assert!(!out.path().join(stream).exists());
            let expected = json!({
                "records": 0, "record_bytes": 0, "own_source_field": 0, "shards": [],
            });
            assert_eq!(summary["written"][stream], expected);
        }
        assert_eq!(lines(&out.path().join("skipped.jsonl")).len(), 1);
    }
}

/// Inputs are read once for the kept and the removed documents together.
/// Promise (Deduplication): Shards have the records of the kept …
#[test]
fn streams_written_together_are_those_written_alone() {
    let directory = tempfile::tempdir().unwrap();
    let (paths, _) = inputs(directory.path());
    let written = |write, removed| {
        let job = DedupJob {
            write,
            removed,
            ..shard_job(WriteFormat::JsonlZstd, 9000)
        };
        let out = output(&job, &paths, with_threads(2));
        let mut files = contents(out.path());
        files.retain(|name, _| name.starts_with("kept") || name.starts_with("removed"));
        files
    };
    let mut alone = written(WriteMode::Kept, false);
    alone.extend(written(WriteMode::None, true));
    assert!(alone.len() > 10);
    assert!(written(WriteMode::Kept, true) == alone);
}

/// Promise (Deduplication): In shards too, seen = kept + removed + skipped
#[test]
fn kept_removed_and_skipped_are_all_that_was_seen() {
    let directory = tempfile::tempdir().unwrap();
    let (mut paths, _) = inputs(directory.path());
    let broken = directory.path().join("broken.jsonl");
    let text = b"{\"text\": 5}\nbroken\n{\"text\":\"a\xff text that is not like the others\"}\n";
    fs::write(&broken, text).unwrap();
    paths.push(broken);
    let out = output(
        &shard_job(WriteFormat::JsonlZstd, 5000),
        &paths,
        with_threads(2),
    );
    let count = |stream| {
        let shards = shards(&out.path().join(stream), WriteFormat::JsonlZstd);
        shards.concat().lines().count() as u64
    };
    let summary: Value =
        serde_json::from_slice(&fs::read(out.path().join("summary.json")).unwrap()).unwrap();
    let skipped = lines(&out.path().join("skipped.jsonl")).len() as u64;
    assert_eq!(
        (count("kept"), count("removed")),
        (
            summary["kept"].as_u64().unwrap(),
            summary["dropped"].as_u64().unwrap()
        )
    );
    assert_eq!(skipped, 2);
    assert_eq!(summary["seen"], count("kept") + count("removed") + skipped);
    let last = shards(&out.path().join("kept"), WriteFormat::JsonlZstd).concat();
    assert!(last.lines().last().unwrap().contains("a\u{fffd} text"));
}

/// Promise (Deduplication): Shards have the records of the kept …
#[test]
fn texts_are_written_with_what_is_known() {
    let english = "This is a text that is long enough to be recognised as one in English, and it goes \
                   on for a while so that nobody can doubt it.";
    let page = format!("<!doctype html><title>t</title><p>{english}</p>");
    let records: Vec<Value> = vec![
        json!({"id": 12, "url": "http://a.example/", "text": page, "other": true}),
        json!({"text": "Other words, of which none is like those above, in another order and number.", "lang": "de-AT"}),
        json!({"id": "x", "date": "2024-05-06", "text": "1 2 3"}),
    ];
    let text: String = records.iter().map(|record| format!("{record}\n")).collect();
    let (_directory, path) = file(text.as_bytes());
    let mut job = shard_job(WriteFormat::Jsonl, 1 << 30);
    job.write = WriteMode::Text;
    let written = |job: &DedupJob| {
        let out = output(job, std::slice::from_ref(&path), with_threads(1));
        lines(&out.path().join("text/part-00000.jsonl"))
    };
    let unguessed = written(&job);
    let languages = unguessed.iter().map(|record| &record["language"]);
    assert!(languages.eq([&Value::Null, &json!("deu"), &Value::Null]));
    job.shards.guess_language = true;
    let found = written(&job);
    let source = path.to_str().unwrap();
    let digest = |text: &str| format!("{:032x}", xxhash_rust::xxh3::xxh3_128(text.as_bytes()));
    let starts: Vec<usize> = std::iter::once(0)
        .chain(text.match_indices('\n').map(|(place, _)| place + 1))
        .collect();
    let other = records[1]["text"].as_str().unwrap();
    let page_text = found[0]["text"].as_str().unwrap();
    assert!(page_text.contains(english) && !page_text.contains('<'));
    let expected = [
        json!({
            "id": "12", "url": "http://a.example/", "date": null, "text": page_text,
            "language": "eng", "xxh3_128": digest(page_text), "source": source, "start": 0,
            "member": null,
        }),
        json!({
            "id": format!("{source}:{}", starts[1]), "url": null, "date": null, "text": other,
            "language": "deu", "xxh3_128": digest(other), "source": source, "start": starts[1],
            "member": null,
        }),
        json!({
            "id": "x", "url": null, "date": "2024-05-06", "text": "1 2 3", "language": null,
            "xxh3_128": digest("1 2 3"), "source": source, "start": starts[2], "member": null,
        }),
    ];
    assert_eq!(found, expected);
}

/// Promise (Deduplication): A field of the input that has the name of an added one is refused
/// before anything is read, or stays; a file with the name of a shard that no run wrote is refused
/// and kept
#[test]
fn a_source_field_of_the_input_is_refused_before_anything_is_read() {
    for line in [
        "{\"source\":\"x\",\"text\":\"a b\"}\n",
        "{\"text\":\"a b\",\"sourc\\u0065\":1}\n",
    ] {
        let (_directory, path) = file(line.as_bytes());
        let out = tempfile::tempdir().unwrap();
        let mut job = shard_job(WriteFormat::Jsonl, 1000);
        let resources = resources(1, out.path());
        let inputs = [path.clone()];
        let error = refusal(run(
            &job,
            &inputs,
            &[],
            out.path(),
            &resources,
            &Progress::new(),
        ));
        assert_eq!(error.kind(), ErrorKind::Parameter);
        assert_eq!(error.file(), Some(&*path));
        assert!(
            error.to_string().contains("--source-field source_file"),
            "{error}"
        );
        assert!(fs::read_dir(out.path()).unwrap().next().is_none());
        // By their texts, documents have no fields of their own.
        job.shards.source_field = "file".to_owned();
        run(&job, &inputs, &[], out.path(), &resources, &Progress::new()).unwrap();
        let found = fs::read_to_string(out.path().join("kept/part-00000.jsonl")).unwrap();
        let source = format!(",\"file\":\"{}\"}}\n", path.display());
        assert_eq!(found, line.replace("}\n", &source));
    }
}

/// The beginning of a file is checked before anything is read. A later record keeps a field of its
/// own with this name, and is counted.
/// Promise (Deduplication): A field of the input that …
#[test]
fn a_late_source_field_stays() {
    let (_directory, path) = file(
        ("{\"text\":\"some words\"}\n".to_owned()
            + &"\n".repeat(90_000)
            + "{\"text\":\"other words here\",\"source\":\"mine\"}\n")
            .as_bytes(),
    );
    let out = output(
        &shard_job(WriteFormat::Jsonl, 1000),
        &[path],
        with_threads(1),
    );
    let found = lines(&out.path().join("kept/part-00000.jsonl"));
    assert_eq!(
        found[1],
        json!({"text": "other words here", "source": "mine"})
    );
    let summary: Value =
        serde_json::from_slice(&fs::read(out.path().join("summary.json")).unwrap()).unwrap();
    assert_eq!(summary["written"]["kept"]["own_source_field"], 1);
}

/// Promise (Deduplication): A field of the input that …
#[test]
fn files_with_names_of_shards_that_no_run_wrote_are_refused() {
    let (_directory, path) = file(b"{\"text\":\"some words\"}\n");
    let job = shard_job(WriteFormat::Jsonl, 1000);
    for name in [
        "kept/part-00000.jsonl",
        "kept/part-00017.jsonl",
        "removed/part-123456.jsonl",
    ] {
        let out = tempfile::tempdir().unwrap();
        let foreign = out.path().join(name);
        fs::create_dir_all(foreign.parent().unwrap()).unwrap();
        fs::write(&foreign, "mine").unwrap();
        // Files with other names stay.
        fs::write(foreign.with_file_name("part-1.jsonl"), "other").unwrap();
        let resources = resources(1, out.path());
        let inputs = [path.clone()];
        let error = refusal(run(
            &job,
            &inputs,
            &[],
            out.path(),
            &resources,
            &Progress::new(),
        ));
        assert_eq!(error.file(), Some(&*foreign), "{error}");
        assert_eq!(fs::read(&foreign).unwrap(), b"mine");
        fs::remove_file(&foreign).unwrap();
        run(&job, &inputs, &[], out.path(), &resources, &Progress::new()).unwrap();
        assert_eq!(
            fs::read(foreign.with_file_name("part-1.jsonl")).unwrap(),
            b"other"
        );
    }
}

#[test]
fn settings_without_effect_are_refused() {
    let (_directory, path) = file(b"{\"text\":\"some words\"}\n");
    let refused = |spoil: &dyn Fn(&mut DedupJob)| {
        let mut job = shard_job(WriteFormat::Jsonl, 1000);
        spoil(&mut job);
        crate::dump::setup::refused_setting(&job, &path)
    };
    let shards = |job: &mut DedupJob, write, removed| (job.write, job.removed) = (write, removed);
    for (message, expected) in [
        (
            refused(&|job| shards(job, WriteMode::Annotated, false)),
            "annotated",
        ),
        (
            refused(&|job| shards(job, WriteMode::Ids, false)),
            "has an effect only",
        ),
        (
            refused(&|job| job.dump.skipped = SkippedRecords::Drop),
            "no effect",
        ),
        (
            refused(&|job| job.dump.empty_files = true),
            "empty_files has no effect",
        ),
        (
            refused(&|job| job.dump.compression_level = Some(3)),
            "no effect",
        ),
        (
            refused(&|job| {
                job.write = WriteMode::Text;
                job.shards.format = WriteFormat::Input;
            }),
            "written as shards",
        ),
    ] {
        assert!(message.contains(expected), "{message}");
    }
    assert!(ShardName::parse("x{number}").is_ok());
}

/// In the format of the input, removed documents have files of the same names.
/// Promise (Deduplication): The written dump has all documents except the duplicates, in the same
/// format; the directory of removed documents has the duplicates alone
#[test]
fn removed_documents_in_the_format_of_the_input() {
    let directory = tempfile::tempdir().unwrap();
    let (paths, all) = inputs(directory.path());
    let broken = directory.path().join("broken.jsonl");
    fs::write(&broken, "{\"text\": 5}\nbroken\n").unwrap();
    let paths = [paths, vec![broken]].concat();
    let mut job = job();
    job.write = WriteMode::Kept;
    job.removed = true;
    let out = output(&job, &paths, with_threads(2));
    let dropped = ids(out.path(), "duplicates.jsonl");
    let packed = [
        Packed::Plain,
        Packed::Gzip(1),
        Packed::Plain,
        Packed::Zstd(1),
        Packed::Plain,
    ];
    for (number, (path, packed)) in paths.iter().zip(packed).enumerate() {
        let written = |stream| {
            let inside = path.strip_prefix("/").unwrap();
            out.path().join(stream).join(inside)
        };
        let read = |stream| {
            let bytes = packed.unpack(&fs::read(written(stream)).unwrap());
            String::from_utf8(bytes).unwrap()
        };
        let kept = read("kept");
        if number == 4 {
            assert_eq!(kept, "{\"text\": 5}\nbroken\n");
            // Nothing was removed from it.
            assert!(!written("removed").exists());
            continue;
        }
        let removed = read("removed");
        let separator = if number == 2 { '\x0c' } else { '\n' };
        let id = |record: &str| match number {
            2 => record.lines().next().unwrap().to_owned(),
            _ => serde_json::from_str::<Value>(record).unwrap()["id"]
                .as_str()
                .unwrap()
                .to_owned(),
        };
        let ids = |text: &str| {
            let records = text.split_inclusive(separator);
            records
                .map(|record| id(record.trim_end_matches(separator)))
                .collect::<Vec<String>>()
        };
        let documents = all[number * 100..][..100]
            .iter()
            .map(|document| document.id.clone());
        let (gone, stay): (Vec<_>, Vec<_>) = documents.partition(|id| dropped.contains(id));
        assert_eq!(ids(&kept), stay);
        assert_eq!(ids(&removed), gone);
    }
}
