//! The objects that this process knows, with their identities.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::Path;
use std::sync::{Arc, Mutex};

use bytes::{Bytes, BytesMut};

use crate::cache_directory;
use crate::client::Client;
use crate::hosts::lock;
use crate::memory;
use crate::object::{Object, Opening, PREFIX_BYTES, Pending, prefix_of};
use crate::{Location, Result};

/// The objects by the names that are shown, and the process that opened them.
static OBJECTS: Mutex<Option<(u32, Objects)>> = Mutex::new(None);

/// The objects, and those that are being opened. (Names that differ, such as `a//b` and `a/b`, may be
/// equal as [`Path`]s.)
#[derive(Default)]
struct Objects {
    known: HashMap<OsString, Arc<Object>>,
    opening: HashMap<OsString, Ahead>,
    /// How many [runs](Run) there are.
    runs: u32,
}

/// A run that reads objects, in a process with several of them. At the end of the last one, the
/// process forgets all objects, and what the environment says of servers; so a later run reads new
/// versions of the objects. Runs at the same time read the same versions.
pub struct Run(());

impl Run {
    /// Begins a run.
    pub fn begin() -> Run {
        with_objects(|objects| objects.runs += 1);
        Run(())
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        let forgotten = with_objects(|objects| {
            objects.runs = objects.runs.saturating_sub(1);
            (objects.runs == 0).then(|| std::mem::take(objects))
        });
        if forgotten.is_some() {
            memory::set_listed_bytes(0);
            Client::forget_servers();
        }
    }
}

/// First bytes that were requested ahead.
enum Ahead {
    Open(Box<Opening>),
    /// Of an object whose identity is known.
    Read(Option<Pending>),
    /// They have arrived.
    Done(Bytes),
}

/// The maximum number of objects whose first bytes are kept until they are wanted.
const MAX_OPENING: usize = 256;

/// The object with the name `name`. Its identity is that at its first opening in this process (see
/// [`Run`]), or that of a listing.
///
/// # Errors
/// [`ErrorKind::Parameter`](crate::ErrorKind::Parameter) if the name is invalid;
/// [`ErrorKind::Read`](crate::ErrorKind::Read) if the object cannot be read.
pub fn open(name: &Path) -> Result<Arc<Object>> {
    let shown = Location::known(name)?.path().into_os_string();
    match with_objects(|objects| objects.known.get(&shown).cloned()) {
        Some(object) => Ok(object),
        None => open_first(name).map(|(object, _)| object),
    }
}

/// The object with the name `name`, and its first 64 KiB.
///
/// # Errors
/// As [`open`].
pub fn open_first(name: &Path) -> Result<(Arc<Object>, Bytes)> {
    let shown = Location::known(name)?.path().into_os_string();
    request_first(name)?;
    let (ahead, known) = with_objects(|objects| {
        let ahead = objects.opening.remove(&shown);
        (ahead, objects.known.get(&shown).cloned())
    });
    match (ahead, known) {
        (Some(Ahead::Read(pending)), Some(object)) => {
            let prefix = pending.map_or(Ok(Bytes::new()), |pending| pending.wait())?;
            let prefix = prefix_of(prefix);
            object.keep(&prefix);
            Ok((object, prefix))
        }
        (Some(Ahead::Done(prefix)), Some(object)) => Ok((object, prefix)),
        (Some(Ahead::Open(opening)), _) => {
            let (object, prefix) = opening.wait()?;
            Ok((add(shown, object), prefix))
        }
        // Another thread took it.
        _ => {
            let object = open(name)?;
            let prefix = object.read_at(0..PREFIX_BYTES)?;
            Ok((object, prefix))
        }
    }
}

/// The object with the name `name`, and its first bytes if they were
/// [requested](request_first).
///
/// # Errors
/// As [`open`].
pub fn open_requested(name: &Path) -> Result<(Arc<Object>, Option<Bytes>)> {
    let shown = Location::known(name)?.path().into_os_string();
    match with_objects(|objects| objects.opening.contains_key(&shown)) {
        true => open_first(name).map(|(object, prefix)| (object, Some(prefix))),
        false => open(name).map(|object| (object, None)),
    }
}

/// Whether any object was asked for.
pub fn has_objects() -> bool {
    with_objects(|objects| !objects.known.is_empty() || !objects.opening.is_empty())
}

/// Opens an object, and keeps its first bytes for [`open_first`].
///
/// # Errors
/// As [`open`].
pub fn check(name: &Path) -> Result<()> {
    let (object, prefix) = open_first(name)?;
    with_objects(|objects| {
        if objects.opening.len() < MAX_OPENING {
            objects
                .opening
                .insert(object.name().into(), Ahead::Done(prefix));
        }
    });
    Ok(())
}

/// Requests the first bytes of an object, which [`open_first`] will return.
///
/// # Errors
/// [`ErrorKind::Parameter`](crate::ErrorKind::Parameter) if the name is invalid.
pub fn request_first(name: &Path) -> Result<()> {
    let location = Location::known(name)?;
    let shown = location.path().into_os_string();
    let (client, cache) = (Client::get()?, cache_directory::current());
    with_objects(|objects| {
        if objects.opening.contains_key(&shown) {
            return Ok(());
        }
        let ahead = match objects.known.get(&shown) {
            Some(object) => Ahead::Read(object.begin(0..PREFIX_BYTES, BytesMut::new())),
            None => Ahead::Open(Box::new(Object::begin_open(&client, location, cache)?)),
        };
        objects.opening.insert(shown, ahead);
        Ok(())
    })
}

/// Sets the memory for ranges that are read ahead, and for small objects that are kept (at most half
/// of it), over all objects. Each open object holds one range beside it in any case: that which is
/// being read.
pub fn set_prefetch_bytes(bytes: u64) {
    memory::set(bytes);
    if memory::is_exceeded() {
        with_objects(|objects| {
            objects
                .known
                .values()
                .for_each(|object| object.forget_content())
        });
    }
}

/// Adds an object, unless it is known already. Returns the known one.
pub(crate) fn add(shown: OsString, object: Object) -> Arc<Object> {
    let object = Arc::new(object);
    with_objects(|objects| Arc::clone(objects.known.entry(shown).or_insert(object)))
}

fn with_objects<T>(act: impl FnOnce(&mut Objects) -> T) -> T {
    let mut objects = lock(&OBJECTS);
    let process = std::process::id();
    if objects.as_ref().is_none_or(|(owner, _)| *owner != process) {
        // Objects of another process refer to threads that are not here.
        std::mem::forget(objects.replace((process, Objects::default())));
    }
    let (_, objects) = objects.get_or_insert_with(|| (process, Objects::default()));
    act(objects)
}
