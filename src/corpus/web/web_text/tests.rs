use super::*;
use crate::corpus::web::warc::{Next, next_record};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::PathBuf;

const MOST: u64 = 4 << 20;

fn record<'a>(kind: Kind, content_type: &'a str, body: &'a [u8]) -> Record<'a> {
    Record {
        raw: body,
        kind,
        id: b"",
        url: b"",
        date: b"",
        content_type: content_type.as_bytes(),
        body,
    }
}

fn text_of(record: &Record<'_>) -> Option<String> {
    let mut web = WebText::new(HtmlText::Visible, MOST);
    let is_document = web.is_document(record);
    let text = web.text(record).unwrap();
    assert!(is_document || text.text.is_empty());
    is_document.then(|| String::from_utf8(text.text.to_vec()).unwrap())
}

fn response(message: &str) -> Option<String> {
    text_of(&record(
        Kind::Response,
        "application/http; msgtype=response",
        message.as_bytes(),
    ))
}

#[test]
fn which_responses_are_documents() {
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(
        response("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>a"),
        some("a")
    );
    assert_eq!(
        response("HTTP/1.1 404\r\nContent-Type: TEXT/HTML;charset=x\r\n\r\n<p>a"),
        some("a")
    );
    assert_eq!(
        response("HTTP/1.1 200\r\ncontent-type: application/xhtml+xml\r\n\r\n<p>a"),
        some("a")
    );
    assert_eq!(
        response("HTTP/1.1 200\r\ncontent-type: text/plain\r\n\r\n<p> a"),
        some("<p> a")
    );
    assert_eq!(
        response("HTTP/1.1 200\r\ncontent-type: text/css\r\n\r\n<p>a"),
        None
    );
    assert_eq!(
        response("HTTP/1.1 200\r\n\r\n \n<!doctype html><p>a"),
        some("a")
    );
    assert_eq!(
        response("HTTP/1.1 200\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n<p>a\r\n0\r\n\r\n"),
        some("a")
    );
    assert_eq!(response("HTTP/1.1 200\r\n\r\n\u{feff}a < b"), None);
    // Chunks that are none.
    let message =
        "HTTP/1.1 200\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n<p>a";
    assert_eq!(response(message), some("a"));
    // A lost head.
    assert_eq!(response("<html>a"), some("a"));
    assert_eq!(response("GIF89a"), None);
}

#[test]
fn which_other_records_are_documents() {
    let found = |kind, content_type| text_of(&record(kind, content_type, b"<p>a"));
    assert_eq!(found(Kind::Conversion, "text/plain"), Some("<p>a".into()));
    assert_eq!(found(Kind::Conversion, ""), Some("<p>a".into()));
    assert_eq!(found(Kind::Conversion, "image/png"), None);
    assert_eq!(found(Kind::Resource, "text/html"), Some("a".into()));
    assert_eq!(found(Kind::Resource, ""), Some("a".into()));
    assert_eq!(found(Kind::Resource, "text/dns"), None);
    assert_eq!(found(Kind::Response, "text/dns"), None);
    assert_eq!(found(Kind::Other, "text/html"), None);
}

#[test]
fn large_bodies_are_refused() {
    let body = vec![b'a'; MOST as usize + 1];
    let mut web = WebText::new(HtmlText::Visible, MOST);
    let found = web.text(&record(Kind::Conversion, "text/plain", &body));
    assert_eq!(found.unwrap_err().0, Reason::TooLarge);
    let found = web.text(&record(Kind::Conversion, "text/plain", &body[1..]));
    assert_eq!(found.unwrap().text.len(), MOST as usize);
}

proptest! {
    #[test]
    fn nothing_panics(
        head in "(HTTP/1.1 200\n)?((Content-Type: text/(html|plain)(; charset=(gbk|utf-16|x))?|Content-Encoding: (gzip|br|deflate|zstd)|Transfer-Encoding: chunked)\n){0,3}\n?",
        body in prop::collection::vec(prop_oneof![any::<u8>(), prop::sample::select(&b"<p>3\r\n0&;"[..])], 0..100),
    ) {
        let message = [head.as_bytes(), &body].concat();
        let mut web = WebText::new(HtmlText::Main, 1000);
        for (kind, content_type) in [(Kind::Response, "application/http"), (Kind::Conversion, "")] {
            if let Ok(found) = web.text(&record(kind, content_type, &message)) {
                prop_assert!(std::str::from_utf8(found.text).is_ok());
            }
        }
    }
}

/// The test archives of public projects, where they are present.
fn archive(name: &str) -> Option<Vec<u8>> {
    let directory = std::env::var_os("SIMTOOL_DATA_DIR")?;
    let path = PathBuf::from(directory).join("warc").join(name);
    let mut bytes = std::fs::read(path).unwrap();
    if name.ends_with(".gz") {
        let members = std::mem::take(&mut bytes);
        flate2::bufread::MultiGzDecoder::new(&members[..])
            .read_to_end(&mut bytes)
            .unwrap();
    }
    Some(bytes)
}

/// The records, and where damage stands and what it is.
fn pieces(archive: &[u8]) -> (Vec<Record<'_>>, Vec<(usize, usize, String)>) {
    let (mut found, mut damage) = (Vec::new(), Vec::new());
    let mut at = 0;
    loop {
        match next_record(&archive[at..], true) {
            Next::Record(record) => {
                at += record.raw.len();
                found.push(record);
            }
            Next::Damaged {
                resume_at, detail, ..
            } => {
                damage.push((at, resume_at, detail));
                at += resume_at;
            }
            Next::Incomplete { .. } => panic!("nothing follows"),
            Next::End => return (found, damage),
        }
    }
}

fn records(archive: &[u8]) -> Vec<Record<'_>> {
    let (found, damage) = pieces(archive);
    assert_eq!(damage, []);
    let raws: Vec<_> = found.iter().map(|record| record.raw).collect();
    assert_eq!(raws.concat(), archive);
    found
}

fn texts(archive: &[u8], which: HtmlText) -> Vec<String> {
    let mut web = WebText::new(which, MOST);
    let records = records(archive);
    let documents: Vec<_> = records
        .iter()
        .filter(|record| web.is_document(record))
        .collect();
    let text = |record: &Record<'_>| web.text(record).unwrap().text.to_vec();
    documents
        .into_iter()
        .map(text)
        .map(|text| String::from_utf8(text).unwrap())
        .collect()
}

#[test]
fn a_crawl_of_177_pages_of_which_106_are_distinct() {
    let Some(archive) = archive("aut-example.warc.gz") else {
        return;
    };
    let records = records(&archive);
    let responses = records
        .iter()
        .filter(|record| record.kind == Kind::Response);
    assert_eq!(responses.count(), 299);
    let web = WebText::new(HtmlText::Visible, MOST);
    let pages: Vec<_> = records
        .iter()
        .filter(|record| web.is_document(record))
        .collect();
    assert_eq!(pages.len(), 177);
    // Distinct are the bodies as they were sent; one of them is empty.
    let bodies: BTreeSet<_> = pages
        .iter()
        .map(|page| Message::split(page.body).unwrap().body)
        .collect();
    assert_eq!(bodies.len(), 106);
    // Equal bodies have equal texts.
    for which in [HtmlText::Visible, HtmlText::Main] {
        let mut web = WebText::new(which, MOST);
        let mut seen = BTreeMap::new();
        for page in &pages {
            let body = Message::split(page.body).unwrap().body;
            let text = web.text(page).unwrap().text.to_vec();
            assert_eq!(seen.entry(body).or_insert_with(|| text.clone()), &text);
        }
        let distinct: BTreeSet<_> = seen.values().collect();
        println!("{which:?}: {} distinct texts", distinct.len());
    }
}

#[test]
fn a_page_and_its_conversion_agree() {
    let (Some(page), Some(conversion)) = (
        archive("cc-whirlwind.warc.gz"),
        archive("cc-whirlwind.warc.wet.gz"),
    ) else {
        return;
    };
    let (page, conversion) = (
        texts(&page, HtmlText::Visible),
        texts(&conversion, HtmlText::Visible),
    );
    assert_eq!((page.len(), conversion.len()), (1, 1));
    let words = |text: &str| -> BTreeSet<String> {
        text.split(|c: char| !c.is_alphanumeric())
            .map(str::to_lowercase)
            .collect()
    };
    let (page, conversion) = (words(&page[0]), words(&conversion[0]));
    let shared = page.intersection(&conversion).count();
    let all = page.union(&conversion).count();
    println!("{shared} of {all} words");
    assert!(
        shared * 100 >= all * 90,
        "{shared} of {all}: {:?}",
        page.symmetric_difference(&conversion)
    );
}

#[test]
fn odd_archives() {
    let example = "This domain is established to be used for illustrative examples in documents.";
    for name in [
        "warcio-example.warc.gz",
        "warcio-example-bad-non-chunked.warc.gz",
    ] {
        let Some(archive) = archive(name) else { return };
        let texts = texts(&archive, HtmlText::Visible);
        assert_eq!(texts.len(), 1, "{name}");
        assert!(texts[0].contains(example), "{name}: {texts:?}");
    }
    let Some(archive) = archive("ukwa-transfer_compression_brotli.warc.gz") else {
        return;
    };
    let texts = texts(&archive, HtmlText::Visible);
    assert_eq!(texts.len(), 1);
    assert!(texts[0].is_ascii() && texts[0].len() > 20, "{texts:?}");
    println!("{texts:?}");
}

#[test]
fn a_record_cut_short_is_lost_alone() {
    let Some(archive) = archive("warcio-example-trunc.warc") else {
        return;
    };
    // The response's Content-Length is two bytes short of its block.
    let (found, damage) = pieces(&archive);
    let kinds: Vec<_> = found.iter().map(|record| record.kind).collect();
    assert_eq!(kinds, [Kind::Other; 3]);
    let places: Vec<_> = damage
        .iter()
        .map(|(at, length, _)| (*at, *length))
        .collect();
    assert_eq!(places, [(1197, 1363), (2560, 6)], "{damage:?}");
}
