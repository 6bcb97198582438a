//! The `sh` blocks of a page as one script.

use std::collections::BTreeMap;

use super::fences::Fence;

/// The port of `simtool serve` without `--listen`.
const USUAL_PORT: &str = "8750";

/// Starts services, and stops them at the end. `head` reads all of its input, since a command whose
/// reader ends early could fail.
const PROLOGUE: &str = r#"set -Eeuo pipefail
declare -A services=()
stop() { kill "$1" 2>/dev/null || true; wait "$1" 2>/dev/null || true; }
serve() {
    local port=$1
    shift
    [[ -z ${services[$port]:-} ]] || stop "${services[$port]}"
    simtool serve "$@" &
    services[$port]=$!
    until (exec 4<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do
        kill -0 "${services[$port]}" 2>/dev/null || { echo "simtool serve $*: ended" >&2; exit 1; }
        sleep 0.05
    done
}
head() { command head "$@"; cat >/dev/null; }
finish() {
    local status=$?
    for service in "${services[@]}"; do stop "$service"; done
    exit $status
}
trap finish EXIT
trap 'echo "$BASH_COMMAND" >"$RECORD/failed"' ERR
"#;

/// The script, and the ports that it uses instead of those of the page.
pub struct Script {
    pub text: String,
    /// Ports of the page, and those of the script.
    pub ports: BTreeMap<String, String>,
}

/// A script that writes what the commands of block N print to `$RECORD/N`.
pub fn of_blocks(blocks: &[&Fence], free_port: impl Fn() -> String) -> Script {
    let mut ports = BTreeMap::new();
    let mut text = String::new();
    for (number, block) in blocks.iter().enumerate() {
        text.push_str(&format!("exec >>\"$RECORD/{number}\" 2>&1\n"));
        for command in commands(&block.lines) {
            text.push_str(&match command.strip_prefix("simtool serve ") {
                Some(arguments) => service(arguments, &mut ports, &free_port),
                None => command,
            });
            text.push('\n');
        }
    }
    for (from, to) in &ports {
        text = text.replace(from, to);
    }
    let text = format!("{PROLOGUE}{text}");
    Script { text, ports }
}

/// Lines, of which those that a backslash continues are one.
pub fn commands(lines: &[String]) -> Vec<String> {
    let mut commands: Vec<String> = Vec::new();
    let mut is_continued = false;
    for line in lines {
        match commands.last_mut().filter(|_| is_continued) {
            Some(command) => command.push_str(&format!("\n{line}")),
            None => commands.push(line.clone()),
        }
        is_continued = line.ends_with('\\');
    }
    commands
}

/// The call of `serve` for a service, which listens on another port.
fn service(
    arguments: &str,
    ports: &mut BTreeMap<String, String>,
    free_port: impl Fn() -> String,
) -> String {
    let arguments = arguments.split("  #").next().unwrap_or_default();
    let arguments = arguments.trim_end().trim_end_matches('&').trim_end();
    let after_flag = arguments.split("--listen").nth(1);
    let address = after_flag.and_then(|rest| rest.trim_start_matches([' ', '=']).split(' ').next());
    let port = address.map_or(USUAL_PORT, |address| {
        address.trim_end().rsplit(':').next().unwrap_or(USUAL_PORT)
    });
    ports.entry(port.to_owned()).or_insert_with(free_port);
    let listen = match address {
        Some(_) => String::new(),
        None => format!(" --listen 127.0.0.1:{USUAL_PORT}"),
    };
    format!("serve {port} {arguments}{listen}")
}

#[test]
fn services_get_other_ports() {
    let lines = [
        "simtool serve seen --read-only &",
        "curl http://localhost:8750/",
        "simtool serve \\",
        "  other --listen 0.0.0.0:9000",
    ];
    let block = Fence {
        language: "sh".to_owned(),
        line: 1,
        lines: lines.map(str::to_owned).to_vec(),
        begins_section: true,
    };
    let next = std::cell::Cell::new(1);
    let script = of_blocks(&[&block], || {
        next.set(next.get() + 1);
        format!("{}", 100 + next.get())
    });
    let expected = "exec >>\"$RECORD/0\" 2>&1\n\
                    serve 102 seen --read-only --listen 127.0.0.1:102\ncurl http://localhost:102/\n\
                    serve 103 \\\n  other --listen 0.0.0.0:103\n";
    assert!(script.text.ends_with(expected), "{}", script.text);
}
