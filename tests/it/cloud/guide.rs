//! Every command of the pages about inputs on servers runs, with the test server in the place of
//! others; the command that writes objects is in tests/it/uploads.

use std::fs;
use std::path::Path;

use crate::cloud::{gzip, lines, run};
use crate::sandbox::{Sandbox, stderr};
use simtool_testing::server::Server;

const PAGES: [&str; 2] = [
    "docs/how-to/common-crawl.md",
    "docs/how-to/read-object-stores.md",
];

/// Promise (Inputs on servers): Commands of the pages about inputs on servers run
#[test]
fn commands_of_the_pages_run() {
    let server = Server::start();
    let list = "crawl-data/CC-MAIN-2025-05/wet.paths.gz";
    let names: String = (0..12)
        .map(|number| format!("crawl-data/{number}.jsonl\n"))
        .collect();
    server.add(list, &gzip(names.as_bytes(), usize::MAX));
    for number in 0..12 {
        server.add(&format!("crawl-data/{number}.jsonl"), lines(40).as_bytes());
    }
    server.add("bucket/crawl/a.jsonl.gz", &gzip(lines(40).as_bytes(), 999));
    server.add("data/a.jsonl", lines(40).as_bytes());
    server.add("pages.warc.gz", &gzip(lines(40).as_bytes(), 999));
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = |page: &str| fs::read_to_string(root.join(page)).unwrap();
    let pages = PAGES.map(text).concat().replace("\\\n", " ");
    let address = server.url("");
    let sandbox = Sandbox::new();
    let mut commands = 0;
    for line in pages
        .lines()
        .filter_map(|line| line.strip_prefix("simtool "))
    {
        if line.starts_with("index") && !cfg!(feature = "index") {
            continue;
        }
        let line = line
            .replace("https://data.commoncrawl.org/", &address)
            .replace("https://host/", &address);
        let assert = run(&sandbox, &server, &line);
        assert!(
            assert.get_output().status.success(),
            "{line}: {}",
            stderr(&assert)
        );
        commands += 1;
    }
    assert!(commands >= 6);
}
