//! Every command refuses remote addresses that it does not read, and writes nothing.

use crate::sandbox::Sandbox;

const TEXT: &str = "{\"id\":\"1\",\"text\":\"one two three four five six seven\"}\n";

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::example();
    sandbox.write("a.jsonl", TEXT);
    sandbox.write("pairs.tsv", "a\tb\tlabel\n");
    #[cfg(feature = "index")]
    sandbox.run("index build seen a.jsonl").success();
    sandbox
}

/// Promise (Complete outputs): A remote address that the command does not read (an output, an
/// index, a file of settings, an unknown scheme) is refused, and no directory of its name is made
#[test]
fn remote_addresses_are_refused_by_every_command() {
    let sandbox = sandbox();
    let mut inputs = vec![
        "dedup ftp://host/x.jsonl -o out",
        "dedup a.jsonl --against ftp://bucket/x -o out",
        "dedup a.jsonl --files-from ftp://bucket/list -o out",
        "dedup a.jsonl --method simhash --stop-words https://host/words -o out",
        "match --articles ftp://bucket/x --samples a.jsonl",
        "match --articles a.jsonl --samples abfss://bucket/x",
        "evaluate ftp://bucket/x --planted",
        "evaluate a.jsonl --pairs https://host/pairs.tsv",
        "evaluate a.jsonl --pairs pairs.tsv --matches s3://bucket/found",
        "tune ftp://datasets/x --planted",
        "explain a b --in ftp://bucket/x",
        "explain --pair s3://bucket/duplicates.jsonl --id 1",
        "100 16 --dir s3://bucket/x",
        "100 16 --hashes https://host/hashvalue.txt",
    ];
    if !cfg!(feature = "cloud") {
        inputs.extend([
            "dedup https://host/x.jsonl -o out",
            "match --articles a.jsonl --samples gs://bucket/x",
            "tune hf://datasets/o/n --planted",
        ]);
    }
    let mut outputs = vec![
        "dedup a.jsonl -o out --temp-dir s3://bucket/x",
        "match --articles a.jsonl --samples a.jsonl -o gs://bucket/x",
        "evaluate a.jsonl --pairs pairs.tsv -o s3://bucket/x",
        "100 16 --output s3://bucket/x",
        "generate --dir s3://bucket/x",
    ];
    let mut indices = Vec::new();
    if cfg!(feature = "index") {
        inputs.extend([
            "index build new ftp://host/x.jsonl",
            "index add seen ftp://host/x.jsonl",
            "index query seen ftp://bucket/x.jsonl",
            "index remove seen --ids s3://bucket/ids",
            "match --against ftp://bucket/seen --samples a.jsonl",
        ]);
        outputs.extend([
            "index add seen a.jsonl -o s3://bucket/x",
            "index query seen a.jsonl --skipped-report s3://bucket/x",
            "index copy seen s3://bucket/x",
            "index rescue seen s3://bucket/x",
        ]);
        indices.extend([
            "index build s3://bucket/seen a.jsonl",
            "index add s3://bucket/seen a.jsonl",
            "index query s3://bucket/seen a.jsonl",
            "index info s3://bucket/seen",
            "index check s3://bucket/seen",
        ]);
    }
    if cfg!(feature = "serve") {
        indices.push("serve s3://bucket/seen");
        outputs.push("serve seen --copies s3://bucket/x");
    }
    for (lines, what, advice) in [
        (inputs, "inputs", "download it first"),
        (outputs, "outputs", "write to a local directory"),
        (indices, "indices", "keep the index in a local directory"),
    ] {
        for line in lines {
            sandbox.refuse(
                line,
                &[&format!("remote {what} ("), "not supported", advice],
            );
        }
    }
}

/// Ids of documents are often URLs.
#[test]
fn addresses_that_are_ids_are_not_refused() {
    let sandbox = Sandbox::new();
    let id = "https://host/a";
    sandbox.write("a.jsonl", TEXT.replace("\"1\"", &format!("\"{id}\"")));
    sandbox
        .run(&format!("explain {id} {id} --in a.jsonl"))
        .success();
    #[cfg(feature = "index")]
    {
        sandbox.run("index build seen a.jsonl").success();
        sandbox.run(&format!("index info seen --id {id}")).success();
        sandbox.run(&format!("index remove seen {id}")).success();
    }
}
