//! Copies of an index in use.

use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use serde_json::json;

use crate::serve::client::{Service, words};
use simtool_testing::wait::wait_until;

/// A copy has all additions that were acknowledged before its request, while others are added.
/// Promise (The service): A copy made during additions has everything acknowledged before; a failed
/// copy leaves nothing
#[test]
fn a_copy_has_all_additions_acknowledged_before() {
    let temporary = tempfile::tempdir().unwrap();
    let copies = temporary.path().join("copies");
    std::fs::create_dir(&copies).unwrap();
    let service = Service::start(&format!("--copies {}", copies.display()));
    let acknowledged = Mutex::new(Vec::new());
    let count = || acknowledged.lock().unwrap().len();
    let stop = AtomicBool::new(false);
    let mut before = Vec::new();
    thread::scope(|scope| {
        for caller in 0..4_u64 {
            let (service, acknowledged, stop) = (&service, &acknowledged, &stop);
            scope.spawn(move || {
                for number in 0.. {
                    if stop.load(Ordering::Relaxed) {
                        return;
                    }
                    let id = format!("{caller}-{number}");
                    let text = words(caller * 1_000_000 + number, 20);
                    let body = json!({"text": text, "id": id, "add": true});
                    assert_eq!(service.seen(&body)["added"], true);
                    acknowledged.lock().unwrap().push(id);
                }
            });
        }
        for name in ["first", "second"] {
            let least = count() + 100;
            wait_until("some additions", || count() > least);
            let known = acknowledged.lock().unwrap().clone();
            let made = service.post("/v1/copies", &json!({"name": name}));
            assert_eq!((made.status, made.json()), (200, json!({"name": name})));
            before.push((name, known));
        }
        stop.store(true, Ordering::Relaxed);
    });
    let all = count() as u64;
    for (name, known) in before {
        let copy = copies.join(name);
        let check = Command::new(env!("CARGO_BIN_EXE_simtool"))
            .args(["index", "check"])
            .arg(&copy)
            .output()
            .unwrap();
        assert!(check.status.success(), "{check:?}");
        let copied = Service::of(&copy, "--read-only");
        for id in &known {
            let path = format!("/v1/documents/{id}");
            assert_eq!(copied.get(&path).status, 200, "{id} in {name}");
        }
        let documents = copied.get("/v1/stats").json()["documents"]
            .as_u64()
            .unwrap();
        assert!((known.len() as u64..=all).contains(&documents));
    }
}

/// Promise (The service): A copy made during additions has …
#[test]
fn invalid_copies_are_refused() {
    let temporary = tempfile::tempdir().unwrap();
    std::fs::create_dir(temporary.path().join("taken")).unwrap();
    std::fs::write(temporary.path().join("taken/mine"), "").unwrap();
    std::fs::write(temporary.path().join("file"), "").unwrap();
    let without = Service::start("");
    without
        .post("/v1/copies", &json!({"name": "a"}))
        .problem(404, "no-copies");
    // Links may lead out of the directory.
    let elsewhere = tempfile::tempdir().unwrap();
    let link = |name: &str, to: &std::path::Path| {
        std::os::unix::fs::symlink(to, temporary.path().join(name)).unwrap();
    };
    link("dangling", &elsewhere.path().join("nothing"));
    link("empty", elsewhere.path());
    let service = Service::start(&format!("--copies {}", temporary.path().display()));
    let ask = |name: &str| service.post("/v1/copies", &json!({"name": name}));
    for name in ["taken", "file", "dangling", "empty"] {
        let refused = ask(name);
        refused.problem(409, "copy-exists");
        let path = temporary.path().display().to_string();
        assert!(!refused.text().contains(&path), "{}", refused.text());
    }
    assert_eq!(elsewhere.path().read_dir().unwrap().count(), 0);
    assert_eq!(ask("new").status, 200);
    ask("new").problem(409, "copy-exists");
    for name in ["", ".new", "../new", "a/b", "a b"] {
        ask(name).problem(400, "bad-name");
    }
    service
        .post("/v1/copies", &json!({"name": "a", "to": "b"}))
        .problem(400, "bad-json");
    service
        .ask("POST", "/v1/copies", "", b"{\"name\":\"\xff\"}")
        .problem(400, "bad-json");
    assert!(temporary.path().join("taken/mine").exists());
}

/// The client gets the reason of a failure, and the log of the service gets the path.
/// Promise (The service): A failed copy names no path of the server to its client; standard error
/// of the service does
#[test]
fn a_failed_copy_names_no_path_to_clients() {
    for (flags, start) in [("", "simtool: copy: "), ("--log json", "{\"time\":")] {
        let temporary = tempfile::tempdir().unwrap();
        let copies = temporary.path().join("copies");
        std::fs::create_dir(&copies).unwrap();
        let service = Service::start(&format!("--copies {} {flags}", copies.display()));
        // Even the superuser cannot create files in it.
        std::fs::remove_dir(&copies).unwrap();
        std::fs::write(&copies, "").unwrap();
        let refused = service.post("/v1/copies", &json!({"name": "a"}));
        refused.problem(500, "internal");
        let detail = refused.json()["detail"].as_str().unwrap().to_owned();
        assert!(detail.starts_with("no copy was made ("), "{detail}");
        assert!(detail.contains("standard error"), "{detail}");
        let path = temporary.path().display().to_string();
        assert!(!refused.text().contains(&path), "{}", refused.text());
        let (_, stderr) = service.end();
        let line = stderr.lines().find(|line| line.contains(&path)).unwrap();
        assert!(line.starts_with(start), "{stderr}");
    }
}
