//! A measurement, run by hand: what reading ahead saves if each request takes 50 ms to begin.
//!
//! `cargo test --release -p simtool-objects --features client --test faults -- --ignored --nocapture`

use std::sync::Arc;
use std::time::{Duration, Instant};

use simtool_objects::Prefetch;

use crate::opened;
use simtool_testing::server::{Content, Fault, Server};

/// The time that a consumer needs for a mebibyte.
const WORK: Duration = Duration::from_millis(4);
const STEP: usize = 1 << 20;
const BYTES: u64 = 256 << 20;

#[test]
#[ignore = "a measurement"]
fn reading_ahead_hides_the_latency_of_requests() {
    let server = Server::start();
    let zeros = Arc::new(vec![0; BYTES as usize]);
    server.add_with(
        "file",
        Content::Bytes(zeros),
        Some("\"1\"".to_owned()),
        None,
    );
    let object = opened(&server, "file").unwrap();
    let read_all = |name: &str, read: &mut dyn FnMut(u64) -> u64| {
        let (begin, mut offset) = (Instant::now(), 0);
        while offset < BYTES {
            offset += read(offset);
            std::thread::sleep(WORK);
        }
        let requests = server.take_requests().len();
        println!(
            "{name}: {:.2} s, {requests} requests",
            begin.elapsed().as_secs_f64()
        );
    };
    server.take_requests();
    for delay in [Duration::ZERO, Duration::from_millis(50)] {
        server.set_faults(move |_| Some(Fault::Delay(delay)));
        println!("{} ms for each request:", delay.as_millis());
        read_all("  one range after another", &mut |offset| {
            object.read_at(offset..offset + STEP as u64).unwrap().len() as u64
        });
        let mut reader = Prefetch::new(Arc::clone(&object), None);
        let mut out = Vec::new();
        read_all("  with ranges read ahead ", &mut |offset| {
            out.clear();
            reader.read(offset, STEP, &mut out).unwrap() as u64
        });
    }
}
