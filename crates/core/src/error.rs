//! Errors with their class, message, file and cause.

use std::fmt;
use std::path::{Path, PathBuf};

/// Shorthand for results of this library.
pub type Result<T> = std::result::Result<T, Error>;

/// The class of an error, for callers.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// A parameter is outside its range or contradicts another one.
    Parameter,
    /// An input could not be opened or read.
    Read,
    /// An input was read, but its content is invalid.
    Content,
    /// An input was truncated or modified while it was being read.
    Changed,
    /// An output or temporary file could not be written.
    Write,
    /// The memory bound is too small for the job.
    Memory,
    /// The caller stopped the run.
    Interrupted,
}

/// An error with its class, its message and, if there is one, the file concerned.
///
/// Displayed as `FILE: MESSAGE: CAUSE`, on one line; missing parts are left out.
#[derive(Debug)]
pub struct Error(Box<Inner>);

#[derive(Debug)]
struct Inner {
    kind: ErrorKind,
    message: String,
    file: Option<PathBuf>,
    cause: Option<std::io::Error>,
}

impl Error {
    /// An error of class `kind`; `message` names what was expected and what was found.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Error(Box::new(Inner {
            kind,
            message: message.into(),
            file: None,
            cause: None,
        }))
    }

    /// The error for the input `file`, which cannot be read. A cause that [is](Error::into_cause) an
    /// error of this kind already is returned as it was.
    pub fn unreadable(file: impl AsRef<Path>, cause: std::io::Error) -> Self {
        let cause = match Error::from_cause(cause) {
            Ok(error) => return error,
            Err(cause) => cause,
        };
        let error = Error::new(ErrorKind::Read, "cannot be read");
        error.in_file(file).caused_by(cause)
    }

    /// The error as an error of the system, for functions that return these.
    pub fn into_cause(self) -> std::io::Error {
        let kind = self.cause().map(std::io::Error::kind);
        std::io::Error::new(kind.unwrap_or(std::io::ErrorKind::Other), self)
    }

    /// The error from which `cause` was [made](Error::into_cause).
    ///
    /// # Errors
    /// `cause` itself, if it was not made from one.
    pub fn from_cause(cause: std::io::Error) -> std::result::Result<Self, std::io::Error> {
        cause.downcast()
    }

    /// Sets the file concerned.
    #[must_use]
    pub fn in_file(mut self, file: impl AsRef<Path>) -> Self {
        self.0.file = Some(file.as_ref().to_owned());
        self
    }

    /// Sets the operating system's reason.
    #[must_use]
    pub fn caused_by(mut self, cause: std::io::Error) -> Self {
        self.0.cause = Some(cause);
        self
    }

    /// The class of the failure.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The operating system's reason, if it gave one.
    pub fn cause(&self) -> Option<&std::io::Error> {
        self.0.cause.as_ref()
    }

    /// The file concerned, if any.
    pub fn file(&self) -> Option<&Path> {
        self.0.file.as_deref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.0.file {
            write!(out, "{}: ", file.display())?;
        }
        out.write_str(&self.0.message)?;
        if let Some(cause) = &self.0.cause {
            write!(out, ": {cause}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}
