//! Slow documents block neither other questions nor the end of the service.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::Ordering;
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::json;
use simtool_core::Result;
use simtool_engine::Progress;

use crate::question::{SLOW_READERS, SLOW_TEXT};
use crate::test_service::TestService;

/// A service in a thread.
struct Running {
    address: SocketAddr,
    progress: Arc<Progress>,
    thread: JoinHandle<Result<()>>,
}

impl Running {
    fn start(trial: &TestService) -> Running {
        let (seen, config) = (trial.seen(), trial.config());
        let progress = Arc::new(Progress::new());
        let (tell, told) = mpsc::channel();
        let thread = thread::spawn({
            let progress = Arc::clone(&progress);
            move || {
                let ready = |address| {
                    tell.send(address).unwrap();
                    Ok(())
                };
                crate::run::run(|| Ok(seen), config, &progress, ready)
            }
        });
        Running {
            address: told.recv().unwrap(),
            progress,
            thread,
        }
    }

    fn end(self) {
        self.progress.stop();
        self.thread.join().unwrap().unwrap();
    }

    fn ask(&self, path: &str, body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).unwrap();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
             Content-Length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all((head + body).as_bytes()).unwrap();
        stream
    }
}

fn answer(mut stream: TcpStream) -> String {
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

/// Promise (The service): A document whose text takes too long is refused; other queries are
/// answered meanwhile, and the service can be stopped
#[test]
fn questions_are_answered_and_the_service_ends() {
    let slow = json!({"text": format!("{SLOW_TEXT}and more")}).to_string();
    let with_other_line = format!("{slow}\n{{\"text\":\"b\"}}\n");
    let mut trial = TestService::new();
    trial.limits.grace = Duration::ZERO;
    let service = Running::start(&trial);
    // More documents than threads.
    let pending: Vec<TcpStream> = (0..4).map(|_| service.ask("/v1/seen", &slow)).collect();
    let batch = service.ask("/v1/seen/batch", &with_other_line);
    let other = answer(service.ask("/v1/seen", "{\"text\":\"a b c\"}"));
    assert!(other.starts_with("HTTP/1.1 200"), "{other}");
    service.end();
    // Its threads still read the documents, each of which takes ten minutes.
    assert!(SLOW_READERS.load(Ordering::Relaxed) > 0);
    drop((pending, batch));

    // Slow documents are refused after a limit, which is long for other documents.
    let mut trial = TestService::new();
    trial.limits.grace = Duration::ZERO;
    trial.limits.document = Duration::from_secs(1);
    let service = Running::start(&trial);
    let pending: Vec<TcpStream> = (0..4).map(|_| service.ask("/v1/seen", &slow)).collect();
    let batch = service.ask("/v1/seen/batch", &with_other_line);
    for stream in pending {
        let refused = answer(stream);
        assert!(refused.starts_with("HTTP/1.1 422"), "{refused}");
        assert!(refused.contains("slow-document"), "{refused}");
    }
    // Lines of the same part are answered, too.
    let lines = answer(batch);
    let count = lines.matches("\"code\":\"slow-document\"").count();
    assert_eq!(count, 2, "{lines}");
    service.end();
}
