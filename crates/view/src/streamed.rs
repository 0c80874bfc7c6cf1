//! The body of a response that comes piece by piece.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame};
use tokio::sync::mpsc::Receiver;

use crate::failure::Failure;
use crate::work::CancelOnDrop;

/// Pieces that wait for a slow reader, at most.
pub(crate) const PIECES: usize = 16;

/// The computation broke off: the connection does so, too.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct BrokenOff(String);

/// The pieces of a body. If it is dropped, nobody computes the rest.
pub(crate) struct Streamed {
    pub(crate) first: Option<Bytes>,
    pub(crate) rest: Receiver<Result<Bytes, Failure>>,
    pub(crate) _cancel: CancelOnDrop,
}

impl Body for Streamed {
    type Data = Bytes;
    type Error = BrokenOff;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BrokenOff>>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(Ok(Frame::data(first))));
        }
        let piece = self.rest.poll_recv(context);
        piece.map(|piece| Some(piece?.map(Frame::data).map_err(|failure| BrokenOff(failure.error))))
    }
}
