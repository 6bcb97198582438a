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
//! | `object` | Which bytes does it have? |
//! | `prefetch` | How are they read from its start to its end? |
//! | `cached` | How are they read in any order? |
//! | `cached_blocks` | Which of its bytes need no request? |
//! | `cache_directory` | Where are they kept, and how long? |
//! | [`directory`] | How are objects written and removed? |
//! | `opening` | To which names can be written? |
//! | `upload` | How does a large file become an object? |
//! | `listing` | Which objects are there? |
//! | `listed` | How much memory do they take? |
//! | `servers` | How does each kind of server answer a request? |
//! | `attempts` | What happens if a request fails? |
//! | `meter` | How long may a request make no progress? |
//! | `http` | Which redirects does a request follow? |
//! | `hosts` | How many requests may a host get, and when? |
//! | `threads` | Which threads make requests, and which ones block? |

pub mod directory;
pub mod identity;
pub mod location;
mod opening;

#[cfg(feature = "client")]
mod answer;
#[cfg(feature = "client")]
mod attempts;
#[cfg(feature = "client")]
mod cache_directory;
#[cfg(feature = "client")]
mod cached;
#[cfg(feature = "client")]
mod cached_blocks;
#[cfg(feature = "client")]
mod client;
#[cfg(feature = "client")]
mod environment;
#[cfg(feature = "client")]
mod hosts;
#[cfg(feature = "client")]
mod http;
#[cfg(feature = "client")]
mod listed;
#[cfg(feature = "client")]
mod listing;
#[cfg(feature = "client")]
mod memory;
#[cfg(feature = "client")]
mod meter;
#[cfg(feature = "client")]
mod object;
#[cfg(feature = "client")]
mod prefetch;
#[cfg(feature = "client")]
mod registry;
#[cfg(feature = "client")]
mod servers;
#[cfg(feature = "client")]
mod threads;
#[cfg(feature = "client")]
mod upload;
#[cfg(feature = "client")]
mod waiting;

pub use directory::{Condition, Put, RemoteDirectory, Stored, uploads};
pub use identity::Identity;
pub use location::{Location, Scheme};
pub use opening::open_directory;

#[cfg(feature = "client")]
pub use cache_directory::{cache_bytes, set_cache};
#[cfg(feature = "client")]
pub use cached::Cached;
#[cfg(feature = "client")]
pub use client::{set_notify, waits};
#[cfg(feature = "client")]
pub use listing::list;
#[cfg(feature = "client")]
pub use memory::{PREFETCH_BYTES, max_kept_bytes, set_listing_bytes};
#[cfg(feature = "client")]
pub use object::{Object, PREFIX_BYTES};
#[cfg(feature = "client")]
pub use prefetch::{Prefetch, requests};
#[cfg(feature = "client")]
pub use registry::{
    Run, check, has_objects, open, open_first, open_requested, request_first, set_prefetch_bytes,
};
#[cfg(feature = "client")]
pub use waiting::{resume, stop};

use simtool_core::{Error, ErrorKind, Result};
