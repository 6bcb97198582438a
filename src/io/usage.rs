//! How much memory the process uses and may still use.

use std::fs;
use std::path::Path;

/// The resident memory of this process, in bytes.
///
/// Anonymous memory is what a memory bound is about. Pages of files are a cache: the system takes
/// them back when it needs memory, except where the files themselves are in memory (tmpfs).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// The most that was ever resident, of all kinds.
    pub peak_resident_bytes: u64,
    /// Heap, stacks and other private memory, now.
    pub anonymous_bytes: u64,
    /// Mapped files and shared memory, now.
    pub file_bytes: u64,
}

impl Usage {
    /// Reads the kernel's account (`/proc/self/status`); `None` where there is none.
    pub fn now() -> Option<Usage> {
        Usage::parse(&fs::read_to_string("/proc/self/status").ok()?)
    }

    fn parse(status: &str) -> Option<Usage> {
        Some(Usage {
            peak_resident_bytes: kibibytes(status, "VmHWM:")?,
            anonymous_bytes: kibibytes(status, "RssAnon:")?,
            file_bytes: kibibytes(status, "RssFile:")?
                .checked_add(kibibytes(status, "RssShmem:")?)?,
        })
    }
}

/// The memory, in bytes, that this process can still take without swapping or being killed.
///
/// The smallest of what the machine has available and what is left under the limit of each
/// control group (version 2 or 1) that the process is in, not counting cached files as used.
/// `None` where the kernel does not tell.
pub fn available_memory() -> Option<u64> {
    available(Path::new("/proc"), Path::new("/sys/fs/cgroup"))
}

fn available(proc: &Path, cgroups: &Path) -> Option<u64> {
    let machine = fs::read_to_string(proc.join("meminfo")).ok()?;
    let machine = kibibytes(&machine, "MemAvailable:")?;
    let memberships = fs::read_to_string(proc.join("self/cgroup")).unwrap_or_default();
    let left = memberships
        .lines()
        .filter_map(|line| left_in_groups(line, cgroups))
        .min();
    Some(machine.min(left.unwrap_or(u64::MAX)))
}

/// What is left to the group in a line of `/proc/self/cgroup` (ID:CONTROLLERS:PATH) and to the
/// groups around it. In a container the path may be unknown; the outermost group then has the
/// limit.
fn left_in_groups(membership: &str, cgroups: &Path) -> Option<u64> {
    let mut fields = membership.splitn(3, ':').skip(1);
    let (controllers, path) = (fields.next()?, fields.next()?);
    let (root, files) = if controllers.is_empty() {
        (cgroups.to_owned(), &VERSION_2)
    } else if controllers
        .split(',')
        .any(|controller| controller == "memory")
    {
        (cgroups.join("memory"), &VERSION_1)
    } else {
        return None;
    };
    let path = Path::new(path.trim_start_matches('/'));
    path.ancestors()
        .filter_map(|group| left_in_group(&root.join(group), files))
        .min()
}

struct Files {
    limit: &'static str,
    used: &'static str,
    cached: [&'static str; 2],
}

const VERSION_2: Files = Files {
    limit: "memory.max",
    used: "memory.current",
    cached: ["active_file", "inactive_file"],
};

const VERSION_1: Files = Files {
    limit: "memory.limit_in_bytes",
    used: "memory.usage_in_bytes",
    cached: ["total_active_file", "total_inactive_file"],
};

fn left_in_group(group: &Path, files: &Files) -> Option<u64> {
    let read = |name: &str| fs::read_to_string(group.join(name)).ok();
    // A limit of "max" is none.
    let limit: u64 = read(files.limit)?.trim().parse().ok()?;
    let used: u64 = read(files.used)?.trim().parse().ok()?;
    let statistics = read("memory.stat").unwrap_or_default();
    let cached = files
        .cached
        .iter()
        .filter_map(|name| value(&statistics, name));
    let used = cached.fold(used, u64::saturating_sub);
    Some(limit.saturating_sub(used))
}

fn kibibytes(text: &str, name: &str) -> Option<u64> {
    value(text, name)?.checked_mul(1024)
}

/// The number that follows `name` at the start of a line.
fn value(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| {
        let mut fields = line.split_whitespace();
        (fields.next()? == name).then_some(fields.next()?.parse().ok()?)
    })
}
