//! The wait for the answer to a request, which can be ended.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};

use tokio::task::AbortHandle;

use crate::shared::Shared;
use crate::shared::interruption::STEP;
use crate::{Error, ErrorKind, Result};

/// The answer to a request that is under way. The request ends when this is dropped.
pub(crate) struct Reply<T> {
    shared: Arc<Shared>,
    result: Receiver<Result<T>>,
    /// The request; `None` if the answer was known.
    task: Option<AbortHandle>,
}

impl<T> Reply<T> {
    pub(crate) fn new(
        shared: Arc<Shared>,
        result: Receiver<Result<T>>,
        task: AbortHandle,
    ) -> Reply<T> {
        Reply {
            shared,
            result,
            task: Some(task),
        }
    }

    /// An answer that is known.
    pub(crate) fn known(shared: &Arc<Shared>, answer: T) -> Reply<T> {
        let (send, result) = sync_channel(1);
        let _ = send.send(Ok(answer));
        Reply {
            shared: Arc::clone(shared),
            result,
            task: None,
        }
    }

    /// The answer.
    ///
    /// # Errors
    /// Errors of the request; [`ErrorKind::Interrupted`] after [`Client::stop`](crate::Client::stop).
    pub(crate) fn wait(&self) -> Result<T> {
        loop {
            match self.result.recv_timeout(STEP) {
                Ok(result) => return result,
                Err(RecvTimeoutError::Timeout) => self.shared.interruption.check()?,
                Err(RecvTimeoutError::Disconnected) => {
                    let message = "a request ended without an answer";
                    return Err(Error::new(ErrorKind::Read, message));
                }
            }
        }
    }
}

impl<T> Drop for Reply<T> {
    fn drop(&mut self) {
        self.task.take().inspect(AbortHandle::abort);
    }
}
