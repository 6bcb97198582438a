//! Copies of the index while it is in use.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use axum::extract::{Request, State};
use serde::{Deserialize, Serialize};
use simtool::Error;
use simtool::index::{Options, vacant};
use simtool::run::seen::Seen;

use super::Service;
use super::log::Log;
use super::problem::Problem;
use super::routes::{Answered, body, json};

const MOST_NAME_BYTES: usize = 200;

/// The body of a request.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    name: String,
}

/// What was made.
#[derive(Serialize)]
struct Made {
    name: String,
}

/// Copies the index, as it is now, into the directory for copies.
///
/// It is made whether or not its caller waits for it.
pub async fn copy(State(service): State<Arc<Service>>, request: Request) -> Answered {
    let Some(directory) = service.config.copies.clone() else {
        return Err(Problem::no_copies());
    };
    let body = body(&service, request.into_body()).await?;
    let wanted: Wanted = serde_json::from_slice(&body.bytes)
        .map_err(|error| Problem::bad("bad-json", error.to_string()))?;
    drop(body);
    if !is_name(&wanted.name) {
        let detail = format!(
            "\"name\": expected 1 to {MOST_NAME_BYTES} letters, digits, dots, dashes and \
             underscores, and no dot at the beginning"
        );
        return Err(Problem::bad("bad-name", detail));
    }
    let place = service.place()?;
    let copying = Arc::clone(&service.copying);
    let turn = copying.try_acquire_owned();
    let turn = turn.map_err(|_| Problem::copying())?;
    let (seen, to) = (Arc::clone(&service.seen), directory.join(&wanted.name));
    let log = service.config.log;
    let made = tokio::task::spawn_blocking(move || {
        let made = catch_unwind(AssertUnwindSafe(|| make(&seen, &to, log)));
        drop((place, turn));
        made.unwrap_or_else(|_| Err(Problem::unanswered()))
    });
    made.await.unwrap_or_else(|_| Err(Problem::unanswered()))?;
    Ok(json(&Made { name: wanted.name }))
}

fn make(seen: &Seen, to: &Path, log: Log) -> Result<(), Problem> {
    let failed = |error: &Error| {
        log.failed("copy", error);
        Problem::of_a_copy(error)
    };
    // A link leads out of the directory, or nowhere.
    if to.is_symlink() {
        return Err(Problem::copy_exists());
    }
    // Where a process ended before its copy did, the rest of it is replaced.
    vacant(to).map_err(|error| match error.kind() {
        simtool::ErrorKind::Parameter => Problem::copy_exists(),
        _ => failed(&error),
    })?;
    let is_ours = !to.exists();
    seen.copy(to, &Options::default()).map_err(|error| {
        // What there is of it only takes space.
        if is_ours {
            let _ = std::fs::remove_dir_all(to);
        }
        failed(&error)
    })
}

fn is_name(name: &str) -> bool {
    let known = |byte: u8| byte.is_ascii_alphanumeric() || b".-_".contains(&byte);
    (1..=MOST_NAME_BYTES).contains(&name.len()) && !name.starts_with('.') && name.bytes().all(known)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serve::trial::{Disk, Trial, addition, run};

    #[test]
    fn names_stay_in_the_directory() {
        for name in ["a", "2026-11-22", "seen_1.copy"] {
            assert!(is_name(name), "{name}");
        }
        let long = "a".repeat(201);
        for name in ["", ".", "..", ".a", "a/b", "../a", "a b", "a\0", "ä", &long] {
            assert!(!is_name(name), "{name}");
        }
    }

    #[test]
    fn where_there_is_no_space_nothing_is_left_of_a_copy() {
        run(async {
            let disk = Disk::default();
            let trial = Trial::with(disk.faults());
            let service = trial.service();
            let added = service.writer.add(vec![addition("a", 1)], None).await;
            assert!(added.is_ok());
            let to = trial.directory.path().join("copy");
            disk.fail(Some(|| std::io::ErrorKind::StorageFull.into()));
            let problem = make(&service.seen, &to, Log::Quiet).unwrap_err();
            assert_eq!(problem.code(), "disk-full");
            assert!(!to.exists());
            disk.fail(None);
            assert!(make(&service.seen, &to, Log::Quiet).is_ok());
            let again = make(&service.seen, &to, Log::Quiet).unwrap_err();
            assert_eq!(again.code(), "copy-exists");
        });
    }
}
