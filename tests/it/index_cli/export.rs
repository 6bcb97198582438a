//! `simtool index export`: which document is a copy of which, and how often each text was seen.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::words;
use crate::sandbox::{Sandbox, json_lines};

/// A document of a file of a dump.
struct Added {
    id: String,
    file: String,
    site: Option<String>,
    dump: String,
}

/// Three dumps of two files: texts of ten families in several editions, with hosts of some, and short
/// and empty ones. Returns the files of each dump, and all documents in the order of addition.
fn dumps(sandbox: &Sandbox) -> (Vec<String>, Vec<Added>) {
    let (mut commands, mut all) = (Vec::new(), Vec::new());
    for dump in 0..3_u64 {
        let mut files = Vec::new();
        for file in 0..2 {
            let name = format!("{dump}-{file}.jsonl");
            let mut lines = String::new();
            for number in 0..40_u64 {
                let seed = dump * 97 + file * 53 + number * 7;
                let family = seed % 11;
                let text = match seed % 6 {
                    0 => words(family, 60),
                    1 => words(family, 60).to_uppercase(),
                    2 => words(family, 60) + "more",
                    3 => words(family, 50) + &words(seed, 3),
                    4 => words(1000 + seed, 30),
                    _ => ["", "only four words here", "w1 w2"][family as usize % 3].to_owned(),
                };
                let id = format!("{dump}-{file}-{number}");
                let site = (seed % 5 != 0).then(|| format!("host{}.example", seed % 4));
                let url = site.as_ref().map(|site| format!("http://{site}/{number}"));
                lines += &(json!({"id": id, "text": text, "url": url}).to_string() + "\n");
                all.push(Added {
                    id,
                    file: name.clone(),
                    site,
                    dump: dump.to_string(),
                });
            }
            sandbox.write(&name, lines);
            files.push(name);
        }
        commands.push(files.join(" "));
    }
    (commands, all)
}

/// The rows by the answers to the additions.
fn expected(all: &[Added], answers: &[Value]) -> Vec<Value> {
    let numbers: BTreeMap<&str, usize> = (0..)
        .zip(all)
        .map(|(number, one)| (one.id.as_str(), number))
        .collect();
    let kept = |number: usize| match answers[number]["matches"][0]["id"].as_str() {
        Some(kept) => numbers[kept],
        None => number,
    };
    let row = |(number, one): (usize, &Added)| {
        let cluster = kept(number);
        let members: Vec<&Added> = (0..)
            .zip(all)
            .filter(|(other, _)| kept(*other) == cluster)
            .map(|(_, member)| member)
            .collect();
        let different = |of: &dyn Fn(&Added) -> Option<String>| {
            let all: BTreeSet<String> = members.iter().filter_map(|one| of(one)).collect();
            all.len()
        };
        let found = &answers[number]["matches"][0];
        let near = found.get("shingles");
        let is_copy = cluster != number;
        json!({
            "id": one.id,
            "dump": one.dump,
            "kept": !is_copy,
            "of": is_copy.then(|| &all[cluster].id),
            "is_near": near.is_some(),
            "similarity": found["similarity"].as_f64().map(|number| format!("{number:.9}")),
            "shared": near.map(|near| near[0].clone()),
            "shingles": near.map(|near| near[1].clone()),
            "cluster": cluster,
            "size": members.len(),
            "sources": different(&|one| Some(one.file.clone())),
            "sites": different(&|one| one.site.clone()),
            "first_dump": members[0].dump,
            "last_dump": members[members.len() - 1].dump,
            "dumps": different(&|one| Some(one.dump.clone())),
        })
    };
    all.iter().enumerate().map(row).collect()
}

/// Rows of an export in the form of the expected ones.
fn comparable(rows: &[Value], method: &str) -> Vec<Value> {
    let comparable = |row: &Value| {
        let mut row = row.as_object().unwrap().clone();
        let found = row.remove("method").unwrap();
        assert!(
            [
                json!("exact"),
                json!("normalized"),
                json!(method),
                Value::Null
            ]
            .contains(&found),
            "{found}"
        );
        row.insert("is_near".to_owned(), json!(found == method));
        let similarity = row["similarity"].as_f64();
        let similarity = similarity.map(|number| format!("{number:.9}"));
        row.insert("similarity".to_owned(), json!(similarity));
        assert_eq!(row.remove("id_base64"), Some(Value::Null));
        assert_eq!(row.remove("payload"), Some(Value::Null));
        // Without another order, the first copy is the best.
        assert_eq!(row.remove("best").as_ref(), row.get("kept"));
        Value::Object(row)
    };
    rows.iter().map(comparable).collect()
}

/// Promise (The index): An export has a row for each document, with the document of which it is a
/// copy, the evidence, and the counts of its cluster: documents, sources, sites and dumps; as JSON
/// Lines and as Parquet
#[test]
fn rows_are_those_of_the_decisions() {
    for (method, flags) in [("minhash", ""), ("simhash", "--method simhash")] {
        let sandbox = Sandbox::new();
        let (commands, all) = dumps(&sandbox);
        sandbox.write("nothing.jsonl", "");
        sandbox.stdout(&format!("index build seen nothing.jsonl {flags}"));
        let mut answers = Vec::new();
        for (dump, files) in commands.iter().enumerate() {
            sandbox.stdout(&format!(
                "index add seen {files} --dump {dump} --limit 1 -o answers"
            ));
            answers.extend(sandbox.lines("answers"));
        }
        assert_eq!(answers.len(), all.len());
        let expected = expected(&all, &answers);
        let near = expected.iter().filter(|row| row["is_near"] == true);
        assert!(near.count() > 20, "{method}");

        let rows = json_lines(&sandbox.stdout("index export seen"));
        assert_eq!(comparable(&rows, method), expected, "{method}");
        let told = sandbox.stdout("index export seen -o rows.jsonl");
        assert_eq!(told, format!("{} documents written\n", all.len()));
        assert_eq!(sandbox.lines("rows.jsonl"), rows, "{method}");

        for (flags, is_wanted) in [
            ("--kept", (|row| row["kept"] == true) as fn(&Value) -> bool),
            ("--min-sources 3", |row| {
                row["sources"].as_u64().unwrap() >= 3
            }),
            ("--kept --min-sources 2", |row| {
                row["kept"] == true && row["sources"].as_u64().unwrap() >= 2
            }),
        ] {
            let found = json_lines(&sandbox.stdout(&format!("index export seen {flags}")));
            let wanted: Vec<Value> = rows.iter().filter(|row| is_wanted(row)).cloned().collect();
            assert!(!wanted.is_empty() && wanted.len() < rows.len(), "{flags}");
            assert_eq!(found, wanted, "{method} {flags}");
        }
        #[cfg(feature = "parquet")]
        assert_eq!(
            comparable(&table(&sandbox, "rows.parquet"), method),
            expected,
            "{method}"
        );

        // Merges change nothing.
        sandbox.stdout("index compact seen");
        assert_eq!(json_lines(&sandbox.stdout("index export seen")), rows);
    }
}

/// The rows of a Parquet file that `index export` writes.
#[cfg(feature = "parquet")]
fn table(sandbox: &Sandbox, name: &str) -> Vec<Value> {
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
    use arrow_array::{Array, RecordBatch};
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

    fn rows(batch: &RecordBatch) -> Vec<Value> {
        let names: Vec<String> = batch
            .schema()
            .fields()
            .iter()
            .map(|field| field.name().clone())
            .collect();
        let value = |column: &dyn Array, row: usize| {
            if column.is_null(row) {
                return Value::Null;
            }
            if let Some(texts) = column.as_string_opt::<i32>() {
                return json!(texts.value(row));
            }
            if let Some(texts) = column.as_string_opt::<i64>() {
                return json!(texts.value(row));
            }
            if let Some(flags) = column.as_boolean_opt() {
                return json!(flags.value(row));
            }
            if let Some(numbers) = column.as_primitive_opt::<Float64Type>() {
                return json!(numbers.value(row));
            }
            if let Some(numbers) = column.as_primitive_opt::<UInt64Type>() {
                return json!(numbers.value(row));
            }
            json!(column.as_primitive::<Int64Type>().value(row))
        };
        let row = |row: usize| {
            let named = names.iter().cloned();
            let values = batch.columns().iter().map(|column| value(column, row));
            Value::Object(named.zip(values).collect::<Map<_, _>>())
        };
        (0..batch.num_rows()).map(row).collect()
    }

    let told = sandbox.stdout(&format!("index export seen -o {name}"));
    assert!(told.ends_with(" documents written\n"), "{told}");
    let file = std::fs::File::open(sandbox.path(name)).unwrap();
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
    let batches = builder.build().unwrap();
    batches.flat_map(|batch| rows(&batch.unwrap())).collect()
}

/// Promise (The index): With `--signatures`, every similarity of a near document is called
/// estimated, and has no counts of shingles
#[test]
fn estimates_are_called_so() {
    let sandbox = Sandbox::new();
    let (commands, _) = dumps(&sandbox);
    sandbox.stdout(&format!(
        "index build seen {} --dump 0 --signatures",
        commands[0]
    ));
    let asked = sandbox.stdout(&format!("index query seen {} --limit 3", commands[1]));
    sandbox.stdout(&format!(
        "index add seen {} --dump 1 --signatures -o added",
        commands[1]
    ));
    let mut near = 0;
    for answer in json_lines(&asked).iter().chain(&sandbox.lines("added")) {
        for found in answer["matches"].as_array().unwrap() {
            assert_eq!(found.get("shingles"), None, "{found}");
            let is_near = found.get("estimate").is_some();
            assert_eq!(found.get("estimated"), is_near.then_some(&json!(true)));
            near += u32::from(is_near);
        }
    }
    assert!(near > 20);
    for row in json_lines(&sandbox.stdout("index export seen")) {
        assert_eq!([&row["shared"], &row["shingles"]], [&Value::Null; 2]);
        assert_eq!(row["similarity"].is_null(), row["kept"] == true, "{row}");
    }
    let info: Value = serde_json::from_str(&sandbox.stdout("index info seen --json")).unwrap();
    assert_eq!(
        (&info["estimated"], &info["dumps"]),
        (&json!(true), &json!(["0", "1"]))
    );
    sandbox.stderr(&format!("dedup {} --against seen -o out", commands[1]));
    let known = sandbox.lines("out/duplicates.jsonl");
    let known = known.iter().filter(|pair| pair["kept_file"].is_null());
    let near = known.filter(|pair| pair["method"] == "minhash");
    let near: Vec<&Value> = near.collect();
    assert!(!near.is_empty());
    for pair in near {
        assert_eq!([&pair["shared"], &pair["shingles"]], [&Value::Null; 2]);
        assert!(pair["similarity"].is_number(), "{pair}");
    }
    // An index of whole sets is none of signatures.
    sandbox.stdout(&format!("index build whole {}", commands[0]));
    sandbox.refuse(
        &format!("index add whole {} --signatures", commands[1]),
        &["whole sets of shingles", "leave --signatures out"],
    );
}
