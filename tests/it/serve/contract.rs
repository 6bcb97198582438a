//! The service conforms to its /openapi.json.

use serde_json::{Value, json};

use crate::serve::client::{Service, words};

/// Checks that `value` has the fields that `schema` lists, and no others.
fn conforms(api: &Value, schema: &str, value: &Value) {
    let schema = &api["components"]["schemas"][schema];
    let properties = schema["properties"].as_object().unwrap();
    for (name, value) in value.as_object().unwrap() {
        let property = properties
            .get(name)
            .unwrap_or_else(|| panic!("{name} is not listed"));
        if let Some(item) = property["items"]["$ref"].as_str() {
            let item = item.rsplit('/').next().unwrap();
            for value in value.as_array().unwrap() {
                conforms(api, item, value);
            }
        }
        if let Some(values) = property["enum"].as_array() {
            assert!(values.contains(value), "{name} {value}");
        }
        let kind = match value {
            Value::String(_) => "string",
            Value::Bool(_) => "boolean",
            Value::Number(number) if number.is_f64() => "number",
            Value::Number(_) => "integer",
            Value::Array(_) => "array",
            Value::Null => "null",
            Value::Object(_) => "object",
        };
        let allowed = match &property["type"] {
            Value::String(name) => name == kind || (name == "number" && kind == "integer"),
            Value::Array(names) => names.contains(&json!(kind)),
            _ => true,
        };
        assert!(allowed, "{name} is {kind}: {property}");
    }
    for name in schema["required"].as_array().unwrap() {
        assert!(
            value.get(name.as_str().unwrap()).is_some(),
            "{name} is missing"
        );
    }
}

/// Promise (The service): The OpenAPI document lists every route, field and status
#[test]
fn every_route_and_field_is_listed() {
    let service = Service::start("--method content-seen:distance=7");
    let api = service.get("/openapi.json").json();
    assert!(api["openapi"].as_str().unwrap().starts_with("3.1"));

    // Every listed route answers its listed methods, and no other.
    let paths = api["paths"].as_object().unwrap();
    for (path, methods) in paths {
        let concrete = path.replace("{id}", "nobody");
        for method in ["get", "post", "delete", "put"] {
            let answer = service.ask(&method.to_uppercase(), &concrete, "", b"");
            let is_listed = methods.get(method).is_some();
            assert_eq!(
                answer.status != 405,
                is_listed,
                "{method} {path}: {}",
                answer.status
            );
            if is_listed {
                let responses = &methods[method]["responses"];
                let listed = responses.get(answer.status.to_string());
                assert!(listed.is_some(), "{method} {path}: {}", answer.status);
            }
        }
    }
    // Every route of the program is listed.
    let source = include_str!("../../../crates/serve/src/routes/mod.rs");
    let routes = source.split(".route(\"").skip(1);
    for route in routes.map(|rest| rest.split('"').next().unwrap()) {
        assert!(
            paths.contains_key(&route.replace("{*id}", "{id}")),
            "{route}"
        );
    }

    // Every field of an answer is listed.
    let text = "the cat sat on the mat.";
    let added =
        service.seen(&json!({"text": text, "id": "\u{fffd}", "id_base64": "/w==", "add": true}));
    conforms(&api, "Answer", &added);
    for question in [json!({"text": text}), json!({"fingerprint": "998f0276"})] {
        let found = service.seen(&question);
        assert_eq!(found["verdict"], "duplicate");
        conforms(&api, "Answer", &found);
    }
    let body = json!({"text": "the cat sat on a mat.", "id_base64": "/w=="});
    let changed = service.seen(&body);
    assert_eq!(
        (&changed["verdict"], &changed["distance"]),
        (&json!("changed"), &json!(7))
    );
    conforms(&api, "Answer", &changed);
    let answer = &api["components"]["schemas"]["Answer"]["properties"];
    assert_eq!(answer["truncated"]["type"], "boolean");
    conforms(&api, "Document", &service.get("/v1/documents/%ff").json());
    conforms(&api, "Stats", &service.get("/v1/stats").json());
    conforms(
        &api,
        "Removed",
        &service.ask("DELETE", "/v1/documents/%ff", "", b"").json(),
    );
    conforms(&api, "Problem", &service.get("/v1/nothing").json());
    let batch = service.ask("POST", "/v1/seen/batch", "", b"{\n");
    conforms(&api, "Problem", &batch.json());

    // Every listed field is accepted, and every other one is refused.
    let question = api["components"]["schemas"]["Question"]["properties"]
        .as_object()
        .unwrap();
    let value = |name: &str| match name {
        "add" => json!(false),
        "limit" => json!(1),
        "id_base64" => json!("YQ=="),
        "fingerprint" => json!("00000000"),
        _ => json!(words(1, 9)),
    };
    for name in question.keys() {
        let mut body = json!({name.as_str(): value(name)});
        if !["text", "html", "fingerprint"].contains(&name.as_str()) {
            body["text"] = json!("a text");
        }
        service.seen(&body);
    }
    // The length of a fingerprint is listed: 32 bits here, 64 by default.
    assert_eq!(question["fingerprint"]["pattern"], "^[0-9a-fA-F]{8}$");
    // Every code of a problem is listed.
    let codes = &api["components"]["schemas"]["Problem"]["properties"]["code"]["enum"];
    let sources = [
        include_str!("../../../crates/serve/src/problem.rs"),
        include_str!("../../../crates/serve/src/question/mod.rs"),
        include_str!("../../../crates/serve/src/routes/body.rs"),
        include_str!("../../../crates/serve/src/routes/mod.rs"),
        include_str!("../../../crates/serve/src/routes/batch.rs"),
        include_str!("../../../crates/serve/src/routes/copies.rs"),
    ];
    let codes = codes.as_array().unwrap();
    let page = include_str!("../../../docs/reference/service-api.md");
    for code in codes {
        let code = code.as_str().unwrap();
        assert!(page.contains(&format!("`{code}`")), "the page: {code}");
    }
    for source in sources {
        let begins = ["Problem::bad(\"", "refused(\"", "BAD_DOCUMENT: &str = \""];
        let after = begins.iter().flat_map(|begin| source.split(begin).skip(1));
        let news = source.split("Problem::new(StatusCode::").skip(1);
        let after =
            after.chain(news.filter_map(|rest| rest.split_once(", \"").map(|(_, rest)| rest)));
        for rest in after {
            let code = rest.split('"').next().unwrap();
            assert!(codes.contains(&json!(code)), "{code}");
        }
    }
}

/// The statuses of every route but `/healthz` before routing, and those of the route itself.
const STATUSES: [(&str, &str, &[u16]); 10] = [
    ("get", "/", &[200, 403, 503]),
    ("get", "/healthz", &[200, 403]),
    ("get", "/openapi.json", &[200, 403, 503]),
    ("get", "/metrics", &[200, 401, 403, 503]),
    ("get", "/v1/stats", &[200, 401, 403, 503]),
    (
        "post",
        "/v1/seen",
        &[200, 400, 401, 403, 408, 413, 422, 500, 503, 507],
    ),
    ("post", "/v1/seen/batch", &[200, 400, 401, 403, 503]),
    (
        "get",
        "/v1/documents/{id}",
        &[200, 400, 401, 403, 404, 500, 503],
    ),
    (
        "delete",
        "/v1/documents/{id}",
        &[200, 400, 401, 403, 404, 500, 503, 507],
    ),
    (
        "post",
        "/v1/copies",
        &[200, 400, 401, 403, 404, 408, 409, 413, 500, 503, 507],
    ),
];

/// Promise (The service): The OpenAPI document lists every route, field …
#[test]
fn every_status_is_listed() {
    let temporary = tempfile::tempdir().unwrap();
    let token = temporary.path().join("token");
    std::fs::write(&token, "0123456789abcdef").unwrap();
    let copies = temporary.path().join("copies");
    std::fs::create_dir(&copies).unwrap();
    let limits = "--max-body 20000 --max-bodies 40000";
    let open = Service::start(&format!("{limits} --copies {}", copies.display()));
    let guarded = Service::start(&format!("--token-file {}", token.display()));
    let api = open.get("/openapi.json").json();
    let mut listed = Vec::new();
    for (path, methods) in api["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            if let Some(responses) = operation["responses"].as_object() {
                let statuses = responses.keys().map(|status| status.parse().unwrap());
                let mut statuses: Vec<u16> = statuses.collect();
                statuses.sort_unstable();
                listed.push((method.clone(), path.clone(), statuses));
            }
        }
    }
    let mut expected: Vec<_> = STATUSES
        .iter()
        .map(|(method, path, statuses)| ((*method).into(), (*path).into(), statuses.to_vec()))
        .collect();
    listed.sort();
    expected.sort();
    assert_eq!(listed, expected);

    // The service sends them: before routing,
    let page = json!({"text": "a b c", "id": "a", "add": true}).to_string();
    let mut found: Vec<(&str, &str, u16)> = Vec::new();
    let concrete = |path: &str| path.replace("{id}", "a");
    for (method, path, _) in STATUSES {
        let ask = |service: &Service, headers: &str, body: &str| {
            let (method, path) = (method.to_uppercase(), concrete(path));
            service.ask(&method, &path, headers, body.as_bytes()).status
        };
        found.push((method, path, ask(&guarded, "", "")));
        found.push((
            method,
            path,
            ask(&open, "Origin: http://evil.example\r\n", ""),
        ));
        let body = if path == "/v1/copies" {
            "{\"name\":\"a\"}"
        } else {
            &page
        };
        found.push((method, path, ask(&open, "", body)));
    }
    // by a route,
    let large = "x".repeat(20_001);
    for (method, path, asked, body) in [
        ("post", "/v1/seen", "/v1/seen", "{"),
        ("post", "/v1/seen", "/v1/seen", &large),
        ("post", "/v1/seen/batch", "/v1/seen/batch?add=maybe", ""),
        ("get", "/v1/documents/{id}", "/v1/documents/%", ""),
        ("get", "/v1/documents/{id}", "/v1/documents/none", ""),
        ("delete", "/v1/documents/{id}", "/v1/documents/%", ""),
        ("delete", "/v1/documents/{id}", "/v1/documents/none", ""),
        ("post", "/v1/copies", "/v1/copies", "{"),
        ("post", "/v1/copies", "/v1/copies", &large),
        ("post", "/v1/copies", "/v1/copies", "{\"name\":\"a\"}"),
    ] {
        let answer = open.ask(&method.to_uppercase(), asked, "", body.as_bytes());
        found.push((method, path, answer.status));
    }
    let without = Service::start("");
    let copy = without.ask("POST", "/v1/copies", "", b"{}");
    found.push(("post", "/v1/copies", copy.status));
    // by a route that waits for a body in vain,
    let impatient = format!("--request-timeout 1 --copies {}", copies.display());
    let impatient = Service::start(&impatient);
    for path in ["/v1/seen", "/v1/copies"] {
        let head = format!("POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n");
        found.push(("post", path, impatient.raw(head.as_bytes()).status));
    }
    // by a busy service,
    let busy_service = Service::start("--max-requests 1");
    let pending = busy_service.hold_permit(9);
    for (method, path, _) in STATUSES {
        let answer = busy_service.ask(&method.to_uppercase(), &concrete(path), "", b"");
        found.push((method, path, answer.status));
    }
    drop(pending);
    // The remaining 500, 507 and 422 are in the tests of the writer, of copies and of slow
    // documents.
    for (method, path, statuses) in STATUSES {
        let mut own: Vec<u16> = found
            .iter()
            .filter(|found| (found.0, found.1) == (method, path))
            .map(|found| found.2)
            .collect();
        own.sort_unstable();
        own.dedup();
        let expected = statuses
            .iter()
            .filter(|status| ![422, 500, 507].contains(*status));
        assert!(own.iter().eq(expected), "{method} {path}: {own:?}");
    }
}
