//! Every command of docs/CLOUD.md that writes local files runs, with the test server in the place of
//! others; the one that writes objects is in tests/it/uploads.

use std::fs;
use std::path::Path;

use crate::cloud::{gzip, lines, run};
use crate::sandbox::{Sandbox, stderr};
use simtool_testing::server::Server;

/// Promise (Inputs on servers): Commands of docs/CLOUD.md run
#[test]
fn commands_of_the_page_run() {
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
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/CLOUD.md");
    let page = fs::read_to_string(page).unwrap().replace("\\\n", " ");
    let root = server.url("");
    let sandbox = Sandbox::new();
    let mut commands = 0;
    for line in page
        .lines()
        .filter_map(|line| line.strip_prefix("simtool "))
        .filter(|line| !line.contains("-o s3://"))
    {
        if line.starts_with("index") && !cfg!(feature = "index") {
            continue;
        }
        let line = line
            .replace("https://data.commoncrawl.org/", &root)
            .replace("https://host/", &root);
        let assert = run(&sandbox, &server, &line);
        assert!(
            assert.get_output().status.success(),
            "{line}: {}",
            stderr(&assert)
        );
        commands += 1;
    }
    assert!(commands >= 4);
}
