//! Connections of the endpoints, bounded in number and time. Requests that are begun and never finished must not use up
//! the file descriptors that the store, the spool and other probes need.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinSet};
use tokio_util::sync::CancellationToken;

use anamnesis_core::failpoints;

/// Most concurrent connections. One more closes the oldest connection that waits for its peer.
const CONNECTIONS: usize = 128;
/// Longest time for the head of a request, and longest silence between two requests of a connection.
const HEAD: Duration = Duration::from_secs(5);
/// Longest life of a connection: also of one whose peer never reads its answer.
const LIFE: Duration = Duration::from_secs(60);
/// Bytes of the head of a request.
const HEAD_BYTES: usize = 16 * 1024;
/// How long open connections may linger after the server is stopped.
const LINGER: Duration = Duration::from_secs(2);
/// The pause after a connection that could not be accepted: no descriptor is free at this moment.
const PAUSE: Duration = Duration::from_millis(50);

/// Serves until `stop` is cancelled; open connections then get two more seconds.
///
/// # Errors
/// When the listener fails permanently.
pub(crate) async fn serve(listener: TcpListener, router: Router, stop: CancellationToken) -> io::Result<()> {
    let mut connections = Connections::default();
    loop {
        let accepted = tokio::select! {
            biased;
            () = stop.cancelled() => break,
            Some(_) = connections.tasks.join_next(), if !connections.tasks.is_empty() => continue,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, _)) => connections.open(stream, router.clone(), stop.clone()),
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
    }
    drop(listener);
    let _ = tokio::time::timeout(LINGER, async { while connections.tasks.join_next().await.is_some() {} }).await;
    Ok(())
}

/// A connection that is open, or was.
struct OpenConnection {
    handle: AbortHandle,
    /// Requests that the server is answering on it.
    answering: Arc<AtomicUsize>,
}

#[derive(Default)]
struct Connections {
    tasks: JoinSet<()>,
    /// Oldest first.
    open: VecDeque<OpenConnection>,
}

impl Connections {
    fn open(&mut self, stream: TcpStream, router: Router, stop: CancellationToken) {
        self.open.retain(|one| !one.handle.is_finished());
        if self.open.len() >= CONNECTIONS && !failpoints::is("header_flood") {
            self.close_one();
        }
        let answering = Arc::new(AtomicUsize::new(0));
        let handle = self.tasks.spawn(attend(stream, router, Arc::clone(&answering), stop));
        self.open.push_back(OpenConnection { handle, answering });
    }

    /// Closes the oldest connection that waits for its peer, or the oldest of all where every one is being answered.
    fn close_one(&mut self) {
        let waits = |one: &OpenConnection| one.answering.load(Ordering::Relaxed) == 0;
        let at = self.open.iter().position(waits).unwrap_or(0);
        if let Some(one) = self.open.remove(at) {
            one.handle.abort();
        }
    }
}

/// One connection to its end.
async fn attend(stream: TcpStream, router: Router, answering: Arc<AtomicUsize>, stop: CancellationToken) {
    let counted = router.layer(axum::middleware::from_fn(move |request, next: axum::middleware::Next| {
        let answering = Arc::clone(&answering);
        async move {
            let _one = RequestCounter::begin(answering);
            next.run(request).await
        }
    }));
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).max_buf_size(HEAD_BYTES);
    if !failpoints::is("header_flood") {
        builder.header_read_timeout(HEAD);
    }
    let connection = builder.serve_connection(TokioIo::new(stream), TowerToHyperService::new(counted));
    tokio::pin!(connection);
    let life = tokio::time::sleep(if failpoints::is("header_flood") { LIFE * 60 } else { LIFE });
    tokio::pin!(life);
    let mut leaving = false;
    loop {
        tokio::select! {
            // A peer that breaks off is no event.
            _ = connection.as_mut() => return,
            () = &mut life => return,
            () = stop.cancelled(), if !leaving => {
                leaving = true;
                connection.as_mut().graceful_shutdown();
            }
        }
    }
}

/// Counts one request while it is answered.
struct RequestCounter(Arc<AtomicUsize>);

impl RequestCounter {
    fn begin(count: Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for RequestCounter {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
