//! A lock on a directory of an object store: an object that names the run.

use std::fs;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::Arc;
use std::time::SystemTime;

use serde_json::{Map, Value, json};
use simtool_objects::{Condition, Put, RemoteDirectory};

use crate::workdir::files::{checksummed, file};
use crate::{Error, ErrorKind, Result};
use simtool_files::{Faults, regular_contents};

/// The object that is the lock.
const OBJECT: &str = ".simtool/lock";
/// The local file with the key of the lock, next to the outputs under way. A run that was killed
/// finds it, and knows the lock as its own.
const KEY: &str = ".simtool-lock";

/// A lock on a directory of an object store, for one unfinished run at a time.
pub struct RemoteLock {
    directory: Arc<dyn RemoteDirectory>,
    key_file: PathBuf,
    /// Whether the lock stays when this is dropped, as there is an unfinished run.
    is_kept: bool,
    /// A warning if other processes may not be locked out.
    pub warning: Option<String>,
}

impl RemoteLock {
    /// Locks `directory` for the run whose local directory is `out`, which must be locked.
    ///
    /// # Errors
    /// [`ErrorKind::Write`] if another run has the lock; those of the requests.
    pub fn take(directory: &Arc<dyn RemoteDirectory>, out: &Path) -> Result<RemoteLock> {
        let key_file = out.join(KEY);
        let key = match own_key(&key_file) {
            Some(key) => key,
            None => new_key(&key_file)?,
        };
        let name = Path::new(OBJECT);
        let mut lock = RemoteLock {
            directory: Arc::clone(directory),
            key_file,
            is_kept: false,
            warning: None,
        };
        // Some stores ignore conditions, so the lock is looked for before and after it is written.
        match holder(&**directory)? {
            Holder::Nobody => {}
            Holder::Run(run) if has(&run, &key) => {
                lock.keep();
                return Ok(lock);
            }
            Holder::Run(run) => return Err(busy(&**directory, &run)),
        }
        let text = description(&key, out);
        if directory.put(name, text.clone(), Condition::New)? == Put::Unconditional {
            directory.put(name, text, Condition::Any)?;
            lock.warning = Some(format!(
                "{}: the store cannot write an object only if there is none: do not start a second \
                 simtool with this -o",
                directory.url(Path::new("")).display()
            ));
        }
        match holder(&**directory)? {
            Holder::Run(run) if has(&run, &key) => Ok(lock),
            Holder::Run(run) => Err(busy(&**directory, &run)),
            Holder::Nobody => {
                let message =
                    "was removed by another program while this command ran: give it again";
                Err(Error::new(ErrorKind::Write, message).in_file(directory.url(name)))
            }
        }
    }

    /// Refuses a directory that another run has locked than that whose local directory is `out`.
    ///
    /// # Errors
    /// [`ErrorKind::Write`]; those of the request.
    pub fn check(directory: &Arc<dyn RemoteDirectory>, out: &Path) -> Result<()> {
        let key = own_key(&out.join(KEY));
        match holder(&**directory)? {
            Holder::Run(run) if key.is_none_or(|key| !has(&run, &key)) => {
                Err(busy(&**directory, &run))
            }
            _ => Ok(()),
        }
    }

    /// Leaves the lock in place, unless it is [released](Self::release): there is an unfinished run.
    pub fn keep(&mut self) {
        self.is_kept = true;
    }

    /// Removes the lock.
    ///
    /// # Errors
    /// Errors of the request.
    pub fn release(mut self) -> Result<()> {
        self.is_kept = true;
        self.directory.delete(Path::new(OBJECT))?;
        let _ = fs::remove_file(&self.key_file);
        Ok(())
    }
}

impl Drop for RemoteLock {
    fn drop(&mut self) {
        if self.is_kept {
            return;
        }
        // A lock that remains is known as that of this directory.
        let key = own_key(&self.key_file);
        let is_own = match (holder(&*self.directory), key) {
            (Ok(Holder::Run(run)), Some(key)) => has(&run, &key),
            _ => false,
        };
        if is_own && self.directory.delete(Path::new(OBJECT)).is_err() {
            return;
        }
        let _ = fs::remove_file(&self.key_file);
    }
}

/// Who has the lock.
enum Holder {
    Nobody,
    /// The run with this description, which is empty if it is damaged.
    Run(Map<String, Value>),
}

fn holder(directory: &dyn RemoteDirectory) -> Result<Holder> {
    let mut text = Vec::new();
    let mut add = |piece: &[u8]| text.extend_from_slice(piece);
    Ok(match directory.read(Path::new(OBJECT), &mut add)? {
        true => Holder::Run(serde_json::from_slice(&text).unwrap_or_default()),
        false => Holder::Nobody,
    })
}

fn has(run: &Map<String, Value>, key: &str) -> bool {
    run.get("key").and_then(Value::as_str) == Some(key)
}

/// The error for a directory that another run has locked.
fn busy(directory: &dyn RemoteDirectory, run: &Map<String, Value>) -> Error {
    let told = |name: &str| {
        let text = run.get(name).map(|value| match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        });
        text.unwrap_or_else(|| "unknown".to_owned())
    };
    let message = format!(
        "another run has written there since {} and is unfinished: host {}, process {}, local \
         directory {} (if it is not running any more, repeat its command on that host to finish it; \
         if its local directory is lost, remove this object and the outputs of that run; or choose \
         another -o)",
        told("started"),
        told("host"),
        told("process"),
        told("directory"),
    );
    Error::new(ErrorKind::Write, message).in_file(directory.url(Path::new(OBJECT)))
}

fn own_key(path: &Path) -> Option<String> {
    let object = checksummed::decode(&regular_contents(path).ok()?)?;
    Some(object.get("key")?.as_str()?.to_owned())
}

fn new_key(path: &Path) -> Result<String> {
    let random = || RandomState::new().build_hasher().finish();
    let key = format!("{:016x}{:016x}", random(), random());
    let object = [("key".to_owned(), key.clone().into())];
    file::publish(path, object.into_iter().collect(), &Faults::default())?;
    Ok(key)
}

/// What the lock says about its run.
fn description(key: &str, out: &Path) -> Vec<u8> {
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let text = json!({
        "key": key,
        "program": concat!("simtool ", env!("CARGO_PKG_VERSION")),
        "host": host.trim(),
        "process": process::id(),
        "directory": out.to_string_lossy(),
        "started": utc(now.map_or(0, |now| now.as_secs())),
    });
    format!("{text:#}\n").into_bytes()
}

/// A time in seconds since 1970, for people.
fn utc(seconds: u64) -> String {
    let (days, second) = (seconds / 86_400 + 719_468, seconds % 86_400);
    // Years begin in March, so that leap days are last; 400 years have always as many days.
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let (day, month) = (day - (153 * month + 2) / 5 + 1, (month + 2) % 12 + 1);
    let year = 400 * era + year + u64::from(month <= 2);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_dates() {
        for (seconds, text) in [
            (0, "1970-01-01 00:00:00 UTC"),
            (784_111_777, "1994-11-06 08:49:37 UTC"),
            (1_709_208_000, "2024-02-29 12:00:00 UTC"),
            (1_709_251_200, "2024-03-01 00:00:00 UTC"),
            (1_735_689_599, "2024-12-31 23:59:59 UTC"),
        ] {
            assert_eq!(utc(seconds), text);
        }
    }
}
