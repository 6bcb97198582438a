//! Copies the index while the server uses it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use axum::extract::{Request, State};
use serde::{Deserialize, Serialize};
use simtool_batch::seen::Seen;
use simtool_core::Error;
use simtool_core::threads::start;
use simtool_index::{Options, check_creatable};
use tokio::sync::oneshot;

use super::body::{Reply, json, read_body};
use crate::log::Log;
use crate::problem::Problem;
use crate::service::Service;

const MAX_NAME_BYTES: usize = 200;

/// The body of a request.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CopyRequest {
    name: String,
}

/// The body of the response.
#[derive(Serialize)]
struct CopyResponse {
    name: String,
}

/// Copies the current state of the index into the directory for copies.
///
/// The copy is completed even if the client disconnects.
pub async fn copy(State(service): State<Arc<Service>>, request: Request) -> Reply {
    let Some(directory) = service.config.copies.clone() else {
        return Err(Problem::no_copies());
    };
    let body = read_body(&service, request.into_body()).await?;
    let wanted: CopyRequest = serde_json::from_slice(&body.bytes)
        .map_err(|error| Problem::bad("bad-json", error.to_string()))?;
    drop(body);
    if !is_name(&wanted.name) {
        let detail = format!(
            "\"name\": expected 1 to {MAX_NAME_BYTES} characters, each an ASCII letter, a digit, \
             or one of . - _; the first must not be a dot"
        );
        return Err(Problem::bad("bad-name", detail));
    }
    let permits = (service.permits.slow()?, service.permits.copy()?);
    let (seen, to) = (Arc::clone(&service.seen), directory.join(&wanted.name));
    let log = service.config.log;
    let (answer, made) = oneshot::channel();
    let copier = start("copy", move || {
        let made = catch_unwind(AssertUnwindSafe(|| make(&seen, &to, log)));
        drop(permits);
        let _ = answer.send(made.unwrap_or_else(|_| Err(Problem::unanswered())));
    });
    copier.map_err(|error| Problem::failed(log, "copy", "no copy was made", &error))?;
    made.await.unwrap_or_else(|_| Err(Problem::unanswered()))?;
    Ok(json(&CopyResponse { name: wanted.name }))
}

fn make(seen: &Seen, to: &Path, log: Log) -> Result<(), Problem> {
    let failed = |error: &Error| Problem::failed(log, "copy", "no copy was made", error);
    // A symbolic link may point out of the directory.
    if to.is_symlink() {
        return Err(Problem::copy_exists());
    }
    // An empty directory, or an unfinished copy without documents that an interrupted process left,
    // is overwritten.
    check_creatable(to).map_err(|error| match error.kind() {
        simtool_core::ErrorKind::Parameter => Problem::copy_exists(),
        _ => failed(&error),
    })?;
    let is_ours = !to.exists();
    seen.copy(to, &Options::default()).map_err(|error| {
        // Removes the partial copy, unless the directory existed before.
        if is_ours {
            let _ = std::fs::remove_dir_all(to);
        }
        failed(&error)
    })
}

fn is_name(name: &str) -> bool {
    let known = |byte: u8| byte.is_ascii_alphanumeric() || b".-_".contains(&byte);
    (1..=MAX_NAME_BYTES).contains(&name.len()) && !name.starts_with('.') && name.bytes().all(known)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_service::{Disk, TestService, addition, run};

    #[test]
    fn names_cannot_leave_the_directory_of_copies() {
        for name in ["a", "2026-11-22", "seen_1.copy"] {
            assert!(is_name(name), "{name}");
        }
        let long = "a".repeat(201);
        for name in ["", ".", "..", ".a", "a/b", "../a", "a b", "a\0", "ä", &long] {
            assert!(!is_name(name), "{name}");
        }
    }

    /// Promise (The service): A copy made during additions has …
    #[test]
    fn a_copy_that_fails_on_a_full_disk_is_removed() {
        run(async {
            let disk = Disk::default();
            let trial = TestService::with(disk.faults());
            let service = trial.service();
            let added = service.writer.add(vec![addition("a", 1)], None).await;
            assert!(added.is_ok());
            let to = trial.directory.path().join("copy");
            disk.fail(Some(|| std::io::ErrorKind::StorageFull.into()));
            let problem = make(&service.seen, &to, Log::Failures(|_| {})).unwrap_err();
            assert_eq!(problem.code(), "disk-full");
            assert!(!to.exists());
            disk.fail(None);
            assert!(make(&service.seen, &to, Log::Failures(|_| {})).is_ok());
            let again = make(&service.seen, &to, Log::Failures(|_| {})).unwrap_err();
            assert_eq!(again.code(), "copy-exists");
        });
    }
}
