//! The listener and its connections.

mod admission;
mod drain;
#[cfg(feature = "tls")]
mod tls;
mod write_timeout;

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use hyper::Request;
use hyper::body::Incoming;
use hyper::header::EXPECT;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use simtool_core::{Error, ErrorKind, Result};
use simtool_engine::Progress;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{Semaphore, watch};
use tokio::time::{sleep, timeout};
#[cfg(feature = "tls")]
use tokio_rustls::TlsAcceptor;
use tower::ServiceExt;

use crate::config::Config;
use crate::problem::Problem;
use crate::routes::{COPIES, route_of, router};
use crate::service::Service;
use crate::workers::threads::ConnectionThreads;
use drain::Drained;
use write_timeout::WriteTimeout;

/// The read and write buffers of a connection.
const BUFFER_BYTES: usize = 128 << 10;
/// The interval of the checks for the end of the service.
const LOOK: Duration = Duration::from_millis(50);

/// The listening socket.
pub struct Listener {
    listener: TcpListener,
    #[cfg(feature = "tls")]
    acceptor: Option<TlsAcceptor>,
}

impl Listener {
    /// Begins to listen; connections wait to be accepted.
    pub async fn open(config: &Config) -> Result<Listener> {
        let tls = config.tls.as_ref();
        #[cfg(not(feature = "tls"))]
        let _ = tls;
        Ok(Listener {
            #[cfg(feature = "tls")]
            acceptor: tls.map(tls::acceptor).transpose()?,
            listener: TcpListener::bind(config.listen)
                .await
                .map_err(|cause| refused(config.listen, cause))?,
        })
    }

    /// Accepts connections until `progress` is stopped or SIGTERM arrives. Then waits until all
    /// connections have ended, at most for the grace time. They are served in `threads`.
    pub async fn serve(
        self,
        service: &Arc<Service>,
        threads: &ConnectionThreads,
        progress: &Progress,
        ready: impl FnOnce(SocketAddr) -> Result<()>,
    ) -> Result<()> {
        let address = self.listener.local_addr();
        ready(address.map_err(|cause| refused(service.config.listen, cause))?)?;
        let no_signals = |cause| {
            let message = "cannot listen to signals";
            Error::new(ErrorKind::Parameter, message).caused_by(cause)
        };
        let limits = service.config.limits;
        let connections = Arc::new(Semaphore::new(limits.connections));
        let (end, ended) = watch::channel(false);
        let router = router(service);
        // SIGTERM ends the service even if the process was started to ignore it.
        let mut terminated = signal(SignalKind::terminate()).map_err(no_signals)?;
        loop {
            let take = async {
                let permit = Arc::clone(&connections).acquire_owned().await;
                (permit, self.listener.accept().await)
            };
            let (permit, (stream, peer)) = tokio::select! {
                taken = take => match taken {
                    (Ok(permit), Ok(stream)) => (permit, stream),
                    // For example, no file descriptor is free: retry after a pause.
                    _ => {
                        sleep(LOOK).await;
                        continue;
                    }
                },
                () = stopped(progress, &mut terminated) => break,
            };
            // Answers are small: send them at once.
            let _ = stream.set_nodelay(true);
            let Ok(stream) = stream.into_std() else {
                continue;
            };
            let connection = Connection {
                service: Arc::clone(service),
                router: router.clone(),
                peer,
                ended: ended.clone(),
            };
            #[cfg(feature = "tls")]
            let acceptor = self.acceptor.clone();
            threads.spawn(async move {
                // From here on, the runtime of that thread waits for its bytes.
                let Ok(stream) = TcpStream::from_std(stream) else {
                    return;
                };
                #[cfg(feature = "tls")]
                if let Some(acceptor) = acceptor {
                    if let Ok(Ok(stream)) = timeout(limits.header, acceptor.accept(stream)).await {
                        connection.serve(stream).await;
                    }
                    drop(permit);
                    return;
                }
                connection.serve(stream).await;
                drop(permit);
            });
        }
        drop(self.listener);
        let _ = end.send(true);
        let all = connections.acquire_many(limits.connections as u32);
        let _ = timeout(limits.grace, all).await;
        Ok(())
    }
}

fn refused(address: SocketAddr, cause: io::Error) -> Error {
    let advice = match cause.kind() {
        io::ErrorKind::AddrInUse => {
            " (another process listens there, maybe another simtool serve: stop it, or give another \
             --listen; ss -ltnp shows it)"
        }
        io::ErrorKind::AddrNotAvailable => {
            " (this machine has no such address: give another --listen)"
        }
        io::ErrorKind::PermissionDenied => {
            " (ports below 1024 need a privilege: give another --listen)"
        }
        _ => "",
    };
    let message = format!("--listen {address}: cannot listen there{advice}");
    Error::new(ErrorKind::Parameter, message).caused_by(cause)
}

async fn stopped(progress: &Progress, terminated: &mut Signal) {
    let asked = async {
        while progress.check().is_ok() {
            sleep(LOOK).await;
        }
    };
    tokio::select! {
        () = asked => {}
        _ = terminated.recv() => {}
    }
}

/// A connection with its client.
struct Connection {
    service: Arc<Service>,
    router: Router,
    peer: SocketAddr,
    ended: watch::Receiver<bool>,
}

impl Connection {
    /// Answers its requests in order.
    async fn serve(self, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
        let Connection {
            service,
            router,
            peer,
            mut ended,
        } = self;
        let limits = service.config.limits;
        let stream = WriteTimeout::new(stream, limits.request);
        let answer = service_fn(move |request| {
            let (service, router) = (Arc::clone(&service), router.clone());
            async move { Ok::<_, Infallible>(answer(service, router, peer, request).await) }
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(limits.header)
            .max_buf_size(BUFFER_BYTES)
            // A client may close its side of the connection after its request.
            .half_close(true)
            .serve_connection(TokioIo::new(stream), answer);
        let mut connection = std::pin::pin!(connection);
        tokio::select! {
            _ = connection.as_mut() => return,
            _ = ended.wait_for(|ended| *ended) => {}
        }
        connection.as_mut().graceful_shutdown();
        let _ = connection.await;
    }
}

async fn answer(
    service: Arc<Service>,
    router: Router,
    peer: SocketAddr,
    request: Request<Incoming>,
) -> Response {
    let begin = Instant::now();
    let method = request.method().clone();
    let path = request.uri().path().to_owned();
    let admitted = service.admit(&request);
    // A client that expects 100-continue sends no body if it is refused.
    let waits = request.headers().contains_key(EXPECT);
    let time = service.config.limits.request;
    let mut request = request.map(|body| match waits {
        true => Body::new(body),
        false => Body::new(Drained::new(body, time)),
    });
    let response = match admitted {
        Err(problem) => problem.into_response(),
        Ok(permit) => {
            request.extensions_mut().insert(permit.clone());
            // Twice: for the body and for the answer. Copies have no limit.
            let limit = match path.as_str() {
                COPIES => Duration::MAX,
                _ => 2 * time,
            };
            match timeout(limit, router.oneshot(request)).await {
                Ok(Ok(response)) => response,
                Ok(Err(never)) => match never {},
                Err(_) => Problem::late().into_response(),
            }
        }
    };
    let (took, status) = (begin.elapsed(), response.status().as_u16());
    let route = route_of(&path);
    service.metrics.answered(route, status, took);
    service
        .config
        .log
        .answered(peer, method.as_str(), &path, status, took);
    response
}
