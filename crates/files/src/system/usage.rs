//! Memory and CPU time used by the process, and memory still available to it.

use std::fs;
use std::path::Path;
use std::time::Duration;

/// The resident memory of this process, in bytes.
///
/// A memory bound limits anonymous memory. Pages of files are a cache, which the system reclaims
/// when it needs memory, except for files in memory (tmpfs).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// The peak resident memory of all kinds.
    pub peak_resident_bytes: u64,
    /// The current anonymous memory: heap, stacks and other private memory.
    pub anonymous_bytes: u64,
    /// The current memory of mapped files and shared memory.
    pub file_bytes: u64,
}

impl Usage {
    /// Reads `/proc/self/status`; `None` if it does not exist.
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

/// The CPU time of this thread; zero if the system cannot tell.
pub fn thread_time() -> Duration {
    clock(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// The CPU time of all threads of this process, also ended ones; zero if the system cannot tell.
pub fn process_time() -> Duration {
    clock(libc::CLOCK_PROCESS_CPUTIME_ID)
}

fn clock(id: libc::clockid_t) -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the call writes only to `time`, which is valid and outlives it.
    let failed = unsafe { libc::clock_gettime(id, &mut time) } != 0;
    let (seconds, nanoseconds) = (u64::try_from(time.tv_sec), u32::try_from(time.tv_nsec));
    match (failed, seconds, nanoseconds) {
        (false, Ok(seconds), Ok(nanoseconds)) => Duration::new(seconds, nanoseconds),
        _ => Duration::ZERO,
    }
}

/// The memory, in bytes, that this process can still take without swapping or being killed.
///
/// The minimum of the available memory of the machine and the remaining memory of each control
/// group (version 2 or 1) of the process, without counting cached files as used. `None` if the
/// kernel cannot tell.
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

/// The remaining memory of the group in a line of `/proc/self/cgroup` (ID:CONTROLLERS:PATH) and of
/// its ancestors. In a container the path may be unknown; then the outermost group has the limit.
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
    // "max" means no limit.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_goes_by_while_a_thread_works() {
        let begin = thread_time();
        let sum: u64 = std::hint::black_box(0..3_000_000u64)
            .map(|number| number ^ 5)
            .sum();
        assert!(sum > 0 && thread_time() > begin);
    }
    use proptest::prelude::*;

    const STATUS: &str = "Name:\tx\nVmHWM:\t    4096 kB\nVmRSS:\t 1 kB\nRssAnon:\t 1000 kB\n\
                          RssFile:\t 2000 kB\nRssShmem:\t 30 kB\n";
    const GIBIBYTE: u64 = 1 << 30;

    /// Creates a directory with `proc` and `cgroups` that contains `files`; the machine has 8 GiB
    /// available.
    fn machine(memberships: &str, files: &[(&str, &str)]) -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = directory.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write(
            "proc/meminfo",
            "MemTotal: 1 kB\nMemAvailable:  8388608 kB\n",
        );
        write("proc/self/cgroup", memberships);
        for (name, text) in files {
            write(&format!("cgroups/{name}"), text);
        }
        directory
    }

    fn available_on(machine: &tempfile::TempDir) -> Option<u64> {
        available(
            &machine.path().join("proc"),
            &machine.path().join("cgroups"),
        )
    }

    #[test]
    fn status_is_read_in_bytes() {
        let usage = Usage::parse(STATUS).unwrap();
        assert_eq!(usage.peak_resident_bytes, 4096 * 1024);
        assert_eq!(usage.anonymous_bytes, 1000 * 1024);
        assert_eq!(usage.file_bytes, 2030 * 1024);
        assert_eq!(Usage::parse(&STATUS.replace("RssAnon", "Rss")), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn allocation_shows_in_the_account() {
        let before = Usage::now().unwrap();
        let memory = std::hint::black_box(vec![1_u8; 64 << 20]);
        let after = Usage::now().unwrap();
        assert!(after.anonymous_bytes >= before.anonymous_bytes + (32 << 20));
        assert!(after.peak_resident_bytes >= memory.len() as u64);
        assert!(available_memory().unwrap() > 0);
    }

    #[test]
    fn machine_without_groups() {
        assert_eq!(available_on(&machine("", &[])), Some(8 * GIBIBYTE));
        assert_eq!(
            available(Path::new("/nonexistent"), Path::new("/nonexistent")),
            None
        );
    }

    #[test]
    fn version_2_uses_the_tightest_group_and_does_not_count_caches() {
        let machine = machine(
            "0::/outer/inner\n",
            &[
                ("outer/inner/memory.max", "max\n"),
                ("outer/inner/memory.current", "1000\n"),
                ("outer/memory.max", "1073741824\n"),
                ("outer/memory.current", "700000000\n"),
                (
                    "outer/memory.stat",
                    "anon 5\ninactive_file 300000000\nactive_file 100000000\n",
                ),
            ],
        );
        assert_eq!(available_on(&machine), Some(GIBIBYTE - 300_000_000));
    }

    #[test]
    fn version_1_in_a_container_reads_the_outermost_group() {
        let machine = machine(
            "12:cpu:/x\n7:hugetlb,memory:/docker/unknown\n",
            &[
                ("memory/memory.limit_in_bytes", "1000000\n"),
                ("memory/memory.usage_in_bytes", "900000\n"),
                (
                    "memory/memory.stat",
                    "active_file 1\ntotal_inactive_file 250000\n",
                ),
            ],
        );
        assert_eq!(available_on(&machine), Some(350_000));
    }

    #[test]
    fn group_beyond_its_limit_has_nothing_left() {
        let files = [("memory.max", "10"), ("memory.current", "20")];
        assert_eq!(available_on(&machine("0::/", &files)), Some(0));
    }

    proptest! {
        #[test]
        fn hostile_text_does_not_panic(text in "(VmHWM:|RssAnon:|RssFile:|RssShmem:|[0-9]{1,25}|[ \n:kB]){0,40}") {
            let _ = Usage::parse(&text);
            let _ = left_in_groups(&text, Path::new("/nonexistent"));
        }
    }
}
