//! Errors of the library as Python exceptions, with the same texts.

use std::io;
use std::sync::{Mutex, Once, PoisonError};

use pyo3::exceptions::{
    PyException, PyFileExistsError, PyFileNotFoundError, PyKeyboardInterrupt, PyOSError,
    PyPermissionError, PyValueError,
};
use pyo3::prelude::*;
use simtool::{ErrorKind, corpus};

pyo3::create_exception!(
    simtool_dedup,
    Error,
    PyException,
    "Data that cannot be used, a memory bound that is too small, or an internal error."
);

/// The message of the last panic of any thread.
static LAST_PANIC: Mutex<Option<String>> = Mutex::new(None);

/// The exception for an error of the library.
///
/// A parameter out of range is a `ValueError`; what cannot be read or written is an `OSError`, of
/// the subclass that Python raises for the same cause; an interruption is a `KeyboardInterrupt`.
pub fn exception(error: &simtool::Error) -> PyErr {
    let text = error.to_string();
    match error.kind() {
        ErrorKind::Parameter => PyValueError::new_err(text),
        ErrorKind::Interrupted => PyKeyboardInterrupt::new_err(text),
        ErrorKind::Read | ErrorKind::Write => match error.cause().map(io::Error::kind) {
            Some(io::ErrorKind::NotFound) => PyFileNotFoundError::new_err(text),
            Some(io::ErrorKind::PermissionDenied) => PyPermissionError::new_err(text),
            Some(io::ErrorKind::AlreadyExists) => PyFileExistsError::new_err(text),
            _ => PyOSError::new_err(text),
        },
        _ => Error::new_err(text),
    }
}

/// Keeps the message of each panic for [`internal_error`], and prints nothing.
///
/// The hook is that of this extension module's copy of the standard library: it sees no panics of
/// other modules.
pub fn keep_panic_messages() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        std::panic::set_hook(Box::new(|info| {
            // The panic of a decoder on a damaged document becomes an error of that document.
            if !corpus::is_contained() {
                let mut last = LAST_PANIC.lock().unwrap_or_else(PoisonError::into_inner);
                *last = Some(info.to_string());
            }
        }));
    });
}

/// The exception for a panic.
pub fn internal_error() -> PyErr {
    let mut last = LAST_PANIC.lock().unwrap_or_else(PoisonError::into_inner);
    let text = last.take().unwrap_or_else(|| "a panic".to_owned());
    Error::new_err(format!("internal error, please report it: {text}"))
}
