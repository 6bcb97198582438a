//! Catching of panics in decoders, which damaged input may cause.

use std::cell::Cell;
#[cfg(any(feature = "parquet", test))]
use std::{any::Any, panic};

thread_local! {
    static IS_CONTAINED: Cell<bool> = const { Cell::new(false) };
}

/// The result of `task`, or the payload of its panic, which the caller turns into an error.
///
/// State that `task` changed must not be used after a panic.
#[cfg(any(feature = "parquet", test))]
pub(super) fn contained<R>(task: impl FnOnce() -> R) -> Result<R, Box<dyn Any + Send>> {
    let before = IS_CONTAINED.replace(true);
    let outcome = panic::catch_unwind(panic::AssertUnwindSafe(task));
    IS_CONTAINED.set(before);
    outcome
}

/// Whether a panic of this thread would currently be caught and become an error of one document.
///
/// For the panic hook of a program, which must not report such a panic.
pub fn is_contained() -> bool {
    IS_CONTAINED.get()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Promise (Errors and interruptions): A panic of a decoder on …
    #[test]
    fn only_panics_within_are_contained() {
        let inner = || {
            let panicked = contained(|| {
                assert!(is_contained());
                panic!("on purpose")
            });
            assert!(panicked.is_err() && is_contained());
        };
        assert!(contained(inner).is_ok());
        assert!(!is_contained());
    }
}
