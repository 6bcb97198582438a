//! Requests: their HTTP clients and threads, the limits of each host, answers, and attempts.

pub(super) mod answer;
pub(super) mod attempts;
pub(super) mod hosts;
pub(super) mod http;
pub(super) mod meter;
pub(super) mod threads;
