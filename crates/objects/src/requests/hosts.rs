//! Limits for each host: connections at a time, and pauses in which it gets no requests.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, sleep_until};

use super::meter::Meter;

/// The maximum number of requests at a time to a host.
const CONNECTIONS: usize = 16;
/// Hosts that refuse clients with more requests at a time, and how many they get.
const LIMITING_HOSTS: [(&str, usize); 1] = [("data.commoncrawl.org", 2)];

/// All hosts that were asked.
pub(crate) struct Hosts {
    connections: Option<usize>,
    hosts: Mutex<HashMap<String, Arc<Host>>>,
}

/// A host and what it asked for.
pub(crate) struct Host {
    name: String,
    permits: Semaphore,
    pause: Mutex<Option<Pause>>,
    was_reached: AtomicBool,
    /// The requests that have begun.
    requests: Mutex<Vec<Weak<Meter>>>,
    /// Whether users were notified that it makes no progress.
    is_reported: AtomicBool,
}

struct Pause {
    end: Instant,
    reason: String,
}

/// A host that gets no requests for some time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wait {
    /// The name of the host.
    host: String,
    /// The rest of the time.
    left: Duration,
    /// The answer of the host.
    reason: String,
}

impl fmt::Display for Wait {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.left.as_secs() + 1;
        write!(
            out,
            "waiting {seconds} s for {}: {}",
            self.host, self.reason
        )
    }
}

impl Hosts {
    pub(crate) fn new(connections: Option<usize>) -> Hosts {
        Hosts {
            connections,
            hosts: Mutex::default(),
        }
    }

    /// The host with this name and port.
    pub(crate) fn get(&self, name: &str) -> Arc<Host> {
        let limiting = LIMITING_HOSTS.iter().find(|(host, _)| name == *host);
        let default = limiting.map_or(CONNECTIONS, |(_, connections)| *connections);
        let make = || {
            Arc::new(Host {
                name: name.to_owned(),
                permits: Semaphore::new(self.connections.unwrap_or(default)),
                pause: Mutex::new(None),
                was_reached: AtomicBool::new(false),
                requests: Mutex::default(),
                is_reported: AtomicBool::new(false),
            })
        };
        Arc::clone(
            lock(&self.hosts)
                .entry(name.to_owned())
                .or_insert_with(make),
        )
    }

    /// The hosts that get no requests now.
    pub(crate) fn waits(&self) -> Vec<Wait> {
        let hosts: Vec<_> = lock(&self.hosts).values().cloned().collect();
        let mut waits: Vec<_> = hosts.iter().filter_map(|host| host.wait()).collect();
        waits.sort_by(|a, b| a.host.cmp(&b.host));
        waits
    }

    /// The hosts with a request that has made no progress for `notice`: a message for each, once
    /// until the host makes progress again.
    pub(crate) fn stalled(&self, notice: Duration) -> Vec<String> {
        let hosts: Vec<_> = lock(&self.hosts).values().cloned().collect();
        hosts
            .iter()
            .filter_map(|host| host.stalled(notice))
            .collect()
    }
}

impl Host {
    /// Its name, for messages.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Notes that it answered, or at least accepted a connection.
    pub(crate) fn reached(&self) {
        self.was_reached.store(true, Ordering::Relaxed);
    }

    /// Whether it was ever [reached](Self::reached).
    pub(crate) fn was_reached(&self) -> bool {
        self.was_reached.load(Ordering::Relaxed)
    }

    /// Whether it refuses clients that are too fast with the status of denied access.
    pub(crate) fn limits_clients(&self) -> bool {
        LIMITING_HOSTS.iter().any(|(host, _)| self.name == *host)
    }

    /// Waits until a request may begin.
    pub(crate) async fn enter(&self) -> Option<SemaphorePermit<'_>> {
        let permit = self.permits.acquire().await.ok();
        self.pass_pause().await;
        permit
    }

    /// Waits for the end of its pause.
    pub(crate) async fn pass_pause(&self) {
        while let Some(end) = self.pause_end() {
            sleep_until(end).await;
        }
    }

    /// Lets no request begin for `time` from now.
    pub(crate) fn pause(&self, time: Duration, reason: &str) {
        let end = Instant::now() + time;
        let mut pause = lock(&self.pause);
        if pause.as_ref().is_none_or(|pause| pause.end < end) {
            *pause = Some(Pause {
                end,
                reason: reason.to_owned(),
            });
        }
    }

    fn pause_end(&self) -> Option<Instant> {
        let mut pause = lock(&self.pause);
        let is_over = |pause: &mut Pause| pause.end <= Instant::now();
        pause.take_if(is_over);
        pause.as_ref().map(|pause| pause.end)
    }

    /// Watches the progress of a request that begins.
    pub(crate) fn watch(&self, meter: &Arc<Meter>) {
        let mut requests = lock(&self.requests);
        if requests.len() == requests.capacity() {
            requests.retain(|meter| meter.strong_count() > 0);
        }
        requests.push(Arc::downgrade(meter));
    }

    fn stalled(&self, notice: Duration) -> Option<String> {
        let mut requests = lock(&self.requests);
        requests.retain(|meter| meter.strong_count() > 0);
        let requests = requests.iter().filter_map(Weak::upgrade);
        let stalled = requests
            .filter(|meter| meter.elapsed() >= notice)
            .max_by_key(|one| one.elapsed());
        let Some(meter) = stalled else {
            self.is_reported.store(false, Ordering::Relaxed);
            return None;
        };
        let is_reported = self.is_reported.swap(true, Ordering::Relaxed);
        (!is_reported).then(|| {
            let seconds = meter.elapsed().as_secs();
            let (end, reason) = (meter.timeout().as_secs(), meter.reason());
            format!(
                "waiting for {}: no progress for {seconds} s ({reason}); after {end} s, the run ends",
                self.name
            )
        })
    }

    fn wait(&self) -> Option<Wait> {
        let pause = lock(&self.pause);
        let pause = pause.as_ref()?;
        let left = pause.end.saturating_duration_since(Instant::now());
        (!left.is_zero()).then(|| Wait {
            host: self.name.clone(),
            left,
            reason: pause.reason.clone(),
        })
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Promise (Inputs on servers): While a host asks for fewer …
    #[test]
    fn common_crawl_gets_two_requests_at_a_time() {
        let permits = |hosts: &Hosts, name| hosts.get(name).permits.available_permits();
        let hosts = Hosts::new(None);
        assert_eq!(permits(&hosts, "data.commoncrawl.org"), 2);
        assert_eq!(permits(&hosts, "example.org:80"), CONNECTIONS);
        assert_eq!(permits(&Hosts::new(Some(5)), "data.commoncrawl.org"), 5);
    }

    #[tokio::test(flavor = "current_thread", start_paused = true)]
    async fn all_requests_wait_for_the_longest_pause() {
        let hosts = Hosts::new(Some(1));
        let host = hosts.get("h");
        host.pause(Duration::from_secs(20), "503");
        host.pause(Duration::from_secs(5), "429");
        let wait = hosts.waits().remove(0);
        assert_eq!((wait.host.as_str(), wait.reason.as_str()), ("h", "503"));
        let begin = Instant::now();
        assert!(host.enter().await.is_some());
        assert!(begin.elapsed() >= Duration::from_secs(20));
        assert!(hosts.waits().is_empty());
    }
}
