//! The truncation guard: a mapped file that shrinks is an error of the file, not the end of the
//! process.
//!
//! Reading a page of a mapping beyond the end of its file raises SIGBUS, which would end the
//! process. The guard has a registry of live mappings. On a fault inside one of them, its handler
//! records the offset and maps anonymous zero pages over the rest of that mapping. The reader
//! continues with zeros, and [`Input::verify`](crate::Input::verify) then fails for this input
//! alone. Every other SIGBUS is passed to the previous handler.
//!
//! The handler takes no lock and allocates nothing. It may read a slot that another thread is
//! changing, so each slot has a generation, which is odd while its range is written. A range whose
//! generation is odd or changes is not the one that faulted: the faulting thread borrows its own
//! mapping, so its slot cannot change. Slots change once per input, so sequential consistency
//! everywhere has no measurable cost.

use crate::{Error, ErrorKind, Result};
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::{io, mem, ptr};

/// The maximum number of live mappings: the usual limit on open files.
pub const SLOTS: usize = 1024;

/// Installs the guard's SIGBUS handler for the process; later calls do nothing.
///
/// Only a program should call this, early in `main`, since signal handlers belong to the process.
/// From then on [`Input::open`](crate::Input::open) maps files instead of reading them.
///
/// # Errors
/// [`ErrorKind::Read`] if the operating system refuses the handler.
///
/// # Safety
/// Mapped inputs are slices whose bytes change when another process writes to the file, which Rust
/// does not allow for shared references. The caller accepts this for all inputs of the process, and
/// uses no result computed from an input before [`Input::verify`](crate::Input::verify) succeeded.
/// Nothing else in the process may replace the handler of SIGBUS afterwards without calling it.
pub unsafe fn install() -> Result<()> {
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    if is_installed() {
        return Ok(());
    }
    // SAFETY: sysconf has no preconditions.
    let page_bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    PAGE_BYTES.store(usize::try_from(page_bytes).unwrap_or(4096), SeqCst);

    // SAFETY: an all-zero sigaction is a valid value (default action, no flags, empty mask).
    let mut action: libc::sigaction = unsafe { mem::zeroed() };
    action.sa_sigaction = on_bus_error as *const () as libc::sighandler_t;
    // On the alternate stack if there is one, like the runtime's own handler.
    action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
    // SAFETY: an all-zero sigaction is a valid value.
    let mut previous: libc::sigaction = unsafe { mem::zeroed() };
    // SAFETY: both calls get valid pointers or null; the previous handler is known before the new
    // one can run, and `on_bus_error` has the signature that SA_SIGINFO asks for.
    let refused = unsafe {
        libc::sigaction(libc::SIGBUS, ptr::null(), &mut previous) != 0 || {
            PREVIOUS.get_or_init(|| previous);
            libc::sigaction(libc::SIGBUS, &action, ptr::null_mut()) != 0
        }
    };
    if refused {
        let cause = io::Error::last_os_error();
        let message = "the guard against truncated inputs could not be installed";
        return Err(Error::new(ErrorKind::Read, message).caused_by(cause));
    }
    INSTALLED.store(true, SeqCst);
    Ok(())
}

/// Whether [`install`] has succeeded in this process.
pub fn is_installed() -> bool {
    INSTALLED.load(SeqCst)
}

static INSTALLED: AtomicBool = AtomicBool::new(false);
static PAGE_BYTES: AtomicUsize = AtomicUsize::new(4096);
static PREVIOUS: OnceLock<libc::sigaction> = OnceLock::new();
static REGISTRY: [Slot; SLOTS] = [const { Slot::new() }; SLOTS];

/// A slot of the registry; free while `start` is 0.
struct Slot {
    generation: AtomicUsize,
    start: AtomicUsize,
    end: AtomicUsize,
    fault: AtomicUsize,
}

const NO_FAULT: usize = usize::MAX;

impl Slot {
    const fn new() -> Slot {
        Slot {
            generation: AtomicUsize::new(0),
            start: AtomicUsize::new(0),
            end: AtomicUsize::new(0),
            fault: AtomicUsize::new(NO_FAULT),
        }
    }

    /// Takes the slot for the addresses `start..end`; `false` if it is taken.
    fn claim(&self, start: usize, end: usize) -> bool {
        let generation = self.generation.load(SeqCst);
        let free = generation.is_multiple_of(2) && self.start.load(SeqCst) == 0;
        let odd = generation.wrapping_add(1);
        if !free
            || self
                .generation
                .compare_exchange(generation, odd, SeqCst, SeqCst)
                .is_err()
        {
            return false;
        }
        self.fault.store(NO_FAULT, SeqCst);
        self.end.store(end, SeqCst);
        self.start.store(start, SeqCst);
        self.generation.store(odd.wrapping_add(1), SeqCst);
        true
    }

    /// Frees the slot; only its owner calls this, once.
    fn release(&self) {
        self.generation.fetch_add(1, SeqCst);
        self.start.store(0, SeqCst);
        self.end.store(0, SeqCst);
        self.generation.fetch_add(1, SeqCst);
    }

    /// The registered addresses, unless the slot is free or changing.
    fn range(&self) -> Option<std::ops::Range<usize>> {
        let generation = self.generation.load(SeqCst);
        let range = self.start.load(SeqCst)..self.end.load(SeqCst);
        let stable = generation.is_multiple_of(2) && self.generation.load(SeqCst) == generation;
        (stable && range.start != 0).then_some(range)
    }
}

/// The registration of a live mapping. Dropping it ends the protection, so it must be dropped
/// before the mapping.
pub(crate) struct Registration(&'static Slot);

impl Registration {
    /// Registers the mapping of `bytes`; `None` if all [`SLOTS`] are taken.
    pub(crate) fn protect(bytes: &[u8]) -> Option<Registration> {
        let start = bytes.as_ptr() as usize;
        let end = (start + bytes.len()).next_multiple_of(PAGE_BYTES.load(SeqCst));
        REGISTRY
            .iter()
            .find(|slot| slot.claim(start, end))
            .map(Registration)
    }

    /// The smallest offset at which the mapping could not be read, if any; from there on it may
    /// contain zeros.
    pub(crate) fn fault(&self) -> Option<usize> {
        Some(self.0.fault.load(SeqCst)).filter(|&offset| offset != NO_FAULT)
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.0.release();
    }
}

extern "C" fn on_bus_error(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes a valid siginfo_t to a handler with SA_SIGINFO.
    let (code, address) = unsafe { ((*info).si_code, (*info).si_addr() as usize) };
    // Positive codes are faults; the others were sent by a process and carry no address.
    let is_fault = code > 0;
    if !(is_fault && replace_with_zeros(address)) {
        pass_on(is_fault, signal, info, context);
    }
}

/// Maps zero pages over the registered mapping around `address`, from its page to the end.
fn replace_with_zeros(address: usize) -> bool {
    for slot in &REGISTRY {
        let Some(range) = slot.range().filter(|range| range.contains(&address)) else {
            continue;
        };
        slot.fault.fetch_min(address - range.start, SeqCst);
        let page = address & !(PAGE_BYTES.load(SeqCst) - 1);
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
        // SAFETY: `page..range.end` is inside one registered mapping, which is live and read-only,
        // and whose faulting reader waits for this handler to return. mmap is a plain system call
        // here and does not change errno if it succeeds.
        let mapped = unsafe {
            let place = ptr::without_provenance_mut(page);
            libc::mmap(place, range.end - page, libc::PROT_READ, flags, -1, 0)
        };
        return mapped != libc::MAP_FAILED;
    }
    false
}

/// Passes the signal to the previous handler or default action.
fn pass_on(is_fault: bool, signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let previous = PREVIOUS.get();
    let handler = previous.map_or(libc::SIG_DFL, |previous| previous.sa_sigaction);
    let wants_info = previous.is_some_and(|previous| previous.sa_flags & libc::SA_SIGINFO != 0);
    match handler {
        libc::SIG_IGN if !is_fault => {}
        // A fault cannot be ignored. The signal is blocked here and arrives after the return.
        libc::SIG_DFL | libc::SIG_IGN => {
            // SAFETY: both functions may be called in a signal handler.
            unsafe {
                libc::signal(signal, libc::SIG_DFL);
                libc::raise(signal);
            }
        }
        // SAFETY: with SA_SIGINFO, the address is that of a function of this type.
        _ if wants_info => unsafe {
            type Handler = extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);
            mem::transmute::<usize, Handler>(handler)(signal, info, context);
        },
        // SAFETY: without SA_SIGINFO, the address is that of a function of this type.
        _ => unsafe { mem::transmute::<usize, extern "C" fn(c_int)>(handler)(signal) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Command, ExitStatus};

    /// Names the action of the child process that a test starts.
    const CHILD: &str = "SIMTOOL_TEST_GUARD_CHILD";

    fn run_child(task: &str) -> ExitStatus {
        let test = "system::guard::tests::child";
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", test, "--nocapture"])
            .env(CHILD, task)
            .output()
            .unwrap()
            .status
    }

    extern "C" fn exit_41(_: c_int) {
        // SAFETY: _exit may be called in a signal handler.
        unsafe { libc::_exit(41) }
    }

    extern "C" fn exit_42_at_fault(_: c_int, info: *mut libc::siginfo_t, _: *mut c_void) {
        // SAFETY: the guard passes on the siginfo_t that the kernel gave it.
        unsafe { libc::_exit(if (*info).si_addr().is_null() { 1 } else { 42 }) }
    }

    fn set_handler(handler: libc::sighandler_t, flags: c_int) {
        // SAFETY: an all-zero sigaction is valid, and the handlers have the types that the flags
        // ask for.
        unsafe {
            let mut action: libc::sigaction = mem::zeroed();
            action.sa_sigaction = handler;
            action.sa_flags = flags;
            assert_eq!(libc::sigaction(libc::SIGBUS, &action, ptr::null_mut()), 0);
        }
    }

    /// Reads an unregistered mapping beyond the end of its file.
    fn fault_outside() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(8192).unwrap();
        // SAFETY: the fault is the purpose.
        let map = unsafe { memmap2::Mmap::map(&file) }.unwrap();
        file.set_len(0).unwrap();
        std::hint::black_box(map[5000]);
    }

    fn send_to_self() {
        // SAFETY: raise has no preconditions.
        unsafe { libc::raise(libc::SIGBUS) };
    }

    /// Not a test by itself: the code that other tests run in a child process.
    #[test]
    fn child() {
        let Ok(task) = std::env::var(CHILD) else {
            return;
        };
        match task.as_str() {
            "simple handler" => set_handler(exit_41 as *const () as usize, 0),
            "handler with info" => {
                set_handler(exit_42_at_fault as *const () as usize, libc::SA_SIGINFO);
            }
            "default" | "default, sent" => set_handler(libc::SIG_DFL, 0),
            "ignored" | "ignored, sent" => set_handler(libc::SIG_IGN, 0),
            _ => {}
        }
        // SAFETY: the inputs of these tests are verified, and nothing else handles SIGBUS.
        unsafe { install() }.unwrap();
        // SAFETY: as before.
        unsafe { install() }.unwrap();
        if task.ends_with("sent") {
            send_to_self()
        } else {
            fault_outside()
        }
        // SAFETY: _exit has no preconditions.
        unsafe { libc::_exit(if task == "ignored, sent" { 43 } else { 0 }) }
    }

    /// Promise (Failing inputs): Other faults are passed to the previous signal handler
    #[test]
    fn fault_outside_reaches_the_handler_before() {
        assert_eq!(run_child("simple handler").code(), Some(41));
        assert_eq!(run_child("handler with info").code(), Some(42));
    }

    /// Promise (Failing inputs): Other faults are passed to the previous …
    #[test]
    fn fault_outside_without_a_handler_ends_the_process() {
        for task in ["default", "ignored", "runtime's own handler"] {
            assert_eq!(run_child(task).signal(), Some(libc::SIGBUS), "{task}");
        }
    }

    /// Promise (Failing inputs): Other faults are passed to the previous …
    #[test]
    fn sent_signals_are_not_faults() {
        assert_eq!(run_child("default, sent").signal(), Some(libc::SIGBUS));
        assert_eq!(run_child("ignored, sent").code(), Some(43));
    }

    #[test]
    fn slot_has_one_owner_and_a_range_while_claimed() {
        let slot = Slot::new();
        assert_eq!(slot.range(), None);
        assert!(slot.claim(4096, 8192));
        assert!(!slot.claim(12_288, 16_384));
        assert_eq!(slot.range(), Some(4096..8192));
        slot.release();
        assert_eq!(slot.range(), None);
        assert!(slot.claim(12_288, 16_384));
        assert_eq!(slot.range(), Some(12_288..16_384));
    }

    #[test]
    fn range_is_never_torn_while_slots_change() {
        let slot = Slot::new();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for round in 1..100_000_usize {
                    assert!(slot.claim(round, 2 * round));
                    slot.release();
                }
            });
            for _ in 0..100_000 {
                if let Some(range) = slot.range() {
                    assert_eq!(range.end, 2 * range.start);
                }
            }
        });
    }
}
