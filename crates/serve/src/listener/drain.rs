//! Request bodies whose unused rest is drained.
//!
//! A connection that is closed while its client sends is reset, and the client may miss its answer.
//! So the rest of a refused body is read and discarded, up to a bound.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use tokio::runtime::Handle;
use tokio::time::timeout;

/// The maximum number of bytes that are discarded.
const MAX_BYTES: usize = 256 << 20;
/// A body whose rest is drained when it is dropped.
pub struct Drained {
    body: Option<Incoming>,
    /// The longest time of draining.
    time: Duration,
}

impl Drained {
    pub fn new(body: Incoming, time: Duration) -> Drained {
        Drained {
            body: Some(body),
            time,
        }
    }
}

impl Body for Drained {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        match &mut self.body {
            Some(body) => Pin::new(body).poll_frame(context),
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Incoming::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body
            .as_ref()
            .map_or_else(SizeHint::default, Incoming::size_hint)
    }
}

impl Drop for Drained {
    fn drop(&mut self) {
        let body = self.body.take().filter(|body| !body.is_end_stream());
        if let (Some(body), Ok(runtime)) = (body, Handle::try_current()) {
            runtime.spawn(timeout(self.time, drain(body)));
        }
    }
}

async fn drain(mut body: Incoming) {
    let mut bytes = 0;
    while bytes < MAX_BYTES
        && let Some(Ok(frame)) = body.frame().await
    {
        bytes += frame.data_ref().map_or(0, Bytes::len);
    }
}
