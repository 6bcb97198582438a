//! The limits of the system on threads, as Linux shows them in `/proc` and `/sys`.

use std::fs;
use std::path::Path;

/// The address space of a thread: its stack, if the environment sets no other size.
const STACK_BYTES: u64 = 2 << 20;
/// The mount point of control groups.
const CONTROL_GROUPS: &str = "/sys/fs/cgroup";

/// A limit, and how much of it is used now.
#[derive(Debug, PartialEq, Eq)]
struct Limit {
    text: String,
    max: u64,
    used: u64,
    /// What one more thread uses.
    each: u64,
}

impl Limit {
    fn is_reached(&self, threads: u64) -> bool {
        self.used.saturating_add(threads.saturating_mul(self.each)) > self.max
    }
}

/// The limits that `threads` more threads exceed. If none is known to be exceeded: all limits that
/// are set, or that the system does not say.
pub(super) fn reached(threads: u64) -> String {
    let status = read("/proc/self/status");
    let limits = read("/proc/self/limits");
    let mut set: Vec<Limit> = control_groups(&read("/proc/self/cgroup"), Path::new(CONTROL_GROUPS));
    set.extend(of_user(&limits, &status));
    set.extend(of_memory(&limits, &status));
    let (reached, others): (Vec<Limit>, _) = set
        .into_iter()
        .chain(of_machine())
        .partition(|limit| limit.is_reached(threads));
    let (limits, start): (Vec<Limit>, _) = match reached.is_empty() {
        true => (others, "the limits are "),
        false => (reached, "the limit is "),
    };
    let texts: Vec<String> = limits.into_iter().map(|limit| limit.text).collect();
    match texts.is_empty() {
        true => "the system has reached a limit".to_owned(),
        false => format!("{start}{}", texts.join(", and ")),
    }
}

/// The limit on processes and threads of this user. The superuser has none.
fn of_user(limits: &str, status: &str) -> Option<Limit> {
    let max = number(limits, "Max processes")?;
    let user = number(status, "Uid:").filter(|&user| user > 0)?;
    let processes = fs::read_dir("/proc").ok()?.flatten();
    let threads = processes.filter_map(|process| {
        let status = fs::read_to_string(process.path().join("status")).ok()?;
        number(&status, "Threads:").filter(|_| number(&status, "Uid:") == Some(user))
    });
    Some(Limit {
        text: format!("{max} processes and threads of this user (ulimit -u)"),
        max,
        used: threads.sum(),
        each: 1,
    })
}

/// The limits on memory, in which stacks need space.
fn of_memory(limits: &str, status: &str) -> Vec<Limit> {
    let kinds = [
        ("Max address space", "VmSize:", "address space (ulimit -v)"),
        ("Max data size", "VmData:", "private memory (ulimit -d)"),
    ];
    let limit = |(name, used, text)| {
        let max = number(limits, name)?;
        Some(Limit {
            text: format!("{} MiB of {text}", max >> 20),
            max,
            used: number(status, used)? << 10,
            each: STACK_BYTES,
        })
    };
    kinds.into_iter().filter_map(limit).collect()
}

/// The limits of the control groups of this process, such as that of a container, whose names are
/// in `groups`.
fn control_groups(groups: &str, root: &Path) -> Vec<Limit> {
    let mut found = Vec::new();
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let root = match parts.next() {
            Some("") => root.to_owned(),
            Some("pids") => root.join("pids"),
            _ => continue,
        };
        let name = parts.next().unwrap_or_default().trim_start_matches('/');
        // A container may not see the directories of its own group, only the root.
        let directory = root.join(name);
        let within = |directory: &&Path| directory.starts_with(&root);
        found.extend(
            directory
                .ancestors()
                .take_while(within)
                .filter_map(|group| {
                    let of = |file: &str| {
                        let text = fs::read_to_string(group.join(file)).ok()?;
                        text.trim().parse::<u64>().ok()
                    };
                    let (max, used) = (of("pids.max")?, of("pids.current")?);
                    Some(Limit {
                        text: format!(
                            "{max} threads of the control group {} (pids.max)",
                            group.display()
                        ),
                        max,
                        used,
                        each: 1,
                    })
                }),
        );
    }
    found
}

/// The limit on threads of all users, if it can be read.
fn of_machine() -> Option<Limit> {
    let of = |name: &str| {
        read(&format!("/proc/sys/kernel/{name}"))
            .trim()
            .parse::<u64>()
            .ok()
    };
    let max = of("threads-max")?.min(of("pid_max")?);
    let load = read("/proc/loadavg");
    let used = load.split(' ').nth(3)?.split('/').nth(1)?.parse().ok()?;
    Some(Limit {
        text: format!("{max} threads of this machine (kernel.threads-max, kernel.pid_max)"),
        max,
        used,
        each: 1,
    })
}

/// The first number after `name` at the start of a line; `None` if it is unlimited.
fn number(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

/// The contents of a file of the kernel; nothing if it cannot be read.
fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: &str = "\
Limit                     Soft Limit           Hard Limit           Units     \n\
Max data size             unlimited            unlimited            bytes     \n\
Max processes             20                   94000                processes \n\
Max address space         419430400            unlimited            bytes     \n";

    #[test]
    fn limits_of_memory_are_reached_by_stacks() {
        let status = "Name:\tsimtool\nUid:\t0\t0\t0\t0\nVmSize:\t  400000 kB\nVmData:\t 10 kB\n";
        let limits = of_memory(LIMITS, status);
        assert_eq!(limits.len(), 1);
        assert_eq!(limits[0].text, "400 MiB of address space (ulimit -v)");
        assert!(limits[0].is_reached(5) && !limits[0].is_reached(4));
        assert_eq!(of_user(LIMITS, status), None, "the superuser has no limit");
    }

    #[test]
    fn threads_of_this_user_are_counted() {
        // No user has this number of processes.
        let status = "Uid:\t4294967294\t0\t0\t0\n";
        let limit = of_user(LIMITS, status).unwrap();
        assert_eq!((limit.max, limit.used), (20, 0));
        assert!(limit.is_reached(21) && !limit.is_reached(20));
    }

    /// Promise (Errors and interruptions): If the system refuses a thread …
    #[test]
    fn every_group_above_the_process_counts() {
        let root = std::env::temp_dir().join(format!("groups-{}", std::process::id()));
        for (group, max) in [
            ("", "max\n"),
            ("a", "64\n"),
            ("a/b", "max\n"),
            ("pids/c", "7\n"),
        ] {
            let group = root.join(group);
            fs::create_dir_all(&group).unwrap();
            fs::write(group.join("pids.max"), max).unwrap();
            fs::write(group.join("pids.current"), "60\n").unwrap();
        }
        let groups = "4:memory:/a\n3:pids:/c\n0::/a/b\n";
        let limits = control_groups(groups, &root);
        let seen: Vec<_> = limits.iter().map(|limit| (limit.max, limit.used)).collect();
        assert_eq!(seen, [(7, 60), (64, 60)]);
        assert!(limits[1].text.contains("a (pids.max)"));
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn a_limit_is_always_described() {
        assert!(reached(u64::MAX).starts_with("the limit"));
    }
}
