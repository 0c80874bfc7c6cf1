//! Computations: two at a time, each under a watch that whoever waits for it can cancel.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::http::{HeaderMap, StatusCode};
use bytes::Bytes;
use tokio::sync::mpsc::{self, Sender};
use tokio::sync::oneshot;
use tracesift_archive::{Progress, Watch};

use crate::failure::Failure;
use crate::state::State;
use crate::streamed::{PIECES, Streamed};

/// Computations at a time.
pub(crate) const AT_ONCE: usize = 2;

/// Computations that wait for their turn, at most.
pub(crate) const WAITING: usize = 32;

/// Seconds without any progress that end a computation.
const SECONDS_WITHOUT_PROGRESS: u32 = 60;

/// The header that names a request.
const ID: &str = "tracesift-id";

/// Cancels a computation when whoever waits for it goes away, and forgets its name.
pub(crate) struct CancelOnDrop {
    state: Arc<State>,
    id: Option<(String, u64)>,
    watch: Watch,
    is_done: Arc<AtomicBool>,
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.watch.cancel();
        self.is_done.store(true, Ordering::Relaxed);
        if let Some((id, number)) = &self.id {
            self.state.forget(id, *number);
        }
    }
}

/// A computation that may begin.
pub(crate) struct Turn {
    permit: tokio::sync::OwnedSemaphorePermit,
    cancel: CancelOnDrop,
    pub(crate) watch: Watch,
}

/// Waits for its turn.
pub(crate) async fn turn(state: &Arc<State>, headers: &HeaderMap) -> Result<Turn, Failure> {
    let id = headers.get(ID).map(|id| id.to_str().ok().filter(|id| is_id(id)));
    let id = match id {
        None => None,
        Some(Some(id)) => Some(id.to_owned()),
        Some(None) => return Err(Failure::bad("Tracesift-Id: letters, digits and hyphens, at most 64")),
    };
    let busy = || Failure::new(StatusCode::SERVICE_UNAVAILABLE, "server: too many requests wait").hint("ask again");
    let watch = Watch::default();
    let id = id.map(|id| {
        let number = state.remember(&id, &watch);
        (id, number)
    });
    let is_done = Arc::new(AtomicBool::new(false));
    let cancel = CancelOnDrop { state: state.clone(), id, watch: watch.clone(), is_done: is_done.clone() };
    let Ok(_waits) = state.waiting.clone().try_acquire_owned() else { return Err(busy()) };
    let permit = state.computing.clone().acquire_owned().await.map_err(|_| busy())?;
    tokio::spawn(end_if_stuck(watch.clone(), is_done));
    Ok(Turn { permit, cancel, watch })
}

fn is_id(id: &str) -> bool {
    !id.is_empty() && id.len() <= 64 && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// Cancels a computation that does not go on.
async fn end_if_stuck(watch: Watch, is_done: Arc<AtomicBool>) {
    let (mut last, mut seconds) = (Progress::default(), 0);
    while !is_done.load(Ordering::Relaxed) {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let now = watch.progress();
        seconds = if now == last { seconds + 1 } else { 0 };
        last = now;
        if seconds >= SECONDS_WITHOUT_PROGRESS {
            watch.cancel();
            return;
        }
    }
}

/// The result of work on a thread of its own.
pub(crate) async fn done<T, W>(turn: Turn, work: W) -> Result<(T, u64), Failure>
where
    T: Send + 'static,
    W: FnOnce(&Watch) -> Result<T, Failure> + Send + 'static,
{
    let Turn { permit, cancel, watch } = turn;
    let (send, receive) = oneshot::channel();
    tokio::task::spawn_blocking(move || {
        let result = work(&watch);
        let rows = watch.progress().done;
        drop(permit);
        // Nobody may wait any more.
        let _ = send.send(result.map(|result| (result, rows)));
    });
    let result = receive.await.map_err(|_| broken())?;
    drop(cancel);
    result
}

/// A body that work on a thread of its own makes piece by piece. What fails before the first piece is a failed request.
pub(crate) async fn streamed<W>(turn: Turn, work: W) -> Result<Streamed, Failure>
where
    W: FnOnce(&Watch, &mut Pieces) -> Result<(), Failure> + Send + 'static,
{
    let Turn { permit, cancel, watch } = turn;
    let (send, mut receive) = mpsc::channel(PIECES);
    tokio::task::spawn_blocking(move || {
        let mut pieces = Pieces { send, watch: watch.clone() };
        let failed = work(&watch, &mut pieces).err();
        drop(permit);
        if let Some(failure) = failed {
            let _ = pieces.send.blocking_send(Err(failure));
        }
    });
    match receive.recv().await {
        Some(Err(failure)) => Err(failure),
        Some(Ok(first)) => Ok(Streamed { first: Some(first), rest: receive, _cancel: cancel }),
        None => Ok(Streamed { first: None, rest: receive, _cancel: cancel }),
    }
}

fn broken() -> Failure {
    Failure::new(StatusCode::INTERNAL_SERVER_ERROR, "computation: it broke off")
}

/// Takes the pieces of a body.
pub(crate) struct Pieces {
    send: Sender<Result<Bytes, Failure>>,
    watch: Watch,
}

impl Pieces {
    /// Sends a piece, when there is room for it. A connection that takes nothing for some time breaks off, and takes no more pieces.
    pub(crate) fn add(&mut self, piece: Vec<u8>) -> Result<(), Failure> {
        self.watch.check()?;
        let sent = self.send.blocking_send(Ok(Bytes::from(piece)));
        sent.map_err(|_| tracesift_archive::Error::Cancelled.into())
    }
}
