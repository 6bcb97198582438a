//! Unreadable records are copied to the output byte for byte, unless `--skipped drop` is given.

use proptest::prelude::*;
use serde_json::json;
use simtool::corpus::Format;
use simtool::jobs::dedup::{DedupJob, SkippedRecords, WriteMode};

use crate::dump::setup::{Packed, file, job, written};

const MAX_BYTES: u64 = 3000;

/// A line of an input file.
#[derive(Clone, Debug, PartialEq)]
enum Line {
    /// A document with this text.
    Document(u32),
    /// A record that cannot be read.
    Bad(String),
    /// White space, which is no record.
    Blank,
}

impl Line {
    fn text(&self, number: usize) -> String {
        match self {
            Line::Document(text) => {
                let text = format!("one two three four five six seven eight nine{text} ").repeat(9);
                format!("{}\n", json!({"id": number, "text": text}))
            }
            Line::Bad(line) => format!("{line}\n"),
            Line::Blank => "  \n".into(),
        }
    }
}

fn lines() -> impl Strategy<Value = Vec<Line>> {
    let long = |length: usize| format!("{{\"text\":\"{}\"}}", "x y ".repeat(length / 4));
    let line = prop_oneof![
        4 => (0..4u32).prop_map(Line::Document),
        1 => Just(Line::Blank),
        1 => prop::sample::select(vec![
            "{broken".to_owned(),
            "{\"text\": null}".to_owned(),
            "{\"id\": \"no text\"}".to_owned(),
            "[1,2]".to_owned(),
            long(3001),
            long(70_000),
            long(2_500_000),
        ])
        .prop_map(Line::Bad),
    ];
    // A file without any text is refused.
    prop::collection::vec(line, 0..25).prop_map(|mut lines| {
        lines.insert(0, Line::Document(4));
        lines
    })
}

fn dump_job(write: WriteMode, skipped: SkippedRecords, chunk_bytes: usize) -> DedupJob {
    let mut job = job();
    job.write = write;
    job.dump.skipped = skipped;
    job.reading.format = Some(Format::Jsonl);
    job.reading.max_document_bytes = MAX_BYTES;
    job.reading.chunk_bytes = chunk_bytes;
    job
}

fn packed() -> impl Strategy<Value = Packed> {
    prop_oneof![
        Just(Packed::Plain),
        prop::sample::select(vec![100, 1000, 5_000_000]).prop_map(Packed::Gzip),
        prop::sample::select(vec![100, 1000, 5_000_000]).prop_map(Packed::Zstd),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Promise (Deduplication): Records that cannot be read are listed with reason and place, and
    /// are copied to kept/ and annotated/ at their positions, byte for byte. So are records longer
    /// than `--max-document`, in bounded memory. `--skipped drop` leaves them out; damaged Parquet
    /// rows are always left out
    #[test]
    fn unreadable_records_keep_their_positions(
        lines in lines(),
        packed in packed(),
        chunk_bytes in 1usize..5000,
        has_byte_order_mark in any::<bool>(),
        ends_in_line_end in any::<bool>(),
    ) {
        let mut text: String = if has_byte_order_mark { "\u{feff}".into() } else { String::new() };
        let mut kept = [text.clone(), text.clone()];
        let mut seen = Vec::new();
        for (number, line) in lines.iter().enumerate() {
            let mut own = line.text(number);
            if number + 1 == lines.len() && !ends_in_line_end {
                own.pop();
            }
            text += &own;
            let is_repeated = matches!(line, Line::Document(_)) && seen.contains(line);
            seen.push(line.clone());
            if !is_repeated {
                kept[0] += &own;
                if !matches!(line, Line::Bad(_)) {
                    kept[1] += &own;
                }
            }
        }
        let (_directory, path) = file(&packed.pack(text.as_bytes()));
        for (skipped, expected) in [SkippedRecords::Keep, SkippedRecords::Drop].into_iter().zip(&kept) {
            let job = dump_job(WriteMode::Kept, skipped, chunk_bytes);
            let (summary, _out, files) = written(&job, std::slice::from_ref(&path));
            let bad = lines.iter().filter(|line| matches!(line, Line::Bad(_)));
            prop_assert_eq!(summary.skipped() as usize, bad.count());
            prop_assert_eq!(packed.unpack(&files[0]), expected.as_bytes());
        }
        let job = dump_job(WriteMode::Annotated, SkippedRecords::Keep, chunk_bytes);
        let (_, _out, files) = written(&job, std::slice::from_ref(&path));
        let annotated = String::from_utf8(packed.unpack(&files[0])).unwrap();
        prop_assert_eq!(annotated.lines().count(), text.lines().count());
        for ((line, old), new) in lines.iter().zip(text.lines()).zip(annotated.lines()) {
            prop_assert!(old == new || (matches!(line, Line::Document(_)) && new.contains("duplicate_cluster")));
        }
        let job = dump_job(WriteMode::Annotated, SkippedRecords::Drop, chunk_bytes);
        let (_, _out, files) = written(&job, std::slice::from_ref(&path));
        let without = String::from_utf8(packed.unpack(&files[0])).unwrap();
        let annotated = lines.iter().zip(annotated.lines());
        let expected = annotated.filter(|(line, _)| !matches!(line, Line::Bad(_)));
        let expected: Vec<_> = expected.map(|(_, line)| line.trim_start_matches('\u{feff}')).collect();
        prop_assert_eq!(without.trim_start_matches('\u{feff}').lines().collect::<Vec<_>>(), expected);
    }
}

/// Eleven documents, one of them twice.
fn pages() -> String {
    let page = |number: u32| json!({"id": number, "text": format!("page {} of all", number % 11)});
    (0..12)
        .map(|number| format!("{}\n", page(number)))
        .collect()
}

/// Promise (Deduplication): Records that cannot be read are …
#[test]
fn bad_lines_are_listed_and_kept() {
    let good = |id: &str| format!("{{\"id\":\"{id}\",\"text\":\"words of all\"}}\n");
    let bad = "{\"id\": \"b\", \"text\": 7}\n{broken\n";
    let (_directory, path) = file((good("a") + bad + &good("c")).as_bytes());
    let job = dump_job(WriteMode::Kept, SkippedRecords::Keep, 100);
    let (summary, out, files) = written(&job, &[path]);
    let counts = (
        summary.seen(),
        summary.kept(),
        summary.dropped(),
        summary.skipped(),
    );
    assert_eq!(counts, (4, 1, 1, 2));
    let skipped = crate::dump::setup::lines(&out.path().join("skipped.jsonl"));
    let reasons: Vec<_> = skipped.iter().map(|line| line["reason"].clone()).collect();
    assert_eq!(reasons, ["no_text", "bad_json"]);
    assert_eq!(files[0], (good("a") + bad).into_bytes());
}

/// Promise (Deduplication): A file without dropped documents is copied byte for byte, damage
/// included; in a rewritten file, damaged data is never joined with another record
#[test]
fn a_file_without_dropped_documents_is_copied_with_its_damage() {
    let lines = pages();
    let lines: Vec<&str> = lines.lines().take(11).collect();
    let mut bytes = Packed::Gzip(100).pack(lines.join("\n").as_bytes());
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    let (_directory, path) = file(&bytes);
    let job = dump_job(WriteMode::Kept, SkippedRecords::Keep, 100);
    let (summary, _out, files) = written(&job, &[path]);
    assert!(summary.skipped() > 0 && summary.dropped() == 0);
    assert!(files[0] == bytes);
}

/// In a damaged file that is written again, the rest of a record that damage cut off is a line of
/// its own: it is not joined with another record.
/// Promise (Deduplication): A file without dropped documents is …
#[test]
fn damage_joins_no_records() {
    let text = pages();
    let long = format!("{{\"text\":\"{}\"}}\n", "x".repeat(5000));
    let text = text.clone() + &long + &text;
    for flipped in (100..1300).step_by(7) {
        let mut bytes = Packed::Gzip(700).pack(text.as_bytes());
        let flipped = flipped % bytes.len();
        bytes[flipped] ^= 4;
        let (_directory, path) = file(&bytes);
        let mut job = dump_job(WriteMode::Kept, SkippedRecords::Keep, 300);
        job.reading.format = Some(Format::Jsonl);
        let (summary, _out, files) = written(&job, &[path]);
        if summary.dropped() == 0 {
            assert!(files[0] == bytes);
            continue;
        }
        let kept = String::from_utf8(Packed::Gzip(1).unpack(&files[0])).unwrap();
        let complete = kept
            .lines()
            .filter(|line| text.lines().any(|other| other == *line));
        let cut = kept
            .lines()
            .filter(|line| !text.lines().any(|other| other == *line));
        assert!(cut.clone().count() <= 2, "{flipped}: {kept}");
        let is_part = |line: &str| {
            let mut all = text.lines();
            all.any(|whole| whole.starts_with(line) || whole.ends_with(line))
        };
        assert!(cut.into_iter().all(is_part), "{flipped}: {kept}");
        assert_eq!(
            summary.kept() as usize,
            complete.filter(|line| line.len() < 3000).count()
        );
    }
}
