//! Slow documents block neither other questions nor the end of the service.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;
use simtool::engine::Progress;

use super::question::{SLOW, SLOW_TEXT};
use super::test_service::TestService;

fn ask(address: SocketAddr, path: &str, body: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    let limit = Some(Duration::from_secs(100));
    stream.set_read_timeout(limit).unwrap();
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all((head + body).as_bytes()).unwrap();
    stream
}

fn answer(mut stream: TcpStream) -> String {
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

#[test]
fn questions_are_answered_and_the_service_ends() {
    let mut trial = TestService::new();
    trial.limits.request = Duration::from_secs(5);
    trial.limits.grace = Duration::from_secs(1);
    let (seen, config) = (trial.seen(), trial.config());
    let progress = Arc::new(Progress::new());
    let (tell, told) = mpsc::channel();
    let service = thread::spawn({
        let progress = Arc::clone(&progress);
        move || {
            let ready = |address| {
                tell.send(address).unwrap();
                Ok(())
            };
            super::run::run(|| Ok(seen), config, &progress, ready)
        }
    });
    let address = told.recv().unwrap();
    let slow = json!({"text": format!("{SLOW_TEXT}and more")}).to_string();
    // More documents than threads.
    let waiting: Vec<TcpStream> = (0..4).map(|_| ask(address, "/v1/seen", &slow)).collect();
    let batch = ask(
        address,
        "/v1/seen/batch",
        &format!("{slow}\n{{\"text\":\"b\"}}\n"),
    );
    let other = answer(ask(address, "/v1/seen", "{\"text\":\"a b c\"}"));
    assert!(other.starts_with("HTTP/1.1 200"), "{other}");
    for stream in waiting {
        let refused = answer(stream);
        assert!(refused.starts_with("HTTP/1.1 422"), "{refused}");
        assert!(refused.contains("slow-document"), "{refused}");
    }
    // Lines of the same part are answered, too.
    let lines = answer(batch);
    assert_eq!(
        lines.matches("\"code\":\"slow-document\"").count(),
        2,
        "{lines}"
    );
    // Another slow document is under way when the service ends.
    let _under_way = ask(address, "/v1/seen", &slow);
    let begin = Instant::now();
    progress.stop();
    service.join().unwrap().unwrap();
    // The threads still sleep.
    assert!(begin.elapsed() < SLOW / 2);
}
