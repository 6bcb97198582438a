//! The answers of every route.

use serde_json::{Value, json};

use crate::sandbox::{Sandbox, json_lines};
use crate::serve::client::{Service, words};

#[test]
fn queries_and_additions_return_verdicts() {
    let service = Service::start("--method simhash:distance=6");
    let text = words(1, 200);
    let new = service.seen(&json!({"text": text, "id": "a"}));
    assert_eq!(
        (&new["verdict"], &new["added"]),
        (&json!("new"), &json!(false))
    );
    assert_eq!(new["matches"], json!([]));

    let body = json!({"text": text, "id": "a", "add": true, "payload": "http://a/"});
    let added = service.seen(&body);
    assert_eq!(
        (&added["verdict"], &added["added"]),
        (&json!("new"), &json!(true))
    );
    let again = service.seen(&body);
    assert_eq!(
        (&again["verdict"], &again["added"]),
        (&json!("unchanged"), &json!(false))
    );

    let near = text.clone() + "more";
    let found = service.seen(&json!({"text": near}));
    assert_eq!(found["verdict"], "duplicate");
    assert_eq!(found["matches"][0]["id"], "a");
    let distance = found["matches"][0]["distance"].as_u64().unwrap();
    assert!(distance <= 6 && found.get("id").is_none());

    // The returned fingerprint can replace the text.
    let by_fingerprint = service.seen(&json!({"fingerprint": found["fingerprint"]}));
    // It has no shingles to verify the match with.
    let mut expected = found.clone();
    let itself = &mut expected["matches"][0];
    assert_eq!(itself["shingles"], json!([196, 197]));
    itself.as_object_mut().unwrap().remove("shingles");
    itself["similarity"] = Value::Null;
    assert_eq!(by_fingerprint, expected);

    // A duplicate is added under its own id; the query string of the URL may also ask for that.
    let answer = service.post("/v1/seen?add=true", &json!({"text": near, "id": "b"}));
    let added = answer.json();
    assert_eq!(
        (&added["verdict"], &added["added"]),
        (&json!("duplicate"), &json!(true))
    );

    let changed = service.seen(&json!({"text": words(2, 200), "id": "b"}));
    assert_eq!(changed["verdict"], "changed");
    assert!(changed["distance"].as_u64().unwrap() > 6);

    let limited = service.seen(&json!({"text": text, "limit": 1}));
    assert_eq!(limited["matches"].as_array().unwrap().len(), 1);
    let itself = json!({"id": "a", "similarity": 1.0});
    assert_eq!(limited["matches"][0], itself);
}

#[test]
fn empty_documents_match_nothing() {
    let service = Service::start("");
    for id in ["a", "b"] {
        let answer = service.seen(&json!({"text": " \n", "id": id, "add": true}));
        assert_eq!(
            (&answer["verdict"], &answer["fingerprint"]),
            (&json!("empty"), &json!(""))
        );
        assert_eq!(
            (&answer["matches"], &answer["added"]),
            (&json!([]), &json!(true))
        );
    }
    let page = service.seen(&json!({"html": "<html><script>x()</script></html>"}));
    assert_eq!(page["verdict"], "empty");
}

#[test]
fn html_is_compared_by_its_text() {
    let service = Service::start("--html visible");
    let text = words(1, 50);
    service.seen(&json!({"text": text, "id": "a", "add": true}));
    let page = format!("<html><style>no</style><body><p class=x>{text}</p></body></html>");
    let found = service.seen(&json!({"html": page}));
    let itself = json!({"id": "a", "similarity": 1.0});
    assert_eq!(found["matches"][0], itself);
}

#[test]
fn content_seen_reports_likeness() {
    let service = Service::start("--method content-seen:distance=7");
    service.seen(&json!({"text": "the cat sat on the mat.", "id": "a", "add": true}));
    let answer = service.seen(&json!({"text": "the cat sat on a mat."}));
    assert_eq!(answer["fingerprint"], "998f0276");
    // The two have no five words in common.
    assert_eq!(answer["verdict"], "new");
    let answer = service.seen(&json!({"fingerprint": "998f0276"}));
    let near = json!({"id": "a", "distance": 7, "likeness": 0.78125, "similarity": null});
    assert_eq!(answer["matches"], json!([near]));
    let known = service.get("/v1/documents/a").json();
    assert_eq!(known["fingerprint"], "db87a2f4");
}

#[test]
fn methods_without_fingerprints_refuse_them() {
    let service = Service::start("");
    let text = words(1, 200);
    service.seen(&json!({"text": text, "id": "a", "add": true}));
    let answer = service.seen(&json!({"text": text.clone() + "more"}));
    assert_eq!(answer["verdict"], "duplicate");
    assert!(answer["matches"][0]["estimate"].is_f64());
    assert!(answer["matches"][0]["similarity"].as_f64().unwrap() > 0.98);
    let answer = service.post("/v1/seen", &json!({"fingerprint": answer["fingerprint"]}));
    answer.problem(400, "no-fingerprints");
}

#[test]
fn ids_may_be_any_bytes() {
    let service = Service::start("");
    let text = words(1, 60);
    for (id, address) in [
        (
            "http://a.example/?b=c d",
            "http%3A%2F%2Fa.example%2F%3Fb%3Dc%20d",
        ),
        ("a/b//c", "a/b//c"),
        ("中文", "%E4%B8%AD%E6%96%87"),
        ("..", "%2e%2e"),
    ] {
        let body = json!({"text": text, "id": id, "add": true, "payload": "p"});
        assert_eq!(service.seen(&body)["id"], id);
        let path = format!("/v1/documents/{address}");
        let known = service.get(&path).json();
        assert_eq!((&known["id"], &known["payload"]), (&json!(id), &json!("p")));
        let removed = service.ask("DELETE", &path, "", b"");
        assert_eq!(removed.json(), json!({"removed": true}));
        service.get(&path).problem(404, "unknown-id");
        service
            .ask("DELETE", &path, "", b"")
            .problem(404, "unknown-id");
    }
    let body = json!({"text": text, "id": "\u{fffd}", "id_base64": "/w==", "add": true});
    assert_eq!(service.seen(&body)["id_base64"], "/w==");
    let known = service.get("/v1/documents/%FF").json();
    assert_eq!(
        (&known["id"], &known["id_base64"]),
        (&json!("\u{fffd}"), &json!("/w=="))
    );
}

#[test]
fn statistics_metrics_and_log_describe_the_service() {
    let service = Service::start("--method simhash --tokenizer unicode --log json");
    service.seen(&json!({"text": words(1, 60), "id": "a", "add": true}));
    assert_eq!(service.get("/healthz").text(), "ok\n");
    let stats = service.get("/v1/stats").json();
    assert_eq!(
        (&stats["documents"], &stats["tokenizer"]),
        (&json!(1), &json!("unicode"))
    );
    assert_eq!(
        (&stats["bits"], &stats["read_only"]),
        (&json!(64), &json!(false))
    );
    let metrics = service.get("/metrics").text();
    for line in [
        "simtool_requests_total{route=\"/v1/seen\",status=\"200\"} 1",
        "simtool_request_seconds_count{route=\"/v1/seen\"} 1",
        "simtool_verdicts_total{verdict=\"new\"} 1",
        "simtool_documents 1",
        "simtool_commits_total 1",
        "simtool_added_total 1",
    ] {
        assert!(
            metrics.lines().any(|found| found == line),
            "{line} in {metrics}"
        );
    }
    let page = service.get("/");
    assert!(
        page.header("content-security-policy")
            .unwrap()
            .contains("default-src 'none'")
    );
    assert!(page.text().contains("Has this been seen?"));
    assert_eq!(service.raw(b"GET /healthz HTTP/1.0\r\n\r\n").status, 200);
    let (code, log) = service.end();
    assert_eq!(code, Some(0));
    let first: serde_json::Value = serde_json::from_str(log.lines().next().unwrap()).unwrap();
    assert_eq!(
        (&first["path"], &first["status"]),
        (&json!("/v1/seen"), &json!(200))
    );
    assert!(first["milliseconds"].is_number() && first["peer"].is_string());
}

#[test]
fn a_read_only_service_refuses_changes() {
    let service = Service::start("");
    let text = words(1, 60);
    service.seen(&json!({"text": text, "id": "a", "add": true}));
    let directory = service.directory.clone();
    let keep = tempfile::tempdir().unwrap();
    let kept = keep.path().join("seen");
    let (code, _) = {
        // The directory outlives the service.
        std::fs::rename(&directory, &kept).unwrap();
        service.end()
    };
    assert_eq!(code, Some(0));
    let service = Service::of(&kept, "--read-only");
    let second = Service::of(&kept, "--read-only");
    for service in [&service, &second] {
        assert_eq!(service.seen(&json!({"text": text}))["verdict"], "duplicate");
        let body = json!({"text": text, "id": "b", "add": true});
        service.post("/v1/seen", &body).problem(403, "read-only");
        service
            .ask("DELETE", "/v1/documents/a", "", b"")
            .problem(403, "read-only");
    }
}

/// The README and the tutorial show the answer that their example gets; `…` stands for a part of the
/// fingerprint.
#[test]
fn the_documented_example_is_answered_as_shown() {
    for page in [
        include_str!("../../../README.md"),
        include_str!("../../../docs/tutorial/service.md"),
    ] {
        let asked = page.lines().find_map(|line| line.strip_prefix("curl -d '"));
        let (body, _) = asked
            .unwrap()
            .split_once("' http://127.0.0.1:8750/v1/seen")
            .unwrap();
        let mut lines = page.lines();
        let shown = lines.find(|line| line.starts_with("{\"id\":\"http://a.example/\""));
        let (start, end) = shown.unwrap().split_once('…').unwrap();
        let service = Service::start("");
        let ask = || service.ask("POST", "/v1/seen", "", body.as_bytes());
        let answer = ask().text();
        assert!(
            answer.starts_with(start) && answer.ends_with(end),
            "{answer}"
        );
        assert_eq!(ask().json()["verdict"], "unchanged");
    }
}

/// Promise (The service): Documents are added to the dump of `--dump`, which can be removed
#[test]
fn additions_belong_to_a_dump() {
    let sandbox = Sandbox::new();
    let ask = |flags: &str, id: &str| {
        let service = Service::of(&sandbox.path("seen"), flags);
        let body = json!({"text": words(1, 100), "id": id, "add": true});
        let answer = service.seen(&body);
        assert_eq!(service.seen(&body)["verdict"], "unchanged");
        let dumps = service.get("/v1/stats").json()["dumps"].clone();
        assert_eq!(service.end().0, Some(0));
        (answer["kept"].clone(), dumps)
    };
    assert_eq!(ask("--dump monday", "a"), (json!(true), json!(["monday"])));
    let both = json!(["monday", "tuesday"]);
    assert_eq!(ask("--dump tuesday", "a"), (json!(false), both));
    let removed = sandbox.stdout("index remove seen --dump monday");
    assert_eq!(
        removed,
        "1 removed; 1 later ones that were copies are kept now\n"
    );
    let rows = json_lines(&sandbox.stdout("index export seen"));
    let row = (&rows[0]["id"], &rows[0]["dump"], &rows[0]["kept"]);
    assert_eq!(row, (&json!("a"), &json!("tuesday"), &json!(true)));
}
