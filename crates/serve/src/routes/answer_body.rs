//! The body of an answer to a batch: its memory is bounded, however slowly the client reads.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::limits::memory::Memory;

/// The size of the pieces of an answer.
const PIECE_BYTES: usize = 64 << 10;
/// The maximum number of pieces that wait for the client, if there is memory for them.
const PIECES: usize = 128;
/// Pieces that may wait in any case, so that no batch waits for the memory of others.
const OWN_PIECES: usize = 4;

/// The sender of answers.
pub struct Answers {
    memory: Memory,
    pieces: Sender<Bytes>,
    own: Arc<Semaphore>,
    timeout: Duration,
    is_whole: Arc<AtomicBool>,
}

/// The answers as a body.
pub struct Frames {
    pieces: Receiver<Bytes>,
    is_whole: Arc<AtomicBool>,
}

/// A piece with its permit, until it is written.
struct Piece {
    bytes: Bytes,
    _permit: OwnedSemaphorePermit,
}

impl AsRef<[u8]> for Piece {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Answers {
    /// A sender of answers, and the body that it feeds. Sending fails if a piece waits for longer
    /// than `timeout`. The body fails if the sender is dropped without [`Answers::end`].
    pub fn new(memory: &Memory, timeout: Duration) -> (Answers, Frames) {
        let (sender, pieces) = channel(PIECES);
        let is_whole = Arc::new(AtomicBool::new(false));
        let answers = Answers {
            memory: memory.clone(),
            pieces: sender,
            own: Arc::new(Semaphore::new(OWN_PIECES)),
            timeout,
            is_whole: Arc::clone(&is_whole),
        };
        (answers, Frames { pieces, is_whole })
    }

    /// Sends `text` when there is space for it; returns whether the client still reads.
    pub async fn send(&self, text: Vec<u8>) -> bool {
        let mut text = Bytes::from(text);
        while !text.is_empty() {
            let bytes = text.split_to(text.len().min(PIECE_BYTES));
            let sent = timeout(self.timeout, async {
                let permit = match self.memory.for_answer(bytes.len()) {
                    Some(permit) => permit,
                    None => Arc::clone(&self.own).acquire_owned().await.ok()?,
                };
                let piece = Piece {
                    bytes,
                    _permit: permit,
                };
                self.pieces.send(Bytes::from_owner(piece)).await.ok()
            });
            if !matches!(sent.await, Ok(Some(()))) {
                return false;
            }
        }
        true
    }

    /// Waits until the client disconnects.
    pub async fn closed(&self) {
        self.pieces.closed().await;
    }

    /// Marks the answers as complete.
    pub fn end(self) {
        self.is_whole.store(true, Ordering::Release);
    }
}

impl Body for Frames {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        let is_whole = Arc::clone(&self.is_whole);
        self.pieces.poll_recv(context).map(|piece| match piece {
            Some(bytes) => Some(Ok(Frame::data(bytes))),
            None if is_whole.load(Ordering::Acquire) => None,
            // A truncated body must not look complete: the connection is aborted.
            None => Some(Err(io::ErrorKind::TimedOut.into())),
        })
    }
}
