//! HTTPS with a test certificate of the repository.

use std::io::{BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::json;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use crate::serve::client::{Answer, Service, read_answer, request, words};

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("testdata/tls")
        .join(name)
}

fn flags() -> String {
    format!(
        "--tls-cert {} --tls-key {}",
        file("certificate.pem").display(),
        file("key.pem").display()
    )
}

/// A connection of a client that trusts only `trusted`.
fn connect(
    service: &Service,
    trusted: &[CertificateDer<'static>],
) -> StreamOwned<ClientConnection, TcpStream> {
    let mut roots = RootCertStore::empty();
    for certificate in trusted {
        roots.add(certificate.clone()).unwrap();
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from("localhost").unwrap();
    let connection = ClientConnection::new(Arc::new(config), name).unwrap();
    StreamOwned::new(connection, service.connect())
}

fn certificate() -> CertificateDer<'static> {
    CertificateDer::from_pem_file(file("certificate.pem")).unwrap()
}

fn ask(service: &Service, method: &str, path: &str, body: &[u8]) -> Answer {
    let mut stream = connect(service, &[certificate()]);
    stream
        .write_all(&request(method, path, "", body, "close"))
        .unwrap();
    read_answer(&mut BufReader::new(stream)).unwrap()
}

/// Promise (The service): HTTPS answers clients that trust its certificate; other clients do no
/// harm
#[test]
fn queries_and_additions_over_https() {
    let service = Service::start(&flags());
    let page = json!({"text": words(1, 200), "id": "a", "add": true});
    let body = page.to_string();
    for verdict in ["new", "unchanged"] {
        let answer = ask(&service, "POST", "/v1/seen", body.as_bytes());
        assert_eq!(answer.status, 200, "{}", answer.text());
        assert_eq!(answer.json()["verdict"], verdict);
    }
    assert_eq!(ask(&service, "GET", "/healthz", b"").status, 200);
    assert_eq!(service.end().0, Some(0));
}

/// Promise (The service): HTTPS answers clients that trust its …
#[test]
fn clients_without_tls_or_trust_do_not_affect_others() {
    let service = Service::start(&flags());
    // Plain HTTP: the connection is closed, at most with an alert.
    let mut plain = service.connect();
    plain
        .write_all(&request("GET", "/healthz", "", b"", "close"))
        .unwrap();
    let mut response = Vec::new();
    let _ = plain.read_to_end(&mut response);
    assert!(!response.starts_with(b"HTTP/"));
    // A client that does not trust the certificate.
    let mut client = connect(&service, &[]);
    let refused = client.write_all(&request("GET", "/healthz", "", b"", "close"));
    assert!(refused.unwrap_err().to_string().contains("UnknownIssuer"));
    assert_eq!(ask(&service, "GET", "/healthz", b"").status, 200);
}

#[test]
fn invalid_certificate_and_key_files_are_named() {
    for (certificate, key, wrong) in [
        ("key.pem", "key.pem", "key.pem"),
        ("certificate.pem", "certificate.pem", "certificate.pem"),
        ("missing.pem", "key.pem", "missing.pem"),
    ] {
        let index = tempfile::tempdir().unwrap();
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_simtool"))
            .arg("serve")
            .arg(index.path().join("seen"))
            .args(["--listen", "127.0.0.1:0", "--tls-cert"])
            .arg(file(certificate))
            .arg("--tls-key")
            .arg(file(key))
            .output()
            .unwrap();
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(
            message.contains(wrong) && message.contains("cannot be used"),
            "{message}"
        );
    }
}
