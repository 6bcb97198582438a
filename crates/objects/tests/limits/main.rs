//! A server that makes no progress is given up, with the reason.
//!
//! The timeout comes from the environment of the process, so all of these tests have the same short
//! one. Nothing here succeeds, so a slow machine changes nothing.

#![cfg(feature = "client")]
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::sync::Once;
use std::time::Duration;

use simtool_core::ErrorKind;
use simtool_objects::{Client, Location};

use simtool_testing::server::{Fault, Server};

/// The message about an object of a server with a fault that does not end.
fn given_up(fault: Fault) -> String {
    static SET: Once = Once::new();
    // SAFETY: no test of this process has read the environment yet.
    SET.call_once(|| unsafe { std::env::set_var("SIMTOOL_SERVER_TIMEOUT", "1.5") });
    let server = Server::start();
    server.add("file", &[b'x'; 60_000]);
    server.set_faults(move |_| Some(fault.clone()));
    let location = Location::parse(Path::new(&server.url("file"))).unwrap();
    let error = Client::new().open(&location).unwrap().wait().err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Read);
    error.to_string()
}

/// Promise (Inputs on servers): A server without progress for a minute is given up: one that fails,
/// is silent, sends less than 1024 bytes a second, or asks for a longer wait
#[test]
fn failures_that_do_not_end_are_given_up() {
    for fault in [Fault::status(500), Fault::status(503), Fault::Close] {
        let message = given_up(fault.clone());
        let reason = match fault {
            Fault::Status(status, ..) => status.to_string(),
            _ => "connection".to_owned(),
        };
        let end = "given up after 1.5 s without progress";
        assert!(
            message.contains(&reason) && message.contains(end),
            "{message}"
        );
    }
}

/// Promise (Inputs on servers): A server without progress for a minute …
#[test]
fn a_silent_server_is_given_up() {
    let message = given_up(Fault::Delay(Duration::from_secs(600)));
    assert!(message.contains("sent nothing for 1.5 s"), "{message}");
}

/// Ten minutes for the whole object, although there is never a long silence.
/// Promise (Inputs on servers): A server without progress for a minute …
#[test]
fn a_server_below_the_minimum_rate_is_given_up() {
    let message = given_up(Fault::Drip(Duration::from_millis(10)));
    assert!(
        message.contains("less than 1024 bytes a second"),
        "{message}"
    );
}

/// Promise (Inputs on servers): A server without progress for a minute …
#[test]
fn a_server_that_asks_for_a_longer_wait_is_given_up() {
    let wait = Fault::Status(503, Some(("Retry-After", "2".into())), String::new());
    let message = given_up(wait);
    assert!(message.contains("it asks to wait 2 s"), "{message}");
}
