//! Does /openapi.json say what there is?

use serde_json::{Value, json};

use crate::client::{Service, words};

/// Checks that `value` has the fields that `schema` says, and no others.
fn conforms(api: &Value, schema: &str, value: &Value) {
    let schema = &api["components"]["schemas"][schema];
    let properties = schema["properties"].as_object().unwrap();
    for (name, value) in value.as_object().unwrap() {
        let property = properties
            .get(name)
            .unwrap_or_else(|| panic!("{name} is not said"));
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
        let said = match &property["type"] {
            Value::String(said) => said == kind || (said == "number" && kind == "integer"),
            Value::Array(said) => said.contains(&json!(kind)),
            _ => true,
        };
        assert!(said, "{name} is {kind}: {property}");
    }
    for name in schema["required"].as_array().unwrap() {
        assert!(
            value.get(name.as_str().unwrap()).is_some(),
            "{name} is missing"
        );
    }
}

#[test]
fn every_route_is_there_and_every_field_is_said() {
    let service = Service::start("--method content-seen:distance=7");
    let api = service.get("/openapi.json").json();
    assert!(api["openapi"].as_str().unwrap().starts_with("3.1"));

    // Every route that is said answers to every method that is said, and to no other.
    let paths = api["paths"].as_object().unwrap();
    for (path, methods) in paths {
        let concrete = path.replace("{id}", "nobody");
        for method in ["get", "post", "delete", "put"] {
            let answer = service.ask(&method.to_uppercase(), &concrete, "", b"");
            let is_said = methods.get(method).is_some();
            assert_eq!(
                answer.status != 405,
                is_said,
                "{method} {path}: {}",
                answer.status
            );
            if is_said {
                let responses = &methods[method]["responses"];
                let said = responses.get(answer.status.to_string());
                assert!(said.is_some(), "{method} {path}: {}", answer.status);
            }
        }
    }
    // Every route that the program has is said.
    let source = include_str!("../../src/serve/routes.rs");
    let routes = source.split(".route(\"").skip(1);
    for route in routes.map(|rest| rest.split('"').next().unwrap()) {
        assert!(
            paths.contains_key(&route.replace("{*id}", "{id}")),
            "{route}"
        );
    }

    // Every field that is answered is said.
    let text = "the cat sat on the mat.";
    let added =
        service.seen(&json!({"text": text, "id": "\u{fffd}", "id_base64": "/w==", "add": true}));
    conforms(&api, "Answer", &added);
    let found = service.seen(&json!({"text": "the cat sat on a mat."}));
    assert_eq!(found["verdict"], "duplicate");
    conforms(&api, "Answer", &found);
    let body = json!({"text": "the cat sat on a mat.", "id_base64": "/w=="});
    let changed = service.seen(&body);
    assert_eq!(
        (&changed["verdict"], &changed["distance"]),
        (&json!("changed"), &json!(7))
    );
    conforms(&api, "Answer", &changed);
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

    // Every field that is said can be asked with, and every other one is refused.
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
    // Every code of a problem is said.
    let codes = &api["components"]["schemas"]["Problem"]["properties"]["code"]["enum"];
    let sources = [
        include_str!("../../src/serve/problem.rs"),
        include_str!("../../src/serve/ask.rs"),
        include_str!("../../src/serve/routes.rs"),
        include_str!("../../src/serve/batch.rs"),
    ];
    for source in sources {
        for rest in source.split("Problem::bad(\"").skip(1) {
            let code = rest.split('"').next().unwrap();
            assert!(codes.as_array().unwrap().contains(&json!(code)), "{code}");
        }
    }
}
