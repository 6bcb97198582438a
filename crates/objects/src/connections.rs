//! The connections of a client: its threads, its HTTP clients and the servers that it asks.

use std::collections::HashMap;
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustls::crypto::ring;
use tokio::time::sleep;

use crate::reply::Reply;
use crate::requests::hosts::{Hosts, lock};
use crate::requests::http::Http;
use crate::requests::threads::Threads;
use crate::servers::Server;
use crate::shared::Shared;
use crate::{Error, ErrorKind, Location, Result, Scheme};

type Servers = HashMap<(Scheme, String), (Arc<Server>, String)>;

/// What all requests of a client share.
pub(crate) struct Connections {
    pub(crate) shared: Arc<Shared>,
    pub(crate) threads: Threads,
    http: Http,
    pub(crate) hosts: Arc<Hosts>,
    servers: Mutex<Servers>,
}

impl Connections {
    /// Starts the threads.
    ///
    /// # Errors
    /// [`ErrorKind::Memory`] if the system refuses one; [`ErrorKind::Read`] if no requests can be sent.
    pub(crate) fn new(shared: Arc<Shared>) -> Result<Arc<Connections>> {
        let failed = |cause: &dyn std::fmt::Display| {
            let message = format!("no requests can be sent: {cause}");
            Error::new(ErrorKind::Read, message)
        };
        let threads = Threads::start()?;
        let mut roots = rustls::RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        let tls = rustls::ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|cause| failed(&cause))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        let http = Http::new(&tls, threads.names(), shared.settings.timeout);
        let http = http.map_err(|cause| failed(&cause))?;
        let hosts = Arc::new(Hosts::new(shared.settings.connections));
        threads.spawn(notify(Arc::clone(&hosts), Arc::clone(&shared)));
        Ok(Arc::new(Connections {
            shared,
            threads,
            http,
            hosts,
            servers: Mutex::default(),
        }))
    }

    /// The server of a location, and the name of its host.
    pub(crate) fn server(&self, location: &Location) -> Result<(Arc<Server>, String)> {
        let mut servers = lock(&self.servers);
        let key = (location.scheme, location.host.clone());
        if let Some((server, host)) = servers.get(&key) {
            return Ok((Arc::clone(server), host.clone()));
        }
        // Some settings of stores start tasks.
        let _context = self.threads.enter();
        let (server, host) = Server::of(location, &self.http, &self.shared.environment)?;
        let server = Arc::new(server);
        servers.insert(key, (Arc::clone(&server), host.clone()));
        Ok((server, host))
    }

    /// Begins a request.
    pub(crate) fn ask<T: Send + 'static>(
        &self,
        request: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Reply<T> {
        let (send, result) = sync_channel(1);
        let task = self.threads.spawn(async move {
            let _ = send.send(request.await);
        });
        Reply::new(Arc::clone(&self.shared), result, task.abort_handle())
    }
}

/// Notifies users of hosts without progress, as long as the threads run.
async fn notify(hosts: Arc<Hosts>, shared: Arc<Shared>) {
    let notice: Duration = shared.settings.notice();
    loop {
        sleep(notice / 10).await;
        for message in hosts.stalled(notice) {
            let notify = *lock(&shared.notify);
            notify.inspect(|notify| notify(&message));
        }
    }
}
