//! Connections: on 127.0.0.1, a limited number, with limits of what a slow or a strange client may cost.

use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpListener as Listener};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use serde_json::Value;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tracesift_archive::Watch;
use tracesift_ask::recording::OpenRecording;

use crate::answers::Answers;
use crate::body::PATIENCE;
use crate::guard::Guard;
use crate::kept::{Kept, KeptBy};
use crate::patient::Patient;
use crate::recording::{Given, Opened, TagFile};
use crate::routes;
use crate::session::{self, Start};
use crate::state::State;
use crate::token::Token;
use crate::warm::{LATER, warm, warm_threads};

/// Connections at a time.
const CONNECTIONS: usize = 64;

/// Bytes of the head of a request, at most.
const MOST_HEAD: usize = 16 << 10;

/// Bytes of numbers of all recordings that are kept from one request to the next.
const ROOM: u64 = 256 << 20;

/// How often the server looks whether it has to end.
const LOOKS: Duration = Duration::from_millis(50);

/// What a session has.
#[derive(Debug, Default)]
pub struct Settings {
    /// The recordings.
    pub recordings: Vec<Given>,
    /// The files of stack tags.
    pub tag_files: Vec<TagFile>,
    /// The views that a file brings.
    pub views: Vec<Value>,
    /// What is shown first.
    pub start: Start,
    /// The port; 0: any.
    pub port: u16,
}

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The port is not to be had, or the system does not let anybody listen.
    #[error("port {0}: {1}")]
    Port(u16, io::Error),
    /// No recording can be opened.
    #[error("{0}")]
    Recording(String),
    /// The system has no random numbers.
    #[error("random numbers: {0}")]
    Random(getrandom::Error),
    /// The system refuses what a server needs.
    #[error("server: {0}")]
    System(#[from] io::Error),
}

/// A server that listens and does not answer yet.
#[expect(missing_debug_implementations, reason = "it has the token, which belongs in no log")]
pub struct Server {
    listener: Listener,
    state: Arc<State>,
    url: String,
}

impl Server {
    /// Opens the recordings and listens on 127.0.0.1.
    ///
    /// # Errors
    /// When a recording cannot be opened, or the port is not to be had.
    pub fn new(settings: Settings, answers: Arc<dyn Answers>) -> Result<Self, ServeError> {
        let room = ROOM / (settings.recordings.len().max(1) as u64);
        let opened = settings.recordings.into_iter().map(|given| {
            let recording = OpenRecording::open(&given.source);
            let recording = recording.map_err(|error| ServeError::Recording(format!("{}: {error}", given.file)))?;
            Ok(Opened {
                given,
                recording: recording.keeping(room),
                kinds: OnceLock::new(),
                lists: KeptBy::default(),
                threads: Kept::default(),
                may_have_regions: OnceLock::new(),
                regions: Kept::default(),
            })
        });
        let recordings = opened.collect::<Result<Vec<_>, ServeError>>()?;
        let session = session::of(&recordings, &settings.tag_files, &settings.views, &settings.start);
        let port = settings.port;
        let listener = Listener::bind(SocketAddrV4::new(Ipv4Addr::LOCALHOST, port));
        let listener = listener.map_err(|error| ServeError::Port(port, error))?;
        listener.set_nonblocking(true)?;
        let port = listener.local_addr()?.port();
        let token = Token::new().map_err(ServeError::Random)?;
        let url = format!("http://127.0.0.1:{port}/#token={}", token.text());
        let state = State::new(recordings, settings.tag_files, answers, (Guard::new(port, token), session));
        Ok(Self { listener, state: Arc::new(state), url })
    }

    /// The address of the page, with the token. Nobody else may see it.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The address that it listens on.
    ///
    /// # Errors
    /// When the system does not tell.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Answers until `is_over`.
    ///
    /// # Errors
    /// When the system refuses what a server needs.
    pub fn run(self, is_over: impl Fn() -> bool) -> Result<(), ServeError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
        let Self { listener, state, .. } = self;
        let watch = &Watch::default();
        let ended = runtime.block_on(async {
            let listener = TcpListener::from_std(listener)?;
            tokio::spawn(warmed(state.clone(), watch.clone()));
            let accepting = tokio::spawn(accept(listener, state));
            while !is_over() && !accepting.is_finished() {
                tokio::time::sleep(LOOKS).await;
            }
            Ok(())
        });
        // Computations look at their watch, and end soon.
        watch.cancel();
        runtime.shutdown_timeout(Duration::from_secs(1));
        ended
    }
}

/// Makes what is asked for first before anybody asks. Failures are told whoever asks.
async fn warmed(state: Arc<State>, watch: Watch) {
    let (first, its_watch) = (state.clone(), watch.clone());
    let _ = tokio::task::spawn_blocking(move || warm(&first, &its_watch)).await;
    tokio::time::sleep(LATER).await;
    let _ = tokio::task::spawn_blocking(move || warm_threads(&state, &watch)).await;
}

async fn accept(listener: TcpListener, state: Arc<State>) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    let router = routes::router(state.clone());
    loop {
        let Ok(place) = places.clone().acquire_owned().await else { return };
        // One that was given up before it was accepted is no reason to end; without a pause a lack of files would be busy waiting.
        let Ok((connection, _)) = listener.accept().await else {
            tokio::time::sleep(LOOKS).await;
            continue;
        };
        let (router, state) = (router.clone(), state.clone());
        tokio::spawn(async move {
            answer(connection, router, state).await;
            drop(place);
        });
    }
}

/// Answers the requests of a connection.
async fn answer(connection: TcpStream, router: Router, state: Arc<State>) {
    // Small responses are not kept back.
    let _ = connection.set_nodelay(true);
    let service = service_fn(|request: Request<Incoming>| {
        let (router, state) = (router.clone(), state.clone());
        async move { Ok::<Response<Body>, Infallible>(routes::respond(request, router, &state).await) }
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(PATIENCE)
        .max_buf_size(MOST_HEAD)
        .serve_connection(TokioIo::new(Patient::new(connection, PATIENCE)), service);
    // Whoever breaks off a connection is not told why it failed.
    let _ = served.await;
}
