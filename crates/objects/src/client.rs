//! The client of this process: its threads, connections and servers.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustls::crypto::ring;
use tokio::time::sleep;

use crate::environment::Settings;
use crate::hosts::{Hosts, Wait, lock};
use crate::http::Http;
use crate::servers::Server;
use crate::threads::Threads;
use crate::{Error, ErrorKind, Location, Result, Scheme};

/// The client, and the process that made it: threads do not survive a fork.
static CLIENT: Mutex<Option<(u32, Arc<Client>)>> = Mutex::new(None);

type Servers = HashMap<(Scheme, String), (Arc<Server>, String)>;

/// What all requests share.
pub(crate) struct Client {
    pub(crate) runtime: Threads,
    pub(crate) settings: Settings,
    http: Http,
    pub(crate) hosts: Arc<Hosts>,
    servers: Mutex<Servers>,
}

impl Client {
    fn new(settings: Settings) -> Result<Arc<Client>> {
        let failed = |cause: &dyn std::fmt::Display| {
            let message = format!("no requests can be sent: {cause}");
            Error::new(ErrorKind::Read, message)
        };
        let runtime = Threads::start()?;
        let mut roots = rustls::RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        let tls = rustls::ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|cause| failed(&cause))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        let http = Http::new(&tls, runtime.names(), settings.timeout);
        let http = http.map_err(|cause| failed(&cause))?;
        let hosts = Arc::new(Hosts::new(settings.connections));
        runtime.spawn(notify(Arc::clone(&hosts), settings.notice()));
        Ok(Arc::new(Client {
            runtime,
            http,
            hosts,
            settings,
            servers: Mutex::default(),
        }))
    }

    /// The client of this process.
    pub(crate) fn get() -> Result<Arc<Client>> {
        let mut client = lock(&CLIENT);
        let process = std::process::id();
        match &*client {
            Some((owner, client)) if *owner == process => Ok(Arc::clone(client)),
            _ => {
                let new = Client::new(Settings::from_environment())?;
                // The threads of another process are not here, and cannot be waited for.
                std::mem::forget(client.replace((process, Arc::clone(&new))));
                Ok(new)
            }
        }
    }

    /// Forgets the settings of servers that the environment gave.
    pub(crate) fn forget_servers() {
        if let Some((_, client)) = &*lock(&CLIENT) {
            lock(&client.servers).clear();
        }
    }

    /// The server of a location, and the name of its host.
    pub(crate) fn server(&self, location: &Location) -> Result<(Arc<Server>, String)> {
        let mut servers = lock(&self.servers);
        let key = (location.scheme, location.host.clone());
        if let Some((server, host)) = servers.get(&key) {
            return Ok((Arc::clone(server), host.clone()));
        }
        // Some settings of stores start tasks.
        let _context = self.runtime.enter();
        let (server, host) = Server::of(location, &self.http)?;
        let server = Arc::new(server);
        servers.insert(key, (Arc::clone(&server), host.clone()));
        Ok((server, host))
    }
}

/// What is called with a message for users about a server that makes no progress.
static NOTIFY: Mutex<Option<fn(&str)>> = Mutex::new(None);

/// Calls `notify`, from any thread, with a message as soon as a server has made no progress for 10
/// seconds: once until it makes progress again.
pub fn set_notify(notify: fn(&str)) {
    *lock(&NOTIFY) = Some(notify);
}

/// Notifies users of hosts without progress for `notice`, as long as the process runs.
async fn notify(hosts: Arc<Hosts>, notice: Duration) {
    loop {
        sleep(notice / 10).await;
        for message in hosts.stalled(notice) {
            let notify = *lock(&NOTIFY);
            notify.inspect(|notify| notify(&message));
        }
    }
}

/// The hosts that get no requests now, as they asked for fewer.
pub fn waits() -> Vec<Wait> {
    let client = lock(&CLIENT);
    let own = client.as_ref();
    own.map(|(_, client)| client.hosts.waits())
        .unwrap_or_default()
}
