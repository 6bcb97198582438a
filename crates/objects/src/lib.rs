//! Objects of object stores, and files of web servers: Which bytes lie on a server?
//!
//! Internal to simtool, without a promise of stability; `simtool` is the library for users.
//!
//! All functions block. Requests run on threads of their own, and asynchronous code stays in
//! this crate. Without the feature `client`, the crate only tells remote names from paths.
//!
//! | module | question |
//! |---|---|
//! | [`location`] | Is a name that of an object, and of which one? |
//! | [`identity`] | Is it still the object that was read before? |
//! | `client` | What do all requests of a run share? |
//! | `connections` | How are they sent? |
//! | `shared` | What has a client without any connection? |
//! | `reply`, `shared::interruption` | How does their user wait for them, and no longer? |
//! | `shared::memory` | How much memory may bytes of objects take? |
//! | `environment` | What does the environment say of servers? |
//! | `reading::object` | Which bytes does it have? |
//! | `reading::prefetch` | How are they read from its start to its end? |
//! | `reading::cached` | How are they read in any order? |
//! | `reading::cached_blocks` | Which of its bytes need no request? |
//! | `shared::cache_directory` | Where are they kept, and how long? |
//! | [`directory`] | How are objects written and removed? |
//! | `opening` | To which names can be written? |
//! | `upload` | How does a large file become an object? |
//! | `listing` | Which objects are there? |
//! | `listed` | How much memory do they take? |
//! | `servers` | How does each kind of server answer a request? |
//! | `requests::attempts` | What happens if a request fails? |
//! | `requests::meter` | How long may a request make no progress? |
//! | `requests::http` | Which redirects does a request follow? |
//! | `requests::hosts` | How many requests may a host get, and when? |
//! | `requests::threads` | Which threads make requests, and which ones block? |

pub mod directory;
pub mod identity;
pub mod location;
mod opening;
#[cfg(not(feature = "client"))]
mod without_client;

#[cfg(feature = "client")]
mod client;
#[cfg(feature = "client")]
mod connections;
#[cfg(feature = "client")]
mod environment;
#[cfg(feature = "client")]
mod listed;
#[cfg(feature = "client")]
mod listing;
#[cfg(feature = "client")]
mod reading;
#[cfg(feature = "client")]
mod reply;
#[cfg(feature = "client")]
mod requests;
#[cfg(feature = "client")]
mod servers;
#[cfg(feature = "client")]
mod shared;
#[cfg(feature = "client")]
mod upload;

pub use directory::{Condition, Put, RemoteDirectory, Stored};
pub use identity::Identity;
pub use location::{Location, Scheme};

#[cfg(not(feature = "client"))]
pub use without_client::{NoClient as Client, NoObject as Object, NoOpening as Opening};

#[cfg(feature = "client")]
pub use client::Client;
#[cfg(feature = "client")]
pub use reading::cached::Cached;
#[cfg(feature = "client")]
pub use reading::object::{Object, Opening};
#[cfg(feature = "client")]
pub use reading::prefetch::Prefetch;

/// The bytes read at opening: enough to detect the format, and all of a small object.
pub const PREFIX_BYTES: u64 = 64 << 10;

use simtool_core::{Error, ErrorKind, Result};
