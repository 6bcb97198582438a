//! The objects that this process knows, with their identities.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use bytes::Bytes;

use crate::client::Client;
use crate::hosts::lock;
use crate::object::Object;
use crate::{Location, Result};

/// The objects by the names that are shown, and the process that opened them.
static OBJECTS: Mutex<Option<(u32, Objects)>> = Mutex::new(None);

type Objects = HashMap<PathBuf, Arc<Object>>;

/// The object with the name `name`. Its identity is that at its first opening in this process. At
/// that time its first bytes are read, and returned too.
///
/// # Errors
/// [`ErrorKind::Parameter`](crate::ErrorKind::Parameter) if the name is invalid;
/// [`ErrorKind::Read`](crate::ErrorKind::Read) if the object cannot be read.
pub fn open(name: &Path) -> Result<(Arc<Object>, Option<Bytes>)> {
    let location = Location::known(name)?;
    let shown = location.path();
    if let Some(object) = with_objects(|objects| objects.get(&shown).cloned()) {
        return Ok((object, None));
    }
    let (object, prefix) = Object::open(&Client::get()?, location)?;
    let object = Arc::new(object);
    with_objects(|objects| objects.insert(shown, Arc::clone(&object)));
    Ok((object, Some(prefix)))
}

fn with_objects<T>(act: impl FnOnce(&mut Objects) -> T) -> T {
    let mut objects = lock(&OBJECTS);
    let process = std::process::id();
    if objects.as_ref().is_none_or(|(owner, _)| *owner != process) {
        // Objects of another process refer to threads that are not here.
        std::mem::forget(objects.replace((process, Objects::new())));
    }
    let (_, objects) = objects.get_or_insert_with(|| (process, Objects::new()));
    act(objects)
}
