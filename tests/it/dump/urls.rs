//! `--method url`, alone and before another method: the newest document of each URL stays.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::PathBuf;
use std::slice::from_ref;

use proptest::prelude::*;
use serde_json::{Value, json};
use simtool::dedup::keep::Policy;
use simtool::engine::Progress;
use simtool::jobs::dedup::{ClusterRule, DedupJob, PairForms, Scope, UrlRule, WriteMode};
use simtool::sketch::registry::Spec;

use crate::dump::documents::{Random, Text, documents};
use crate::dump::oracle;
use crate::dump::setup::{
    Form, check, contents, file, job, lines, refused_setting, resources, run, write, written,
};

/// A job that compares URLs.
fn by_url(url: UrlRule) -> DedupJob {
    DedupJob { url, ..job() }
}

/// The texts of [`documents`] with few URLs, in several spellings, and dates that are often equal or
/// missing. Returns the page of each document, if it has a URL.
fn captures(seed: u64, count: usize) -> (Vec<Text>, Vec<Option<u64>>) {
    let mut random = Random::new(seed ^ 0x5555);
    let mut all = documents(seed, count);
    let mut pages = Vec::new();
    for text in &mut all {
        let page = random.below(count as u64 / 2 + 1);
        let (site, path) = (page % 3, page / 3);
        let spellings = [
            format!("http://site{site}.example/p{path}/"),
            format!("HTTP://Site{site}.EXAMPLE:80/p{path}/#part"),
            format!("http://site{site}.example/./x/../%70{path}/"),
            format!(" http://site{site}.example:/%70{path}/%2e\n"),
        ];
        let none = [
            "",
            "n/a",
            "/p1/",
            "site0.example/p1/",
            "http:///p1/",
            "urn:p:1",
        ];
        let is_page = random.below(8) > 0;
        text.url = match is_page {
            true => spellings[random.below(4) as usize].clone(),
            false => none[random.below(6) as usize].to_owned(),
        };
        text.date = match random.below(4) {
            0 => ["", "yesterday"][random.below(2) as usize].to_owned(),
            _ => format!("20{:02}-01-02", random.below(5) + 10),
        };
        pages.push(is_page.then_some(page));
    }
    (all, pages)
}

/// What is dropped: the document, the kept one, the method, and the newest document of the page if it
/// is not the kept one.
type Dropped = (String, String, String, Option<String>);

/// By the definition, with a dictionary of pages.
fn naive(job: &DedupJob, all: &[Text], pages: &[Option<u64>], references: usize) -> Vec<Dropped> {
    let is_reference = |number: usize| number < references;
    let only_references = references > 0 && job.against_only;
    let mut of_page: HashMap<u64, Vec<usize>> = HashMap::new();
    for (number, page) in pages.iter().enumerate() {
        if let (Some(page), false) = (page, all[number].text.is_empty()) {
            of_page.entry(*page).or_default().push(number);
        }
    }
    let date = |number: usize| all[number].date.strip_prefix("20").unwrap_or_default();
    let mut newest: BTreeMap<usize, usize> = BTreeMap::new();
    for captures in of_page.values() {
        let stays = captures
            .iter()
            .copied()
            .max_by_key(|&number| (is_reference(number), date(number), number));
        let stays = stays.unwrap();
        for &capture in captures.iter().filter(|&&capture| capture != stays) {
            if !is_reference(capture) && (is_reference(stays) || !only_references) {
                newest.insert(capture, stays);
            }
        }
    }
    let stay: Vec<usize> = (0..all.len())
        .filter(|number| !newest.contains_key(number))
        .collect();
    let mut found: BTreeMap<usize, Dropped> = BTreeMap::new();
    let number: HashMap<&str, usize> = all.iter().map(|text| &text.id[..]).zip(0..).collect();
    if job.url == UrlRule::First {
        let texts: Vec<Text> = stay.iter().map(|&number| all[number].clone()).collect();
        let order: Vec<usize> = (0..texts.len()).collect();
        for (id, kept, _, verified) in oracle::duplicates_against(job, &texts, &order, references) {
            let texts = [&id, &kept].map(|id| &all[number[&id[..]]].text);
            let method = match (verified, texts[0] == texts[1]) {
                ((1, 1), true) => "exact",
                ((1, 1), false) => "normalized",
                _ => "simhash",
            };
            found.insert(number[&id[..]], (id, kept, method.to_owned(), None));
        }
    }
    let id = |number: usize| all[number].id.clone();
    let of_urls = newest.iter().map(|(&capture, &stays)| {
        let kept = found.get(&stays).map_or(id(stays), |found| found.1.clone());
        let via = (kept != id(stays)).then(|| id(stays));
        (capture, (id(capture), kept, "url".to_owned(), via))
    });
    let of_urls: Vec<_> = of_urls.collect();
    found.extend(of_urls);
    found.into_values().collect()
}

fn dropped(pairs: &[Value]) -> Vec<Dropped> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let dropped = pairs.iter().map(|pair| {
        let method = text(&pair["method"]).unwrap();
        if method == "url" {
            for nothing in ["distance", "estimate", "similarity", "shared", "shingles"] {
                assert!(pair[nothing].is_null(), "{pair}");
            }
        }
        let [id, kept] = ["id", "kept"].map(|name| text(&pair[name]).unwrap());
        (id, kept, method, text(&pair["newest"]))
    });
    dropped.collect()
}

/// The texts whose words are equal have the evidence of the first of them, which the oracle of
/// SimHash does not tell apart from that of near ones.
fn comparable(found: Vec<Dropped>) -> Vec<Dropped> {
    let by_text = |method: String| match method.as_str() {
        "url" => method,
        _ => "text".to_owned(),
    };
    let found = found.into_iter();
    found
        .map(|(id, kept, method, newest)| (id, kept, by_text(method), newest))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Promise (Deduplication): The method `url` keeps the newest document of each URL: alone,
    /// before another method, within groups and with `--against`. Each document that it drops names
    /// a kept one
    #[test]
    fn the_result_is_that_of_a_dictionary(
        seed in any::<u64>(),
        count in 1usize..150,
        references in 0usize..60,
        distance in 0u32..16,
        threads in 1usize..4,
        against_only in any::<bool>(),
        is_alone in any::<bool>(),
    ) {
        let references = references.saturating_sub(20).min(count - 1);
        let (all, pages) = captures(seed, count);
        let mut job = by_url(if is_alone { UrlRule::Only } else { UrlRule::First });
        job.method = Spec::parse(&format!("simhash:distance={distance},stop-words=keep")).unwrap();
        job.against_only = against_only && references > 0;
        let expected = naive(&job, &all, &pages, references);
        let (directory, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let [old, new] = ["old", "new"].map(|name| directory.path().join(name));
        write(&old, Form::Jsonl, &all[..references]);
        write(&new, Form::JsonlGzip, &all[references..]);
        let against = if references > 0 { from_ref(&old) } else { &[] };
        let (resources, progress) = (resources(threads, out.path()), Progress::new());
        run(&job, from_ref(&new), against, out.path(), &resources, &progress).unwrap();
        check(out.path());
        let found = dropped(&lines(&out.path().join("duplicates.jsonl")));
        prop_assert_eq!(comparable(found.clone()), comparable(expected));
        // A kept document is not dropped itself.
        let gone: BTreeSet<&str> = found.iter().map(|found| &found.0[..]).collect();
        prop_assert!(found.iter().all(|found| !gone.contains(&found.1[..])));
        let summary = fs::read(out.path().join("summary.json")).unwrap();
        let summary: Value = serde_json::from_slice(&summary).unwrap();
        let of_urls = found.iter().filter(|found| found.2 == "url").count();
        prop_assert_eq!(&summary["dropped_by"]["url"], of_urls);
    }
}

/// Each group has its own newest document.
/// Promise (Deduplication): The method `url` keeps the newest …
#[test]
fn groups_are_compared_alone() {
    for url in [UrlRule::First, UrlRule::Only] {
        let (all, pages) = captures(11, 300);
        let directory = tempfile::tempdir().unwrap();
        let paths: Vec<PathBuf> = (0..3)
            .map(|number| {
                let path = directory.path().join(format!("{number}.jsonl"));
                write(&path, Form::Jsonl, &all[100 * number..100 * (number + 1)]);
                path
            })
            .collect();
        let mut job = by_url(url);
        job.within = Scope::Source;
        let found = dropped(&crate::dump::setup::pairs(&job, &paths, &[], 2));
        let expected: Vec<Dropped> = (0..3)
            .flat_map(|number| {
                let range = 100 * number..100 * (number + 1);
                naive(&job, &all[range.clone()], &pages[range], 0)
            })
            .collect();
        assert_eq!(comparable(found), comparable(expected));
    }
}

fn record(url: &[u8], date: &str, text: &str) -> Vec<u8> {
    let page = format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n{text}");
    let head = format!(
        "\r\nWARC-Type: response\r\nWARC-Date: {date}\r\nWARC-Record-ID: <urn:{text}>\r\n\
         Content-Type: application/http\r\nContent-Length: {}\r\n\r\n{page}\r\n\r\n",
        page.len()
    );
    [b"WARC/1.0\r\nWARC-Target-URI: ", url, head.as_bytes()].concat()
}

/// Several captures of pages in a web archive, with any bytes in their URLs.
/// Promise (Deduplication): The method `url` keeps the newest …
#[test]
fn the_newest_capture_of_an_archive_stays() {
    let long = [&b"http://a.example/"[..], &[b'x'; 40_000], b"/../%41"].concat();
    let other = [&b"http://A.example/"[..], &[b'x'; 40_000], b"/../A"].concat();
    let captures: [(&[u8], &str, &str); 12] = [
        (b"http://a.example/", "2020-01-01T00:00:00Z", "a1"),
        (b"http://A.example:80", "2022-01-01T00:00:00Z", "a3"),
        (b"<http://a.example/#x>", "2021-01-01T00:00:00Z", "a2"),
        (b"http://a.example/\xff\xfe", "2020-01-01T00:00:00Z", "b1"),
        (b"http://a.example/%ff%FE", "2020-01-01T00:00:01Z", "b2"),
        (b"http://u:p@[::1]:80/%7E", "2020-01-01T00:00:00Z", "c1"),
        (b"http://u:p@[::1]/~", "2020-01-01T00:00:01Z", "c2"),
        (b"https://a.example/", "2023-01-01T00:00:00Z", "d1"),
        (&long, "2020-01-01T00:00:01Z", "e2"),
        (&other, "2020-01-01T00:00:00Z", "e1"),
        (b"dns:a.example", "2020-01-01T00:00:00Z", "f1"),
        (b"dns:a.example", "2020-01-01T00:00:00Z", "f2"),
    ];
    let archive: Vec<u8> = captures
        .iter()
        .flat_map(|(url, date, text)| record(url, date, text))
        .collect();
    let (_directory, path) = file(&archive);
    let mut job = by_url(UrlRule::Only);
    job.write = WriteMode::Kept;
    job.page = true;
    let (summary, out, files) = written(&job, from_ref(&path));
    let found = dropped(&lines(&out.path().join("duplicates.jsonl")));
    let of = |id: &str| id.trim_start_matches("urn:").to_owned();
    let found: Vec<(String, String)> = found
        .iter()
        .map(|found| (of(&found.0), of(&found.1)))
        .collect();
    let expected = [
        ("a1", "a3"),
        ("a2", "a3"),
        ("b1", "b2"),
        ("c1", "c2"),
        ("e1", "e2"),
    ];
    let expected = expected.map(|(id, kept)| (id.to_owned(), kept.to_owned()));
    assert_eq!(
        found.iter().cloned().collect::<BTreeSet<_>>(),
        expected.into_iter().collect()
    );
    let kept: Vec<u8> = captures
        .iter()
        .filter(|(.., text)| !found.iter().any(|(id, _)| id == text))
        .flat_map(|(url, date, text)| record(url, date, text))
        .collect();
    assert_eq!(files[0], kept);
    let warnings: Vec<&str> = summary
        .warnings
        .iter()
        .map(|warning| &warning.message[..])
        .collect();
    let expected = "method url: 2 of 12 documents have no absolute URL with a host; none of them is \
                    dropped by it";
    assert_eq!(warnings, [expected]);
    let page = fs::read_to_string(out.path().join("page.html")).unwrap();
    for part in [
        "the same URL as a newer document",
        "5 have the same URL as a newer document",
    ] {
        assert!(page.contains(part), "{part}");
    }
}

/// The texts of captures differ. If the newest is dropped as a copy of another page, the older ones
/// name the document that is kept.
/// Promise (Deduplication): The method `url` keeps the newest …
#[test]
fn a_kept_document_is_named_to_the_end() {
    let words =
        |range: std::ops::Range<u32>| -> String { range.map(|word| format!("w{word} ")).collect() };
    let line = |id: &str, url: &str, date: &str, text: String| {
        let line = json!({"id": id, "url": url, "date": date, "text": text});
        format!("{line}\n")
    };
    let input = line("kept", "http://a.example/", "2020-01-01", words(0..60))
        + &line("first", "http://b.example/", "2020-01-01", words(500..560))
        + &line("newest", "http://b.example/", "2021-01-01", words(1..60))
        + &line("alone", "http://c.example/", "2021-01-01", words(500..560));
    let (_directory, path) = file(input.as_bytes());
    let mut job = by_url(UrlRule::First);
    job.write = WriteMode::Annotated;
    job.pairs = PairForms {
        csv: true,
        parquet: false,
    };
    for clusters in [ClusterRule::Star, ClusterRule::Components] {
        job.clusters = clusters;
        let (_, out, files) = written(&job, from_ref(&path));
        let pairs = lines(&out.path().join("duplicates.jsonl"));
        let of_id = |id: &str| pairs.iter().find(|pair| pair["id"] == id).unwrap();
        assert_eq!(pairs.len(), 2);
        assert_eq!(
            (&of_id("first")["kept"], &of_id("first")["newest"]),
            (&json!("kept"), &json!("newest"))
        );
        assert_eq!(
            (&of_id("newest")["kept"], &of_id("newest")["newest"]),
            (&json!("kept"), &Value::Null)
        );
        assert_eq!(of_id("newest")["method"], "simhash");
        assert_eq!(of_id("first")["cluster_size"], 3);
        let csv = fs::read_to_string(out.path().join("duplicates.csv")).unwrap();
        assert!(
            csv.lines()
                .next()
                .unwrap()
                .ends_with(",newest,newest_base64"),
            "{csv}"
        );
        let written: Vec<Value> = files[0]
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
            .map(|line| serde_json::from_slice(line).unwrap())
            .collect();
        assert_eq!(written[1]["duplicate_of"], "kept");
        assert!(written[1]["duplicate_similarity"].is_null());
        assert!(written[2]["duplicate_similarity"].is_number());
        let summary = fs::read(out.path().join("summary.json")).unwrap();
        let summary: Value = serde_json::from_slice(&summary).unwrap();
        let by = json!({"exact": 0, "normalized": 0, "simhash": 1, "url": 1});
        assert_eq!(summary["dropped_by"], by);
        assert_eq!(summary["settings"]["method"], "url then simhash");
        assert_eq!(summary["largest_clusters"][0]["same_url"], 1);
    }
}

/// An older capture is not a further copy; other members are, in keep order.
#[test]
fn copies_are_not_captures() {
    let (all, _) = captures(4, 300);
    let (_directory, path) = file(b"");
    write(&path, Form::Jsonl, &all);
    let mut job = by_url(UrlRule::First);
    job.keep = Policy::Longest.into();
    let one = dropped(&crate::dump::setup::pairs(&job, from_ref(&path), &[], 2));
    job.keep_copies = 2;
    let two = dropped(&crate::dump::setup::pairs(&job, from_ref(&path), &[], 2));
    let of_urls = |found: &[Dropped]| -> Vec<Dropped> {
        found
            .iter()
            .filter(|found| found.2 == "url")
            .cloned()
            .collect()
    };
    assert_eq!(of_urls(&one), of_urls(&two));
    assert!(two.len() < one.len() && of_urls(&two).len() < two.len());
}

/// Promise (Deduplication): The method `url` keeps the newest …
#[test]
fn documents_lack_urls_and_dates() {
    let line = |id: u32, url: &str, date: &str| {
        let line = json!({"id": id, "url": url, "date": date, "text": format!("text {id}")});
        format!("{line}\n")
    };
    let none = "method url: no document has an absolute URL with a host, so none is dropped by it";
    let undated = "method url: no document has a date that can be read, so of each URL the last one \
                   in the input stays";
    let some = "method url: 1 of 3 documents with a URL have no date that can be read; they count as \
                the oldest";
    let url = "http://a.example/";
    let cases = [
        (
            [("", ""), ("x", ""), ("/", "2020-01-01")],
            vec![none],
            vec![],
        ),
        (
            [(url, ""), (url, "soon"), (url, "")],
            vec![undated],
            vec!["0", "1"],
        ),
        (
            [(url, "2020-01-01"), (url, ""), (url, "2019-01-01")],
            vec![some],
            vec!["1", "2"],
        ),
        (
            [
                (url, "2020-01-01"),
                (url, "2020-01-01"),
                (url, "2019-01-01"),
            ],
            vec![],
            vec!["0", "2"],
        ),
    ];
    let kept = DedupJob {
        write: WriteMode::Kept,
        ..by_url(UrlRule::Only)
    };
    for (documents, warnings, expected) in cases {
        let numbered = documents.iter().zip(0..);
        let input: String = numbered
            .map(|((url, date), id)| line(id, url, date))
            .collect();
        let (_directory, path) = file(input.as_bytes());
        let (summary, out, _) = written(&kept, from_ref(&path));
        let found: Vec<&str> = summary
            .warnings
            .iter()
            .map(|warning| &warning.message[..])
            .collect();
        assert_eq!(found, warnings);
        let dropped = dropped(&lines(&out.path().join("duplicates.jsonl")));
        let ids: Vec<&str> = dropped.iter().map(|found| &found.0[..]).collect();
        assert_eq!(ids, expected);
    }
}

/// Promise (Deduplication): The method `url` keeps the newest …
#[test]
fn the_output_does_not_depend_on_memory_and_threads() {
    let (all, _) = captures(21, 3000);
    let (_directory, path) = file(b"");
    write(&path, Form::JsonlZstd, &all);
    for url in [UrlRule::First, UrlRule::Only] {
        let mut job = by_url(url);
        job.write = WriteMode::Kept;
        job.page = true;
        let outputs = [(1, 1), (3, 1), (2, 20)].map(|(threads, factor)| {
            let out = tempfile::tempdir().unwrap();
            let mut resources = resources(threads, out.path());
            resources.memory_bytes *= factor;
            let (inputs, progress) = (from_ref(&path), Progress::new());
            run(&job, inputs, &[], out.path(), &resources, &progress).unwrap();
            check(out.path());
            contents(out.path())
        });
        assert!(outputs.iter().all(|output| *output == outputs[0]));
    }
}

#[test]
fn settings_about_copies_of_a_text_are_refused() {
    let (_directory, path) = file(b"{\"text\": \"one\"}\n");
    type Spoil = fn(&mut DedupJob);
    let spoils: [(UrlRule, Spoil, &str); 3] = [
        (
            UrlRule::First,
            |job| job.drop_all = true,
            "url keeps the newest document",
        ),
        (
            UrlRule::Only,
            |job| job.drop_all = true,
            "url keeps the newest document",
        ),
        (
            UrlRule::Only,
            |job| job.keep_copies = 2,
            "url compares no texts",
        ),
    ];
    for (url, spoil, part) in spoils {
        let mut job = by_url(url);
        spoil(&mut job);
        let message = refused_setting(&job, &path);
        assert!(message.contains(part), "{message}");
    }
}
