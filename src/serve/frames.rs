//! Answers on their way to a caller who may be slow.

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

use super::Service;

/// Answers are cut into pieces of so many bytes.
const PIECE_BYTES: usize = 64 << 10;
/// So many pieces may wait, if there is memory for them.
const PIECES: usize = 128;
/// And so many in any case, so that nobody waits for the memory of others.
const OWN_PIECES: usize = 4;

/// The answers, where they come from.
pub struct Answers {
    service: Arc<Service>,
    pieces: Sender<Bytes>,
    own: Arc<Semaphore>,
    patience: Duration,
    is_whole: Arc<AtomicBool>,
}

/// The answers as a body.
pub struct Frames {
    pieces: Receiver<Bytes>,
    is_whole: Arc<AtomicBool>,
}

/// A piece, and what pays for its place until it is written.
struct Piece {
    bytes: Bytes,
    _place: OwnedSemaphorePermit,
}

impl AsRef<[u8]> for Piece {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Answers {
    /// Answers to a caller of `service`, and their body.
    pub fn of(service: &Arc<Service>) -> (Answers, Frames) {
        let (sender, pieces) = channel(PIECES);
        let is_whole = Arc::new(AtomicBool::new(false));
        let answers = Answers {
            service: Arc::clone(service),
            pieces: sender,
            own: Arc::new(Semaphore::new(OWN_PIECES)),
            patience: service.config.limits.request,
            is_whole: Arc::clone(&is_whole),
        };
        (answers, Frames { pieces, is_whole })
    }

    /// Hands `text` on, when there is room for it; whether the caller still reads.
    pub async fn send(&self, text: Vec<u8>) -> bool {
        let mut text = Bytes::from(text);
        while !text.is_empty() {
            let bytes = text.split_to(text.len().min(PIECE_BYTES));
            let sent = timeout(self.patience, async {
                let place = match self.service.memory.for_answer(bytes.len()) {
                    Some(place) => place,
                    None => Arc::clone(&self.own).acquire_owned().await.ok()?,
                };
                let piece = Piece {
                    bytes,
                    _place: place,
                };
                self.pieces.send(Bytes::from_owner(piece)).await.ok()
            });
            if !matches!(sent.await, Ok(Some(()))) {
                return false;
            }
        }
        true
    }

    /// These were all.
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
            // What is cut off must not look like all there is: the connection is broken.
            None => Some(Err(io::ErrorKind::TimedOut.into())),
        })
    }
}
