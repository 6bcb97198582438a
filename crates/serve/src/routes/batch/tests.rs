//! Tests of batches: memory, problems of lines, slow lines, clients that disconnect.

use std::convert::Infallible;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Context;

use serde_json::{Value, json};

use super::*;
use crate::question::SLOWISH_TEXT;
use crate::test_service::{Disk, NEAR_ZERO, TestService, near_zero, run, until};

/// A body that a test feeds.
struct Fed(mpsc::Receiver<Bytes>);

impl http_body::Body for Fed {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let piece = self.0.poll_recv(context);
        piece.map(|piece| piece.map(|bytes| Ok(Frame::data(bytes))))
    }
}

fn batch(service: &Arc<Service>, body: Body) -> Body {
    let permit = service.permits.slow().unwrap();
    answers(Arc::clone(service), (None, permit), None, body)
}

async fn lines(mut body: Body) -> Vec<Value> {
    let mut text = Vec::new();
    // Each piece is dropped when it is read, as a connection does.
    while let Some(frame) = body.frame().await {
        text.extend_from_slice(&frame.unwrap().into_data().unwrap());
    }
    let lines = text.split(|byte| *byte == b'\n');
    let lines = lines.filter(|line| !line.is_empty());
    lines
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect()
}

fn problems(answers: &[Value]) -> Vec<(&str, u64)> {
    let problem = |answer: &'_ Value| -> Option<(&'static str, u64)> {
        let code = answer["code"].as_str()?.to_owned().leak();
        Some((code, answer["line"].as_u64()?))
    };
    answers.iter().filter_map(problem).collect()
}

/// Additions with blank lines between them, so that line numbers differ from positions.
fn additions(ids: std::ops::Range<u64>) -> Body {
    let line = |id: u64| {
        let body = json!({"fingerprint": format!("{id:016x}"), "id": format!("{id}")});
        format!("\n{body}\n")
    };
    Body::from(ids.map(line).collect::<String>())
}

async fn add(service: &Arc<Service>, body: Body) -> Vec<Value> {
    let permit = service.permits.slow().unwrap();
    lines(answers(
        Arc::clone(service),
        (None, permit),
        Some(true),
        body,
    ))
    .await
}

/// Promise (The service): Every error in a batch is reported once for each affected line
#[test]
fn problems_of_the_writer_are_reported_for_each_line() {
    run(async {
        let disk = Disk::default();
        let trial = TestService::with(disk.faults());
        let service = trial.service();
        assert_eq!(add(&service, additions(0..1)).await[0]["added"], true);
        disk.fail(Some(|| std::io::ErrorKind::StorageFull.into()));
        let answers = add(&service, additions(1..4)).await;
        assert_eq!(
            problems(&answers),
            [("disk-full", 2), ("disk-full", 4), ("disk-full", 6)]
        );
        disk.fail(Some(|| panic!("the disk is gone")));
        let answers = add(&service, additions(1..3)).await;
        assert_eq!(problems(&answers), [("internal", 2), ("internal", 4)]);
        disk.fail(None);
        let answers = add(&service, additions(1..4)).await;
        assert!(answers.len() == 3 && answers.iter().all(|answer| answer["added"] == true));
    });
}

/// Promise (The service): Every error in a batch is …
#[test]
fn a_part_that_cannot_be_parsed_is_answered_line_by_line() {
    run(async {
        let trial = TestService::new();
        let service = trial.service();
        let (answers, frames) = Answers::new(&service.memory, trial.limits.request);
        let (parts, prepared) = mpsc::channel(1);
        let numbers = vec![4, 5, 9];
        let mut part = Part::default();
        for number in &numbers {
            let text = Ok(Vec::new());
            let line = Line {
                number: *number,
                text,
            };
            part.push(line, 0);
        }
        let panics = Arc::clone(&service);
        let mut read = JoinSet::new();
        read.spawn(part.read(move |_| panics.pool.run(|_| panic!("on purpose"))));
        assert!(parts.send(PendingPart { numbers, read }).await.is_ok());
        drop(parts);
        answer_all(&service, prepared, answers).await;
        let answers = lines(Body::new(frames)).await;
        assert_eq!(
            problems(&answers),
            [("internal", 4), ("internal", 5), ("internal", 9)]
        );
    });
}

/// Each of the batches takes half an hour.
/// Promise (The index): A long query, or a long …
#[test]
fn batches_of_slow_lines_do_not_delay_other_requests() {
    run(async {
        let service = TestService::new().service();
        let line = json!({"text": format!("{SLOWISH_TEXT} and more")});
        let body = format!("{line}\n").repeat(20_000);
        let begin = || tokio::spawn(lines(batch(&service, Body::from(body.clone()))));
        let batches = [begin(), begin(), begin()];
        until("reserved memory", || service.memory.reserved() > 0).await;
        for _ in 0..3 {
            assert_eq!(service.pool.run(|_| 7).get().await.unwrap(), 7);
        }
        for batch in batches {
            assert!(!batch.is_finished());
            batch.abort();
        }
        until("all memory", || service.memory.reserved() == 0).await;
    });
}

/// Few of many endless lines are in memory; when they end, others follow.
/// Promise (The service): Waiting bodies, lines and answers are in bounded memory, and none waits
/// for it forever
#[test]
fn long_lines_wait_for_memory_and_get_it() {
    run(async {
        let mut trial = TestService::new();
        trial.limits.body_bytes = 1 << 20;
        trial.limits.memory_bytes = 5 << 20;
        trial.limits.requests = 32;
        let service = trial.service();
        let piece = Bytes::from(vec![b'x'; 64 << 10]);
        let taken: Vec<_> = (0..12).map(|_| Arc::new(AtomicUsize::new(0))).collect();
        let begin = |taken: &Arc<AtomicUsize>| {
            let (feed, fed) = mpsc::channel(1);
            let answers = tokio::spawn(lines(batch(&service, Body::new(Fed(fed)))));
            let (piece, taken) = (piece.clone(), Arc::clone(taken));
            let fed = tokio::spawn(async move {
                feed.send(Bytes::from_static(b"{\"text\":\""))
                    .await
                    .unwrap();
                for _ in 0..12 {
                    feed.send(piece.clone()).await.unwrap();
                    taken.fetch_add(1, Ordering::Relaxed);
                }
                feed
            });
            (fed, answers)
        };
        let batches: Vec<_> = taken.iter().map(begin).collect();
        let counts = || taken.iter().map(|taken| taken.load(Ordering::Relaxed));
        until("four of them", || {
            counts().filter(|taken| *taken == 12).count() == 4
        })
        .await;
        // The others wait within the bytes that need no reservation.
        assert!(counts().all(|taken| taken == 12 || taken <= 4));
        assert!(service.memory.reserved() <= 5 << 20);
        // When they end, the others proceed.
        let ends = batches.into_iter().map(|(fed, answers)| {
            tokio::spawn(async move {
                let feed = fed.await.unwrap();
                feed.send(Bytes::from_static(b"\"}\n{}\n")).await.unwrap();
                drop(feed);
                answers.await.unwrap()
            })
        });
        for answers in ends.collect::<Vec<_>>() {
            let answers = answers.await.unwrap();
            assert_eq!(answers[0]["verdict"], "new");
            assert_eq!(problems(&answers), [("bad-request", 2)]);
        }
        until("all memory", || service.memory.reserved() == 0).await;
    });
}

/// A question that waits for the writer keeps its reservation until the answer.
/// Promise (The service): Waiting bodies, lines and answers are …
#[test]
fn reservations_last_until_the_answer() {
    run(async {
        let disk = Disk::default();
        let trial = TestService::with(disk.faults());
        let service = trial.service();
        let payload = "p".repeat(3 << 20);
        let line = json!({"text": "a", "id": "a", "payload": payload, "add": true});
        disk.block(true);
        let answers = tokio::spawn(lines(batch(&service, Body::from(line.to_string()))));
        let begin = service.writer.counts();
        until("the reservation to shrink to what is kept", || {
            (3 << 20..3 << 20 | 64 << 10).contains(&service.memory.reserved())
        })
        .await;
        assert_eq!(begin.commits.load(Ordering::Relaxed), 0);
        disk.block(false);
        assert_eq!(answers.await.unwrap()[0]["added"], true);
        until("all memory", || service.memory.reserved() == 0).await;
    });
}

/// A client that does not read gets a bounded number of answers and bounded memory.
/// Promise (The service): Waiting bodies, lines and answers are …
#[test]
fn pending_answers_are_bounded() {
    run(async {
        let mut trial = TestService::new();
        trial.limits.memory_bytes = 4 << 20;
        let service = trial.service();
        let body = json!({"fingerprint": "0000000000000000", "limit": 1000}).to_string() + "\n";
        let known = add(&service, {
            let line = |id: u64| {
                let fingerprint = format!("{:016x}", near_zero(id));
                json!({"fingerprint": fingerprint, "id": format!("{id}")}).to_string() + "\n"
            };
            Body::from((0..NEAR_ZERO).map(line).collect::<String>())
        });
        assert_eq!(known.await.len() as u64, NEAR_ZERO);
        let (feed, fed) = mpsc::channel(1);
        let unread = batch(&service, Body::new(Fed(fed)));
        let lines_sent = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&lines_sent);
        let feeding = tokio::spawn(async move {
            let many = Bytes::from(body.repeat(40));
            for _ in 0..30 {
                if feed.send(many.clone()).await.is_err() {
                    return;
                }
                counted.fetch_add(40, Ordering::Relaxed);
            }
        });
        // Reading of lines stops long before all are sent.
        let mut last = usize::MAX;
        loop {
            tokio::time::sleep(std::time::Duration::from_millis(300)).await;
            let now = lines_sent.load(Ordering::Relaxed);
            if now == last {
                break;
            }
            last = now;
        }
        assert!(last < 1200, "{last}");
        // All answers arrive when the client reads at last.
        let all = lines(unread).await;
        assert_eq!(all.len(), 1200);
        let matches = all[1199]["matches"].as_array().unwrap();
        assert_eq!(matches.len() as u64, NEAR_ZERO);
        feeding.await.unwrap();
    });
}

#[test]
fn runs_are_bounded_by_their_matches() {
    let question = |limit, add| Question {
        limit,
        add,
        ..Question::default()
    };
    let mut run = Run::default();
    run.push(1, question(1000, false));
    assert!(!run.takes(&question(10, false)) && !run.takes(&question(1000, true)));
    for number in 2..9 {
        assert!(run.takes(&question(1000, false)));
        run.push(number, question(1000, false));
    }
    assert!(!run.takes(&question(1000, false)));
}
