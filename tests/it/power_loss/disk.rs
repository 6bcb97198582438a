//! A disk that records what is durable.
//!
//! This program defines `fsync` and `fdatasync`, which the standard library then calls in place of
//! those of the system. They record the state of a file or a directory as durable; nothing else
//! does. The possible states after a power loss follow from the durable and the current state:
//!
//! * of a file, every page of 512 bytes may be the durable or the later one, and so may its length;
//! * of a directory, every entry may be the durable or the later one. The entry of a file is made
//!   durable by a sync of its directory alone, never by one of the file.
//!
//! File systems in their default mode promise more.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use crate::dump::documents::Random;

const PAGE_BYTES: usize = 512;

static DISKS: Mutex<Vec<Arc<Shared>>> = Mutex::new(Vec::new());

/// Replaces the function of the system.
#[unsafe(no_mangle)]
pub extern "C" fn fsync(descriptor: i32) -> i32 {
    synced(descriptor);
    0
}

/// Replaces the function of the system.
#[unsafe(no_mangle)]
pub extern "C" fn fdatasync(descriptor: i32) -> i32 {
    synced(descriptor);
    0
}

fn synced(descriptor: i32) {
    let link = PathBuf::from(format!("/proc/self/fd/{descriptor}"));
    let Ok(path) = fs::read_link(&link) else {
        return;
    };
    let disks = DISKS.lock().unwrap_or_else(PoisonError::into_inner);
    let disk = disks.iter().find(|disk| path.starts_with(&disk.root));
    let disk = disk.cloned();
    drop(disks);
    if let Some(disk) = disk {
        disk.sync(&link, &path);
    }
}

/// A file or directory; the time of creation distinguishes files that reuse an inode number.
type Identity = (u64, Option<SystemTime>);

#[derive(Clone)]
enum Node {
    File(Arc<Vec<u8>>),
    Directory(BTreeMap<OsString, Identity>),
}

type Nodes = BTreeMap<Identity, Node>;

/// Selects the paths whose syncs are ignored.
pub type Ignored = fn(&Path) -> bool;

/// A directory whose files are lost unless they are synced.
pub struct Disk(Arc<Shared>);

struct Shared {
    root: PathBuf,
    ignored: Ignored,
    /// A power loss is simulated before one of this many syncs.
    every: u64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    durable: Nodes,
    syncs: u64,
    acknowledged: usize,
    points: Vec<Point>,
}

/// A possible moment of the power failure.
#[derive(Clone)]
pub struct Point {
    pub what: String,
    /// The number of acknowledged steps of the scenario.
    pub acknowledged: usize,
    /// Whether the next step had begun.
    pub under_way: bool,
    root: Identity,
    durable: Nodes,
    current: Nodes,
}

/// The part of unsynced data that is lost.
#[derive(Clone, Copy, Debug)]
pub enum Loss {
    /// All of it.
    All,
    /// The contents of files, but not their names.
    Contents,
    /// Random pages and names.
    Random(u64),
}

impl Disk {
    /// The existing directory `root`, all of which is durable. Syncs of paths for which `ignored`
    /// holds have no effect. There is a point before one of `every` syncs, and after each step.
    pub fn new(root: &Path, every: u64, ignored: Ignored) -> Disk {
        let shared = Arc::new(Shared {
            root: root.canonicalize().unwrap(),
            ignored,
            every,
            state: Mutex::default(),
        });
        let mut durable = Nodes::new();
        read_tree(&shared.root, &mut durable);
        shared.state.lock().unwrap().durable = durable;
        DISKS.lock().unwrap().push(Arc::clone(&shared));
        Disk(shared)
    }

    /// Acknowledges a step of the scenario.
    pub fn acknowledge(&self) {
        let mut state = self.0.state.lock().unwrap();
        state.acknowledged += 1;
        let what = format!("step {}, acknowledged", state.acknowledged);
        let point = self.0.point(&state, what, false);
        state.points.push(point);
    }

    /// The moments at which the power may have failed.
    pub fn points(&self) -> Vec<Point> {
        self.0.state.lock().unwrap().points.clone()
    }

    /// The number of syncs.
    pub fn syncs(&self) -> u64 {
        self.0.state.lock().unwrap().syncs
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let mut disks = DISKS.lock().unwrap();
        disks.retain(|disk| !Arc::ptr_eq(disk, &self.0));
    }
}

impl Shared {
    fn sync(&self, link: &Path, path: &Path) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let name = path.strip_prefix(&self.root).unwrap_or(path).display();
        if state.syncs % self.every == self.every / 2 {
            let what = format!("sync {} of {name}", state.syncs);
            let point = self.point(&state, what, true);
            state.points.push(point);
        }
        state.syncs += 1;
        if (self.ignored)(path) {
            return;
        }
        if let Some((identity, node)) = read_node(link) {
            state.durable.insert(identity, node);
        }
    }

    fn point(&self, state: &State, what: String, under_way: bool) -> Point {
        let mut current = Nodes::new();
        let root = read_tree(&self.root, &mut current).unwrap();
        // Most files have not changed since their sync: these share their bytes.
        for (identity, node) in &mut current {
            if let (Node::File(now), Some(Node::File(then))) = (&node, state.durable.get(identity))
                && now == then
            {
                *node = Node::File(Arc::clone(then));
            }
        }
        Point {
            what,
            acknowledged: state.acknowledged,
            under_way,
            root,
            durable: state.durable.clone(),
            current,
        }
    }
}

fn read_node(path: &Path) -> Option<(Identity, Node)> {
    let found = fs::metadata(path).ok()?;
    let identity = (found.ino(), found.created().ok());
    let node = if found.is_dir() {
        let mut entries = BTreeMap::new();
        for entry in fs::read_dir(path).ok()? {
            let entry = entry.ok()?;
            // A file may be removed meanwhile.
            if let Ok(found) = fs::symlink_metadata(entry.path()) {
                entries.insert(entry.file_name(), (found.ino(), found.created().ok()));
            }
        }
        Node::Directory(entries)
    } else {
        Node::File(Arc::new(fs::read(path).ok()?))
    };
    Some((identity, node))
}

fn read_tree(path: &Path, nodes: &mut Nodes) -> Option<Identity> {
    let (identity, node) = read_node(path)?;
    if let Node::Directory(entries) = &node {
        for name in entries.keys() {
            read_tree(&path.join(name), nodes);
        }
    }
    nodes.insert(identity, node);
    Some(identity)
}

impl Point {
    /// The numbers of steps that may be durable: the acknowledged ones, and possibly the next.
    pub fn steps(&self) -> std::ops::RangeInclusive<usize> {
        self.acknowledged..=self.acknowledged + usize::from(self.under_way)
    }

    /// Creates in `to` the state after the power loss.
    pub fn materialise(&self, loss: Loss, to: &Path) {
        let seed = match loss {
            Loss::Random(seed) => seed,
            _ => 0,
        };
        let mut random = Random::new(seed);
        self.make(self.root, loss, &mut random, to);
    }

    fn make(&self, identity: Identity, loss: Loss, random: &mut Random, to: &Path) {
        let (durable, current) = (self.durable.get(&identity), self.current.get(&identity));
        match current.or(durable) {
            // Created and removed again between two syncs.
            None => {}
            Some(Node::File(_)) => {
                let content = |node: Option<&Node>| match node {
                    Some(Node::File(bytes)) => Some(Arc::clone(bytes)),
                    _ => None,
                };
                let durable = content(durable).unwrap_or_default();
                let current = content(current).unwrap_or_else(|| Arc::clone(&durable));
                fs::write(to, mixed(&durable, &current, loss, random)).unwrap();
            }
            Some(Node::Directory(_)) => {
                fs::create_dir(to).unwrap();
                let entries = |node: Option<&Node>| match node {
                    Some(Node::Directory(entries)) => entries.clone(),
                    _ => BTreeMap::new(),
                };
                let (durable, current) = (entries(durable), entries(current));
                let names: BTreeSet<&OsString> = durable.keys().chain(current.keys()).collect();
                for name in names {
                    let is_current = match loss {
                        Loss::All => false,
                        Loss::Contents => true,
                        Loss::Random(_) => random.below(2) == 1,
                    };
                    let entries = if is_current { &current } else { &durable };
                    if let Some(entry) = entries.get(name) {
                        self.make(*entry, loss, random, &to.join(name));
                    }
                }
            }
        }
    }
}

fn mixed(durable: &[u8], current: &[u8], loss: Loss, random: &mut Random) -> Vec<u8> {
    if durable == current || !matches!(loss, Loss::Random(_)) {
        return durable.to_vec();
    }
    let length = [durable.len(), current.len()][random.below(2) as usize];
    let mut bytes = durable.to_vec();
    bytes.resize(length, 0);
    for start in (0..length.min(current.len())).step_by(PAGE_BYTES) {
        if random.below(2) == 1 {
            let end = (start + PAGE_BYTES).min(length).min(current.len());
            bytes[start..end].copy_from_slice(&current[start..end]);
        }
    }
    bytes
}
