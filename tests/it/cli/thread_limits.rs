//! A thread that the system refuses ends every command with exit code 2, the limits, and what to do.
//!
//! Each command runs with room for no thread, then for one, and so on, until it succeeds.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::Duration;

use crate::sandbox::{SIMTOOL, Sandbox};

/// The maximum number of threads that a command of these tests starts.
const MOST: u64 = 40;
/// The time after which a command counts as stuck: much longer than any takes on a busy machine.
const STUCK: Duration = Duration::from_secs(600);
/// The stack of a thread, of which only the pages in use take memory.
const STACK_MIB: u64 = 2048;

/// Documents, an index of them, and the inputs of the main job.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::example();
    let line = |number: u32| {
        let words =
            (number..number + 12).map(|word| format!("w{}", word.wrapping_mul(2_654_435_761)));
        let text = words.collect::<Vec<_>>().join(" ");
        format!("{{\"id\":\"d{number}\",\"text\":\"{text}\"}}\n")
    };
    sandbox.write(
        "a.jsonl",
        (0..3000)
            .map(|number| line(100 * number))
            .collect::<String>(),
    );
    #[cfg(feature = "index")]
    sandbox.run("index build seen a.jsonl --quiet").success();
    sandbox
}

/// The commands that start threads: three where there are several, so that the first one of them, one
/// beside others and the last one are refused.
fn commands() -> Vec<&'static str> {
    let mut commands = vec![
        "dedup a.jsonl -o out --write kept --threads 3",
        "lines a.jsonl -o out --action cut --threads 3",
        "spans a.jsonl -o out --threads 3",
        "decontaminate a.jsonl --reference a.jsonl -o out --threads 3",
        "match --articles a.jsonl --samples a.jsonl --threads 3",
        "evaluate a.jsonl --planted --threads 3",
        "tune a.jsonl --planted --threads 3",
        "explain d0 d100 --in a.jsonl",
        "100 16 --threads 3",
        "generate --dir out",
    ];
    if cfg!(feature = "index") {
        commands.extend([
            "index build out a.jsonl --threads 3",
            "index add seen a.jsonl --threads 3",
            "index query seen a.jsonl --threads 3",
            "index check seen",
        ]);
    }
    commands
}

/// How a command ended.
struct Ended {
    code: Option<i32>,
    message: String,
}

/// Runs a command with room for `threads` threads besides its first one: `limited` has the program
/// and the arguments before those of `line`.
fn run(sandbox: &Sandbox, line: &str, mut limited: Command) -> Ended {
    let _ = fs::remove_dir_all(sandbox.path("out"));
    limited
        .args(line.split(' '))
        .current_dir(sandbox.path(""))
        .env_remove("SIMTOOL_SIMD");
    let assert = assert_cmd::Command::from_std(limited)
        .timeout(STUCK)
        .assert();
    let output = assert.get_output();
    Ended {
        code: output.status.code(),
        message: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Fails unless a command that was refused a thread says so.
fn check_refused(ended: &Ended, limit: &str, context: &str) {
    let Ended { code, message } = ended;
    assert_eq!(*code, Some(2), "{context}: {message}");
    for part in ["cannot start ", limit, "--threads"] {
        assert!(
            message.contains(part),
            "{context}: no {part:?} in {message}"
        );
    }
    for part in ["internal error", "panicked"] {
        assert!(!message.contains(part), "{context}: {message}");
    }
}

/// Runs every command with more and more threads until it succeeds.
fn sweep(sandbox: &Sandbox, limit: &str, limited: impl Fn(u64) -> Command) {
    for line in commands() {
        let mut threads = 0;
        loop {
            let ended = run(sandbox, line, limited(threads));
            if ended.code == Some(0) {
                break;
            }
            check_refused(&ended, limit, &format!("{line}, {threads} threads"));
            threads += 1;
            assert!(threads <= MOST, "{line} starts more than {MOST} threads");
        }
        assert!(threads > 0, "{line} starts no thread");
    }
}

/// The program with an address space for so many stacks. The limit holds for every user.
fn within_address_space(threads: u64) -> Command {
    let mut command = Command::new("sh");
    let kibibytes = (threads * STACK_MIB + STACK_MIB / 2) << 10;
    command
        .args([
            "-c",
            &format!("ulimit -v {kibibytes} && exec \"$0\" \"$@\""),
        ])
        .arg(SIMTOOL)
        .env("RUST_MIN_STACK", (STACK_MIB << 20).to_string())
        .env("MALLOC_ARENA_MAX", "1");
    command
}

/// Promise (Errors and interruptions): If the system refuses a thread (`ulimit -u`, a container's
/// limit, address space), every command ends with code 2, the limits, and what to do, whichever
/// thread it is; none is stuck
#[test]
fn commands_end_if_no_stack_can_be_mapped() {
    sweep(
        &sandbox(),
        "MiB of address space (ulimit -v)",
        within_address_space,
    );
}

/// Only the superuser can run a program as a user without other processes.
/// Promise (Errors and interruptions): If the system refuses a thread … (run by the superuser)
#[test]
fn commands_end_at_the_limit_of_the_user() {
    if fs::metadata("/proc/self").unwrap().uid() != 0 {
        eprintln!("skipped: only the superuser can run a program as another user");
        return;
    }
    let sandbox = sandbox();
    let user = 20_000 + std::process::id() % 40_000;
    let program = sandbox.path("simtool");
    fs::copy(SIMTOOL, &program).unwrap();
    let owned = Command::new("chown")
        .args(["-R", &user.to_string()])
        .arg(sandbox.path(""))
        .status();
    assert!(owned.unwrap().success());
    sweep(
        &sandbox,
        "processes and threads of this user (ulimit -u)",
        |threads| {
            let mut command = Command::new("bash");
            command
                .args([
                    "-c",
                    "ulimit -u $0 && exec \"$@\"",
                    &(threads + 1).to_string(),
                ])
                .arg(&program)
                .uid(user);
            command
        },
    );
}

/// Promise (Errors and interruptions): If the system refuses a thread …
#[cfg(feature = "serve")]
#[test]
fn a_service_ends_if_no_stack_can_be_mapped() {
    let sandbox = sandbox();
    let flags = ["serve", "seen", "--listen", "127.0.0.1:0", "--threads", "8"];
    for threads in 0..=MOST {
        let [address, message] = ["address", "message"].map(|name| sandbox.path(name));
        let mut service = within_address_space(threads)
            .args(flags)
            .current_dir(sandbox.path(""))
            .stdout(fs::File::create(&address).unwrap())
            .stderr(fs::File::create(&message).unwrap())
            .spawn()
            .unwrap();
        let mut ended = None;
        let mut is_ready = false;
        simtool_testing::wait::wait_until("the service or its end", || {
            ended = service.try_wait().unwrap();
            is_ready = fs::read_to_string(&address).unwrap().contains("://");
            is_ready || ended.is_some()
        });
        if is_ready {
            service.kill().unwrap();
            service.wait().unwrap();
            assert!(threads > 0, "it starts no thread");
            return;
        }
        let ended = Ended {
            code: ended.and_then(|status| status.code()),
            message: fs::read_to_string(&message).unwrap(),
        };
        check_refused(&ended, "(ulimit -v)", &format!("serve, {threads} threads"));
    }
    panic!("it starts more than {MOST} threads");
}

/// Promise (Errors and interruptions): If the system refuses a thread …
#[cfg(feature = "cloud")]
#[test]
fn requests_end_if_no_stack_can_be_mapped() {
    let sandbox = sandbox();
    // Nothing listens at this port.
    let line = "dedup http://localhost:1/a.jsonl -o out --threads 3";
    for threads in 0..=MOST {
        let ended = run(&sandbox, line, within_address_space(threads));
        if ended.message.contains("localhost:1 ") || ended.message.contains("attempt ") {
            assert!(threads > 0, "it starts no thread");
            return;
        }
        check_refused(&ended, "(ulimit -v)", &format!("{line}, {threads} threads"));
    }
    panic!("it starts more than {MOST} threads");
}

/// Tokio panics if it is refused some of its descriptors.
#[cfg(feature = "cloud")]
#[test]
fn requests_end_if_no_descriptor_is_left() {
    let sandbox = sandbox();
    for descriptors in 4..12 {
        let mut command = Command::new("sh");
        let limited = format!("ulimit -n {descriptors} && exec \"$0\" \"$@\"");
        command.args(["-c", &limited]).arg(SIMTOOL);
        let ended = run(&sandbox, "dedup http://127.0.0.1:1/a.jsonl -o out", command);
        let Ended { code, message } = ended;
        assert_eq!(code, Some(2), "{descriptors}: {message}");
        assert!(
            !message.contains("internal error"),
            "{descriptors}: {message}"
        );
    }
}
