//! The page of a run: its counts are those of the reports, and nothing in a text acts.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use simtool::dedup::keep::Policy;
use simtool::engine::{Progress, Resources};
use simtool::jobs::dedup::{ClusterRule, DedupJob, Scope};
use simtool::sketch::registry::Spec;

use crate::dump::documents::{Text, documents};
use crate::dump::page_text::{PageText, number, texts};
use crate::dump::setup::{self, Form, Packed, check, contents, lines, resources, run, write};

fn job() -> DedupJob {
    DedupJob {
        page: true,
        ..setup::job()
    }
}

/// Three files of documents of several sites, some records of which cannot be read.
fn inputs(directory: &Path) -> Vec<PathBuf> {
    let mut all = documents(11, 900);
    for (number, document) in all.iter_mut().enumerate() {
        let site = number % 47;
        document.url = match site {
            0 => String::new(),
            1 => "no host".to_owned(),
            _ => format!("http://user@Site{site}.Example:80/{number}"),
        };
    }
    let forms = [Form::Jsonl, Form::JsonlGzip, Form::JsonlZstd];
    let paths: Vec<PathBuf> = forms
        .into_iter()
        .enumerate()
        .map(|(number, form)| {
            let path = directory.join(format!("input-{number}"));
            write(&path, form, &all[number * 300..number * 300 + 300]);
            path
        })
        .collect();
    let mut first = fs::read(&paths[0]).unwrap();
    first.extend_from_slice(b"no object\n{\"id\":\"x\"}\n{\"text\":1}\n");
    fs::write(&paths[0], first).unwrap();
    paths
}

fn run_into(job: &DedupJob, inputs: &[PathBuf], out: &Path, resources: &Resources) -> PageText {
    run(job, inputs, &[], out, resources, &Progress::new()).unwrap();
    check(out);
    PageText::read(out)
}

/// The host of a URL of these tests.
fn host(url: &str) -> String {
    let behind = url.split_once("//").map_or("", |(_, behind)| behind);
    let host = behind.split(['/', ':']).next().unwrap();
    host.rsplit('@').next().unwrap().to_lowercase()
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Count {
    dropped: u64,
    seen: u64,
}

/// The documents of the inputs by file and site, counted by another JSON parser.
fn count(inputs: &[PathBuf], dropped: &[Value]) -> [BTreeMap<String, Count>; 2] {
    let mut by = [BTreeMap::<String, Count>::new(), BTreeMap::new()];
    for (number, path) in inputs.iter().enumerate() {
        let bytes = fs::read(path).unwrap();
        let lines = match number {
            0 => bytes,
            1 => {
                let mut lines = Vec::new();
                let mut decoder = flate2::read::MultiGzDecoder::new(&bytes[..]);
                std::io::Read::read_to_end(&mut decoder, &mut lines).unwrap();
                lines
            }
            _ => zstd::decode_all(&bytes[..]).unwrap(),
        };
        for line in String::from_utf8(lines).unwrap().lines() {
            let file = path.to_str().unwrap();
            by[0].entry(file.to_owned()).or_default().seen += 1;
            let value: Value = serde_json::from_str(line).unwrap_or_default();
            if value["text"].is_string() {
                let site = host(value["url"].as_str().unwrap());
                by[1].entry(site).or_default().seen += 1;
            }
        }
    }
    for line in dropped {
        let file = line["file"].as_str().unwrap();
        by[0].entry(file.to_owned()).or_default().dropped += 1;
        let site = host(line["url"].as_str().unwrap_or_default());
        by[1].entry(site).or_default().dropped += 1;
    }
    by
}

/// Name, dropped documents and all documents of each row.
fn places(page: &PageText, caption: &str) -> Vec<(String, Count)> {
    let rows = page.table(caption).into_iter();
    rows.map(|row| {
        let all = row[1].last().unwrap().split_once(" of ").unwrap().1;
        let count = Count {
            dropped: number(&row[1][0]),
            seen: number(all),
        };
        (row[0][0].clone(), count)
    })
    .collect()
}

/// Promise (Methods and their evaluation): The HTML page of a deduplication has the counts of the
/// reports, by source, site, method, cluster size and similarity; its pairs and clusters are those
/// of its definition
#[test]
fn counts_are_those_of_the_reports() {
    let directory = tempfile::tempdir().unwrap();
    let inputs = inputs(directory.path());
    for (method, clusters) in [
        ("simhash:distance=8,stop-words=keep", ClusterRule::Star),
        ("minhash:shingle=3,similarity=0.6", ClusterRule::Components),
        ("normalized", ClusterRule::Star),
    ] {
        let mut job = DedupJob {
            method: Spec::parse(method).unwrap(),
            clusters,
            refused: method != "normalized",
            ..job()
        };
        job.reading.url_field = "url".to_owned();
        let out = tempfile::tempdir().unwrap();
        let page = run_into(&job, &inputs, out.path(), &resources(2, out.path()));
        let dropped = lines(&out.path().join("duplicates.jsonl"));
        assert!(dropped.len() > 100);
        let [files, mut sites] = count(&inputs, &dropped);

        // Totals.
        let all: u64 = files.values().map(|count| count.seen).sum();
        let totals = page.table("Documents and text of the input");
        let totals: Vec<(&str, u64)> = totals
            .iter()
            .map(|row| (&row[0][0][..], number(&row[1][0])))
            .collect();
        let kept = all - dropped.len() as u64 - 3;
        let expected = [
            ("Kept", kept),
            ("Dropped", dropped.len() as u64),
            ("Skipped", 3),
        ];
        assert_eq!(totals, expected, "{method}");
        let skipped = page.section("totals");
        let reasons = "by reason: 2 <code>no_text</code>, 1 <code>bad_json</code>";
        assert!(skipped.contains(reasons), "{skipped}");

        // By source: all of them, the one with the most dropped documents first.
        let mut expected: Vec<(String, Count)> = files.into_iter().collect();
        expected.sort_by_key(|(name, count)| (u64::MAX - count.dropped, name.clone()));
        assert_eq!(places(&page, "Dropped documents by source"), expected);

        // By site: twenty, the others together, and those without.
        let without = sites.remove("").unwrap();
        let mut expected: Vec<(String, Count)> = sites.into_iter().collect();
        expected.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let others = expected.split_off(20);
        let mut rest = Count::default();
        for (_, count) in &others {
            rest.dropped += count.dropped;
            rest.seen += count.seen;
        }
        let mut found = places(&page, "Dropped documents by site");
        assert_eq!(found.pop().unwrap(), ("without a site".to_owned(), without));
        let name = format!("{} other sites", others.len());
        assert_eq!(found.pop().unwrap(), (name, rest));
        let counts = |rows: &[(String, Count)]| -> Vec<Count> {
            rows.iter().map(|(_, count)| *count).collect()
        };
        assert_eq!(counts(&found), counts(&expected));
        found.sort();
        expected.sort();
        // Sites with equal counts are in the order of the input, so the last may differ.
        let last = counts(&found).into_iter().min();
        let above = |rows: Vec<(String, Count)>| -> Vec<(String, Count)> {
            rows.into_iter()
                .filter(|(_, count)| Some(*count) != last)
                .collect()
        };
        assert_eq!(above(found), above(expected));

        // By method.
        let mut expected: BTreeMap<String, u64> = BTreeMap::new();
        for line in &dropped {
            let method = line["method"].as_str().unwrap();
            *expected.entry(method.to_owned()).or_default() += 1;
        }
        let found = page.counts("Dropped documents by method").into_iter();
        let found: BTreeMap<String, u64> = found.map(|(name, row)| (name, row[0])).collect();
        assert_eq!(found, expected);

        check_clusters(&page, out.path());
        check_similarities(&page, &dropped, clusters);
        check_refused(&page, out.path(), &job);
    }
}

/// Clusters by size, and the largest ones.
fn check_clusters(page: &PageText, out: &Path) {
    let clusters = lines(&out.join("clusters.jsonl"));
    let starts = [2, 3, 4, 5, 10, 20, 50, 100, 200];
    let mut expected: BTreeMap<u64, [u64; 2]> = BTreeMap::new();
    for cluster in &clusters {
        let size = cluster["size"].as_u64().unwrap();
        let bin = starts.into_iter().rfind(|&start| start <= size).unwrap();
        let counts = expected.entry(bin).or_default();
        counts[0] += 1;
        counts[1] += size;
    }
    let found = page.counts("Clusters by size").into_iter();
    let found: BTreeMap<u64, [u64; 2]> = found
        .map(|(size, row)| (number(size.split(' ').next().unwrap()), [row[0], row[1]]))
        .collect();
    assert_eq!(found, expected);

    let mut largest: Vec<&Value> = clusters.iter().collect();
    largest.sort_by_key(|cluster| std::cmp::Reverse(cluster["size"].as_u64()));
    let section = page.section("clusters");
    let shown: Vec<&str> = section
        .split("<details class=\"cluster\"")
        .skip(1)
        .collect();
    assert_eq!(shown.len(), largest.len().min(10));
    for (html, cluster) in shown.iter().zip(largest) {
        let size = cluster["size"].as_u64().unwrap();
        assert!(
            html.contains(&format!("{size} documents")),
            "{size}: {html}"
        );
        let members = cluster["members"].as_array().unwrap();
        // Position and id of each shown document.
        for heading in html.split("<h4>").skip(1) {
            let names = texts(heading.split_once("</h4>").unwrap().0);
            let (position, is_kept) = match names[0].strip_suffix(", kept") {
                Some(position) => (number(position), true),
                None if names[0] == "kept" => (1, true),
                None => (number(&names[0]), false),
            };
            let member = &members[position as usize - 1];
            assert_eq!(member["id"], names[1]);
            assert_eq!(member["kept"], is_kept, "{heading}");
        }
        let count = html.matches("<h4>").count();
        assert_eq!(count as u64, size.min(4));
    }
}

/// Promise (Methods and their evaluation): The HTML page of a deduplication has …
#[test]
fn kept_copies_and_groups_are_counted_as_in_the_summary() {
    let directory = tempfile::tempdir().unwrap();
    let inputs = inputs(directory.path());
    for (keep_copies, within) in [(3, Scope::Global), (1, Scope::Source), (2, Scope::Source)] {
        let mut job = DedupJob {
            keep_copies,
            within,
            ..job()
        };
        job.reading.url_field = "url".to_owned();
        let out = tempfile::tempdir().unwrap();
        let page = run_into(&job, &inputs, out.path(), &resources(2, out.path()));
        let summary = fs::read(out.path().join("summary.json")).unwrap();
        let summary: Value = serde_json::from_slice(&summary).unwrap();
        let dropped = lines(&out.path().join("duplicates.jsonl"));
        assert_eq!(summary["dropped"], dropped.len());

        let totals = page.table("Documents and text of the input");
        for (row, name) in totals.iter().zip(["kept", "dropped", "skipped"]) {
            assert_eq!(summary[name], number(&row[1][0]), "{name}");
        }
        let found = places(&page, "Dropped documents by source");
        assert_eq!(found.len(), 3);
        for (name, count) in found {
            let mut inputs = summary["inputs"].as_array().unwrap().iter();
            let input = inputs.find(|input| input["file"] == name[..]).unwrap();
            assert_eq!(
                [&input["seen"], &input["dropped"]],
                [count.seen, count.dropped]
            );
        }
        let sites = places(&page, "Dropped documents by site").into_iter();
        let of_sites: u64 = sites.map(|(_, count)| count.dropped).sum();
        assert_eq!(of_sites, dropped.len() as u64);
        let methods = page.counts("Dropped documents by method").into_iter();
        let by_method: u64 = methods.map(|(_, row)| row[0]).sum();
        assert_eq!(by_method, dropped.len() as u64);
        let clusters = page.counts("Clusters by size").into_iter();
        let clusters: u64 = clusters.map(|(_, row)| row[0]).sum();
        assert_eq!(summary["clusters"], clusters);
        check_clusters(&page, out.path());
        check_similarities(&page, &dropped, ClusterRule::Star);

        let section = page.section("clusters");
        let is_kept = section.contains(", kept</span>");
        assert_eq!(is_kept, keep_copies > 1);
        let fact = format!("{keep_copies} of each cluster");
        assert_eq!(page.0.contains(&fact), keep_copies > 1);
        // The largest clusters and their counts are those of the summary.
        let largest = summary["largest_clusters"].as_array().unwrap();
        let shown = section.split("<details class=\"cluster\"").skip(1);
        assert_eq!(shown.clone().count(), largest.len());
        for (html, cluster) in shown.zip(largest) {
            let parts = [
                ("same_text", "with the same text"),
                ("same_words", "with the same words"),
                ("same_url", "with the same URL as a newer one"),
                ("near", "near"),
            ];
            for (name, what) in parts {
                let count = cluster[name].as_u64().unwrap();
                assert_eq!(
                    html.contains(&format!("{count} {what}")),
                    count > 0,
                    "{html}"
                );
            }
        }
    }
}

/// Similarities in hundredths, and the least similar removals.
fn check_similarities(page: &PageText, dropped: &[Value], clusters: ClusterRule) {
    let share = |line: &Value| {
        let [shared, all] = ["shared", "shingles"].map(|name| line[name].as_u64());
        Some((shared?, all?))
    };
    let compared: Vec<&Value> = dropped
        .iter()
        .filter(|line| share(line).is_some())
        .collect();
    let mut expected: BTreeMap<u64, u64> = BTreeMap::new();
    for line in &compared {
        let (shared, all) = share(line).unwrap();
        *expected.entry((100 * shared / all).min(99)).or_default() += 1;
    }
    let found = page.counts("Dropped documents by similarity");
    // Two or more hundredths may share a bin.
    let mut sums: BTreeMap<u64, u64> = BTreeMap::new();
    for (range, row) in found {
        let (from, to) = range.split_once(" to ").unwrap();
        let hundredth = |text: &str| (100.0 * text.parse::<f64>().unwrap()).round() as u64;
        let bins = expected.range(hundredth(from)..hundredth(to));
        assert_eq!(bins.map(|bin| bin.1).sum::<u64>(), row[0], "{range}");
        *sums.entry(hundredth(from)).or_default() += row[0];
    }
    assert_eq!(sums.values().sum::<u64>(), compared.len() as u64);
    let equal = dropped.len() - compared.len();
    let sentence = format!("{equal} have the same text or the same words");
    assert!(page.section("similarity").contains(&sentence));

    let section = page.section("similarity");
    let shown: Vec<&str> = section
        .split("<details class=\"removal\"")
        .skip(1)
        .collect();
    assert_eq!(shown.len(), naive_pairs(&compared, 20).len());
    for (html, line) in shown.iter().zip(naive_pairs(&compared, 20)) {
        let (shared, all) = share(line).unwrap();
        assert!(
            html.contains(&format!("{shared} of {all} shingles shared")),
            "{html}"
        );
        let ids: Vec<String> = html
            .split("<h4>")
            .skip(1)
            .map(|heading| texts(heading)[1].clone())
            .collect();
        assert_eq!([&line["kept"], &line["id"]], [&ids[0][..], &ids[1][..]]);
        if clusters == ClusterRule::Star {
            assert!(shared * 10 >= all * 6);
        }
        assert!(html.contains("<del>") || html.contains("<ins>"), "{html}");
    }
}

/// The first lines by similarity: three of a kept document, each with another similarity.
fn naive_pairs<'a>(lines: &[&'a Value], most: usize) -> Vec<&'a Value> {
    let similarity = |line: &Value| line["similarity"].as_f64().unwrap();
    let mut sorted = lines.to_vec();
    sorted.sort_by(|a, b| similarity(a).total_cmp(&similarity(b)));
    let mut pairs: Vec<&Value> = Vec::new();
    for line in sorted {
        let of_kept = pairs
            .iter()
            .filter(|other| other["cluster"] == line["cluster"]);
        let of_kept: Vec<f64> = of_kept.map(|other| similarity(other)).collect();
        if of_kept.len() < 3 && !of_kept.contains(&similarity(line)) && pairs.len() < most {
            pairs.push(line);
        }
    }
    pairs
}

/// Refused pairs.
fn check_refused(page: &PageText, out: &Path, job: &DedupJob) {
    let section = page.section("refused");
    if !job.refused {
        assert_eq!(section, "");
        return;
    }
    let listed = lines(&out.join("refused.jsonl"));
    assert!(!listed.is_empty());
    let summary: Value =
        serde_json::from_slice(&fs::read(out.join("summary.json")).unwrap()).unwrap();
    let count = summary["refused"].as_u64().unwrap();
    let shown: String = texts(section).concat().replace('\u{202f}', "");
    assert!(
        shown.contains(&format!("found {count} candidate pairs")),
        "{shown}"
    );
    assert!(
        shown.contains(&format!("lists {} of them", listed.len())),
        "{shown}"
    );
    let nearest = listed.iter().filter_map(|line| line["similarity"].as_f64());
    let nearest = nearest.reduce(f64::max).unwrap();
    let first = section.split("<summary>similarity ").nth(1).unwrap();
    let first: f64 = first[..5].parse().unwrap();
    assert!(
        (nearest - first - 0.0005).abs() <= 0.0006,
        "{nearest} {first}"
    );
}

/// Promise (Methods and their evaluation): The bytes of the HTML page of a deduplication depend
/// neither on threads nor on memory or interruptions; it is recorded, checked and removed like
/// every output
#[test]
fn the_page_does_not_depend_on_threads_and_memory() {
    let directory = tempfile::tempdir().unwrap();
    let inputs = inputs(directory.path());
    let job = DedupJob {
        refused: true,
        ..job()
    };
    let pages = [1, 4].map(|threads| {
        let out = tempfile::tempdir().unwrap();
        let mut resources = resources(threads, out.path());
        resources.memory_bytes <<= threads;
        run_into(&job, &inputs, out.path(), &resources).0
    });
    assert!(pages[0].contains("id=\"sites\"") && pages[0] == pages[1]);
}

#[test]
fn without_a_page_the_other_outputs_are_the_same() {
    let directory = tempfile::tempdir().unwrap();
    let inputs = inputs(directory.path());
    let outputs = [true, false].map(|page| {
        let out = tempfile::tempdir().unwrap();
        let job = DedupJob {
            page,
            ..setup::job()
        };
        let resources = resources(2, out.path());
        run(&job, &inputs, &[], out.path(), &resources, &Progress::new()).unwrap();
        let mut files = contents(out.path());
        assert_eq!(files.remove(Path::new("page.html")).is_some(), page);
        // These have the settings.
        files.retain(|name, _| !name.ends_with("run.json") && !name.ends_with("summary.json"));
        files
    });
    assert_eq!(outputs[0], outputs[1]);
}

/// A job in whose pages all texts are compared.
fn all_texts(job: DedupJob) -> DedupJob {
    DedupJob {
        keep: Policy::Longest.into(),
        refused: true,
        ..job
    }
}

/// Promise (Methods and their evaluation): The HTML page of a deduplication runs no text, id, URL
/// or file name as code, has no script, loads nothing, links only to `http` and `https`, and is
/// bounded in size; in a browser, it works by keyboard, in dark mode, at 320 to 1280 pixels and
/// without scripts
#[test]
fn nothing_in_a_text_acts() {
    let markup = "</script></title></div><img src=x onerror=\"alert(1)\"><script>alert(2)</script>\
                  <style>*{display:none}</style><!-- <a href='javascript:alert(3)'>x</a> & \
                  \u{0}\u{1b}[2J\u{202e}abc\u{2066}\u{200f}\u{feff}\u{85}";
    let words: String = (0..60).map(|word| format!("word{word} ")).collect();
    let long = "x".repeat(1 << 20);
    let texts: Vec<String> = vec![
        format!("{markup} {words}"),
        format!("{markup} {words} {markup}"),
        format!("{words} <b>other</b> end"),
        format!("\u{5e9}\u{5dc}\u{5d5}\u{5dd} \u{202b}{words}"),
        // Long lines, with and without spaces.
        format!("{words}{long}"),
        format!("{words}{long} y"),
        format!("{} {words}", "z ".repeat(1 << 19)),
        format!("{} {words} y", "z ".repeat(1 << 19)),
        markup.to_owned(),
        markup.to_owned(),
    ];
    let all: Vec<Text> = texts
        .into_iter()
        .zip(0..)
        .map(|(text, number)| Text {
            id: format!("{markup}{number}{}", ["", &long][number % 2]),
            url: match number % 3 {
                0 => "javascript:alert(4)//http://a.example/".to_owned(),
                1 => format!("http://{markup}/{number}"),
                _ => format!("https://a.example/\"><img src=y>{number}{long}"),
            },
            date: String::new(),
            text,
        })
        .collect();
    let directory = tempfile::tempdir().unwrap();
    let name = "</td><img src=w>\u{202e}\n.jsonl";
    let path = directory.path().join(name.replace('/', "|"));
    write(&path, Form::Jsonl, &all);
    let mut job = all_texts(job());
    job.reading.max_document_bytes = 8 << 20;
    let out = tempfile::tempdir().unwrap();
    let mut resources = resources(2, out.path());
    resources.memory_bytes = 2 << 30;
    let PageText(html) = run_into(&job, &[path], out.path(), &resources);
    for part in [
        "<img",
        "<script",
        "<!--",
        "<a href=\"javascript",
        "onerror=\"",
        "\u{202e}",
        "\u{2066}",
    ] {
        assert!(!html.contains(part), "{part}");
    }
    let allowed = |character: char| !character.is_control() || character == '\n';
    assert!(html.chars().all(allowed));
    assert_eq!(html.matches("<style").count(), 1);
    for link in html.split("href=\"").skip(1) {
        assert!(link.starts_with(['#', 'h']), "{}", &link[..30]);
    }
    // The texts are there, escaped and cut.
    assert!(html.contains("&lt;img src=x onerror=&quot;alert(1)&quot;&gt;"));
    assert!(html.contains("U+202E") && html.contains("U+0000"));
    assert!(html.len() < 400_000, "{}", html.len());
}

/// Promise (Methods and their evaluation): The HTML page of a deduplication has …
#[test]
fn runs_without_documents_or_without_duplicates_have_a_page() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.jsonl");
    for text in [
        "",
        "{\"id\":\"a\",\"text\":\"one two three\"}\n",
        "no object\n",
    ] {
        // A file without a document has no format of its own.
        fs::write(&path, format!("\n{text}")).unwrap();
        let out = tempfile::tempdir().unwrap();
        let page = run_into(
            &job(),
            std::slice::from_ref(&path),
            out.path(),
            &resources(1, out.path()),
        );
        assert_eq!(page.section("clusters"), "");
        assert_eq!(page.section("similarity"), "");
        assert!(!page.0.contains("NaN") && page.section("totals").contains("Kept"));
    }
}

/// Promise (Methods and their evaluation): The HTML page of a deduplication has …
#[test]
fn small_files_are_counted_by_directory() {
    let directory = tempfile::tempdir().unwrap();
    let inputs: Vec<PathBuf> = (documents(11, 300).into_iter().enumerate())
        .map(|(number, document)| {
            let path = directory.path().join(format!("{}/{number}", number % 3));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            write(&path, Form::Jsonl, &[document]);
            path
        })
        .collect();
    let out = tempfile::tempdir().unwrap();
    let page = run_into(&job(), &inputs, out.path(), &resources(2, out.path()));
    let mut expected: BTreeMap<String, Count> = BTreeMap::new();
    let dropped = lines(&out.path().join("duplicates.jsonl"));
    let dropped: Vec<&str> = dropped
        .iter()
        .map(|line| line["file"].as_str().unwrap())
        .collect();
    for path in &inputs {
        let count = expected
            .entry(format!("{}/", path.parent().unwrap().display()))
            .or_default();
        count.seen += 1;
        count.dropped += u64::from(dropped.contains(&path.to_str().unwrap()));
    }
    let mut found = places(&page, "Dropped documents by directory");
    assert!(found.is_sorted_by_key(|(_, count)| u64::MAX - count.dropped));
    found.sort();
    assert_eq!(found, expected.into_iter().collect::<Vec<_>>());
    let rows = page.table("Dropped documents by directory");
    assert!(rows.iter().all(|row| row[0][1] == "100 files"), "{rows:?}");
    assert!(page.table("Dropped documents by source").is_empty());
}

/// Promise (Methods and their evaluation): The HTML page of a deduplication has …
#[test]
fn copies_that_are_all_dropped_are_called_so() {
    let directory = tempfile::tempdir().unwrap();
    let inputs = inputs(directory.path());
    let job = DedupJob {
        drop_all: true,
        ..job()
    };
    let out = tempfile::tempdir().unwrap();
    let page = run_into(&job, &inputs, out.path(), &resources(2, out.path()));
    let alone = lines(&out.path().join("duplicates.jsonl"));
    let alone = alone.iter().filter(|line| line["kept"].is_null()).count();
    let section = page.section("similarity");
    assert!(
        section.contains(&format!("{alone} would be kept")),
        "{section}"
    );
    assert!(page.section("clusters").contains("The first document"));
    assert!(!page.section("clusters").contains(">kept<"));
}

/// Promise (Methods and their evaluation): The HTML page of a deduplication has …
#[test]
fn a_reference_is_not_counted() {
    let directory = tempfile::tempdir().unwrap();
    let inputs = inputs(directory.path());
    let (reference, input) = inputs.split_at(1);
    let out = tempfile::tempdir().unwrap();
    let resources = resources(2, out.path());
    let progress = Progress::new();
    run(&job(), input, reference, out.path(), &resources, &progress).unwrap();
    let page = PageText::read(out.path());
    let names = places(&page, "Dropped documents by source");
    let names: Vec<&str> = names.iter().map(|(name, _)| &name[..]).collect();
    assert!(names.len() == 2 && !names.contains(&reference[0].to_str().unwrap()));
    assert!(page.0.contains("documents of --against"));
    assert!(!page.section("totals").contains("bad_json"));
}

/// In every form, both texts of the least similar pair are read again at their places.
/// Promise (Methods and their evaluation): The texts of the HTML page of a deduplication are those
/// of the inputs in every format, read again at their places; a text that changed meanwhile, or
/// that is too far into a compressed file, is replaced by a sentence
#[test]
fn texts_are_read_again_in_every_form() {
    let text = |number: usize| {
        let words: String = (0..200)
            .map(|word| format!("w{} ", word * (1 + number / 2)))
            .collect();
        format!("{words}end{number}")
    };
    let lines: String = (0..40)
        .map(|number| format!("{{\"id\":\"{number}\",\"text\":\"{}\"}}\n", text(number)))
        .collect();
    let pages: String = (0..40)
        .map(|number| format!("{number}\n{}\x0c", text(number)))
        .collect();
    let record = |number: usize, is_html: bool| {
        let (kind, body) = match is_html {
            false => ("conversion", text(number)),
            true => (
                "response",
                format!(
                    "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html><body><p>{}</p></body></html>",
                    text(number)
                ),
            ),
        };
        let kind = match is_html {
            true => format!("{kind}\r\nContent-Type: application/http; msgtype=response"),
            false => kind.to_owned(),
        };
        format!(
            "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:{number}>\r\n\
             WARC-Target-URI: http://a.example/{number}\r\nContent-Length: {}\r\n\r\n{body}\r\n\r\n",
            body.len()
        )
    };
    let records = |is_html: bool| (0..40).map(move |number| record(number, is_html));
    let warc: String = records(false).collect();
    let html: String = records(true).collect();
    let gzipped = |records: &mut dyn Iterator<Item = String>| -> Vec<u8> {
        let pack = |record: String| Packed::Gzip(usize::MAX).pack(record.as_bytes());
        records.flat_map(pack).collect()
    };
    let forms: [(&str, Vec<u8>); 10] = [
        ("a.jsonl", lines.clone().into()),
        ("marked.jsonl", format!("\u{feff}{lines}").into()),
        (
            "a.jsonl.gz",
            Packed::Gzip(usize::MAX).pack(lines.as_bytes()),
        ),
        ("members.jsonl.gz", Packed::Gzip(777).pack(lines.as_bytes())),
        (
            "frames.jsonl.zst",
            Packed::Zstd(5000).pack(lines.as_bytes()),
        ),
        ("pages.txt", pages.clone().into()),
        ("a.warc", warc.into()),
        ("a.warc.wet.gz", gzipped(&mut records(false))),
        ("html.warc", html.clone().into()),
        (
            "one.warc.gz",
            Packed::Gzip(usize::MAX).pack(html.as_bytes()),
        ),
    ];
    for (name, bytes) in forms {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(name);
        fs::write(&path, bytes).unwrap();
        check_texts(&[path], name);
    }
    // Files of one document.
    let directory = tempfile::tempdir().unwrap();
    let files = |ending: &str, begin: &str| -> Vec<PathBuf> {
        let path = |number: usize| directory.path().join(format!("{number:02}{ending}"));
        let paths: Vec<PathBuf> = (0..40).map(path).collect();
        for (number, path) in paths.iter().enumerate() {
            fs::write(path, format!("{begin}{}", text(number))).unwrap();
        }
        paths
    };
    check_texts(&files(".text", ""), "texts");
    check_texts(
        &files(".html", "<!doctype html><html><body><p>"),
        "pages of HTML",
    );
}

fn check_texts(inputs: &[PathBuf], name: &str) {
    let out = tempfile::tempdir().unwrap();
    let page = run_into(&job(), inputs, out.path(), &resources(2, out.path()));
    let section = page.section("similarity");
    let pairs = section.split("<details class=\"removal\"").skip(1);
    assert_eq!(pairs.clone().count(), 20, "{name}");
    for pair in pairs {
        let marked = |mark: &str| pair.split_once(&format!("<{mark}>")).unwrap().1;
        let number =
            |html: &str| number(html.strip_prefix("end").unwrap().split('<').next().unwrap());
        let [kept, dropped] = ["del", "ins"].map(|mark| number(marked(mark)));
        assert_eq!(kept + 1, dropped, "{name}: {pair}");
    }
}
