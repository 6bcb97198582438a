//! Circles of imports between the source files of each crate.
//!
//! A file imports another if a path in its code leads to the other. A path through a re-export
//! leads to the file that defines the name, and a re-export is not an import. So `mod.rs` may
//! re-export names of the files below it without a circle.

use std::collections::{BTreeMap, BTreeSet};

use super::{Source, code, none, sources};

/// The names from the crate's root to a module or an item.
type Names = Vec<String>;

/// The `use` declarations and other paths of a file.
#[derive(Default)]
struct Module {
    /// The paths of declarations, by the names that they declare.
    declared: BTreeMap<String, Names>,
    /// All paths but those of re-exports.
    imports: Vec<Names>,
}

/// All modules, by their names.
struct Modules(BTreeMap<Names, Module>);

/// How many re-exports a path may lead through.
const MAX_STEPS: usize = 12;

impl Modules {
    fn of(sources: &[Source]) -> Modules {
        let mut modules: BTreeMap<Names, Module> = BTreeMap::new();
        for source in sources {
            let module = Module::of(&source.code);
            // The roots of several crates count as one.
            let known = modules.entry(module_names(&source.path)).or_default();
            known.declared.extend(module.declared);
            known.imports.extend(module.imports);
        }
        Modules(modules)
    }

    /// The files imported by each file.
    fn imports(&self) -> BTreeMap<&Names, BTreeSet<&Names>> {
        let mut imports = BTreeMap::new();
        for (own, module) in &self.0 {
            let paths = module.imports.iter();
            let found = paths.filter_map(|path| self.definition(own, path, 0));
            imports.insert(own, found.filter(|found| *found != own).collect());
        }
        imports
    }

    /// The module that defines the item at `path`, as seen from the module `from`.
    fn definition(&self, from: &[String], path: &[String], steps: usize) -> Option<&Names> {
        let (first, rest) = path.split_first()?;
        let (mut names, mut rest) = match first.as_str() {
            _ if steps > MAX_STEPS => return None,
            "crate" | "simtool" | "simtool_core" => (Names::new(), rest),
            "self" => (from.to_vec(), rest),
            "super" => {
                let ups = path.iter().take_while(|name| *name == "super").count();
                (from[..from.len().checked_sub(ups)?].to_vec(), &path[ups..])
            }
            _ if self.0.contains_key(&[from, &path[..1]].concat()) => (from.to_vec(), path),
            _ => {
                let declared = self.0.get(from)?.declared.get(first)?;
                if declared[..] == path[..1] {
                    return None;
                }
                return self.definition(from, &[declared, rest].concat(), steps + 1);
            }
        };
        while let Some((name, behind)) = rest.split_first() {
            let child = [&names[..], &rest[..1]].concat();
            if self.0.contains_key(&child) {
                (names, rest) = (child, behind);
            } else if let Some(declared) = self.0.get(&names)?.declared.get(name) {
                return self.definition(&names, &[declared, behind].concat(), steps + 1);
            } else {
                break;
            }
        }
        self.0.get_key_value(&names).map(|(names, _)| names)
    }

    /// The largest sets of files that all lead to each other, with a line for each file.
    fn circles(&self) -> Vec<Vec<String>> {
        let imports = self.imports();
        let reached: BTreeMap<&Names, BTreeSet<&Names>> = imports
            .keys()
            .map(|names| (*names, reached_from(names, &imports)))
            .collect();
        let mut circles = BTreeSet::new();
        for (names, behind) in &reached {
            let is_both_ways = |other: &&&Names| reached[**other].contains(names);
            let circle: BTreeSet<_> = behind.iter().filter(is_both_ways).collect();
            if !circle.is_empty() {
                let lines = circle.iter().map(|names| {
                    let imported = imports[**names].iter().filter(|name| circle.contains(name));
                    let imported: Vec<_> = imported.map(|names| shown(names)).collect();
                    format!("{} imports {}", shown(names), imported.join(", "))
                });
                circles.insert(lines.collect());
            }
        }
        circles.into_iter().collect()
    }
}

/// All files that `names` leads to in one step or more.
fn reached_from<'a>(
    names: &'a Names,
    imports: &BTreeMap<&'a Names, BTreeSet<&'a Names>>,
) -> BTreeSet<&'a Names> {
    let mut reached = BTreeSet::new();
    let mut pending = vec![names];
    while let Some(next) = pending.pop() {
        for names in &imports[next] {
            if reached.insert(*names) {
                pending.push(names);
            }
        }
    }
    reached
}

fn shown(names: &Names) -> String {
    match names.is_empty() {
        true => "lib".to_owned(),
        false => names.join("/"),
    }
}

/// The names of the module in the file at `path`.
fn module_names(path: &str) -> Names {
    let mut names: Names = path
        .trim_end_matches(".rs")
        .split('/')
        .map(str::to_owned)
        .collect();
    if names
        .last()
        .is_some_and(|name| name == "mod" || name == "lib")
    {
        names.pop();
    }
    names
}

impl Module {
    /// The declarations and paths of some code, of which each declaration begins a line.
    fn of(code: &str) -> Module {
        let mut module = Module::default();
        let mut is_for_tests = false;
        let mut rest = code;
        while !rest.is_empty() {
            let (line, behind) = rest.split_once('\n').unwrap_or((rest, ""));
            match declaration(rest) {
                Some((is_public, tree, behind)) => {
                    rest = behind;
                    if !is_for_tests {
                        module.declare(is_public, tree);
                    }
                }
                None => {
                    rest = behind;
                    module.imports.extend(paths(line));
                }
            }
            is_for_tests = line == "#[cfg(test)]";
        }
        module
    }

    fn declare(&mut self, is_public: bool, tree: &str) {
        for (name, path) in leaves(&[], tree) {
            self.declared.insert(name, path.clone());
            if !is_public {
                self.imports.push(path);
            }
        }
    }
}

/// The `use` declaration that `code` begins with: whether it is a re-export, its tree, and the code
/// behind it.
fn declaration(code: &str) -> Option<(bool, &str, &str)> {
    let private = match code.strip_prefix("pub") {
        Some(rest) => match rest.strip_prefix('(') {
            Some(rest) => rest.split_once(')')?.1,
            None => rest,
        }
        .trim_start(),
        None => code,
    };
    let (tree, behind) = private.strip_prefix("use ")?.split_once(';')?;
    let is_tree = |byte: char| byte.is_alphanumeric() || "_:*{}, \n".contains(byte);
    let is_public = private.len() < code.len();
    tree.chars()
        .all(is_tree)
        .then_some((is_public, tree, behind))
}

/// The names that a tree of a declaration declares, and their paths.
fn leaves(prefix: &[String], tree: &str) -> Vec<(String, Names)> {
    let tree = tree.trim();
    if let Some((before, list)) = tree.split_once('{') {
        let prefix = [prefix, &split(before)].concat();
        let list = list.strip_suffix('}').unwrap_or(list);
        let mut depth = 0;
        let parts = list.split(|byte| {
            depth += i32::from(byte == '{') - i32::from(byte == '}');
            byte == ',' && depth == 0
        });
        return parts.flat_map(|part| leaves(&prefix, part)).collect();
    }
    let (path, alias) = match tree.split_once(" as ") {
        Some((path, alias)) => (path, Some(alias.trim().to_owned())),
        None => (tree, None),
    };
    let mut path = [prefix, &split(path)].concat();
    if path.len() > 1 && path.last().is_some_and(|name| name == "self") {
        path.pop();
    }
    let name = alias.or_else(|| path.last().cloned());
    name.map(|name| (name, path)).into_iter().collect()
}

/// The paths of several names in a line of code, which begin with a module.
fn paths(line: &str) -> impl Iterator<Item = Names> {
    let words = line.split(|byte: char| byte != '_' && byte != ':' && !byte.is_alphanumeric());
    let is_path =
        |word: &&str| word.starts_with(|first: char| first == '_' || first.is_lowercase());
    let paths = words.filter(is_path).map(split);
    paths.filter(|path| path.len() > 1)
}

fn split(path: &str) -> Names {
    let names = path.split("::").map(|name| name.trim().trim_matches(':'));
    names
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}

#[test]
fn files_do_not_import_each_other_in_circles() {
    none(Modules::of(&sources()).circles().concat());
}

fn circles_of(files: &[(&str, &str)]) -> Vec<Vec<String>> {
    let source = |(path, text): &(&str, &str)| Source {
        crate_root: "src",
        path: (*path).to_owned(),
        text: (*text).to_owned(),
        code: code(text),
    };
    let sources: Vec<_> = files.iter().map(source).collect();
    Modules::of(&sources).circles()
}

#[test]
fn circles_are_found_through_every_kind_of_path() {
    let files = [
        (
            "lib.rs",
            "pub mod a;\npub mod b;\npub mod c;\npub use a::One;",
        ),
        ("a/mod.rs", "mod one;\nmod two;\npub use one::One;"),
        ("a/one.rs", "use super::two::{\n    Two, self,\n};"),
        (
            "a/two.rs",
            "fn f() -> b::Second { b::go() }\nuse crate::{b, c::{Three, Four}};",
        ),
        (
            "b.rs",
            "pub use crate::a::One as Second;\nfn go() { crate::One::new() }",
        ),
        (
            "c.rs",
            "use std::fmt;\nfn f() { fmt::write(\"use a, not b;\") }",
        ),
    ];
    let circle = [
        "a/one imports a/two",
        "a/two imports a/one, b",
        "b imports a/one",
    ];
    assert_eq!(circles_of(&files), [circle]);
    let files = [
        (
            "a/mod.rs",
            "mod one;\nuse one::One;\npub struct Shared(One);",
        ),
        ("a/one.rs", "use super::Shared;"),
    ];
    assert_eq!(circles_of(&files), [["a imports a/one", "a/one imports a"]]);
}

#[test]
fn re_exports_and_tests_make_no_circles() {
    let files = [
        (
            "a/mod.rs",
            "mod one;\nmod two;\npub use one::One;\npub(crate) use two::Two as Second;",
        ),
        ("a/one.rs", "use super::Second;\nuse crate::b::*;"),
        (
            "a/two.rs",
            "#[cfg(test)]\nuse super::One;\n#[cfg(test)]\nmod tests {\nuse super::super::One;\n}",
        ),
        ("b.rs", "// crate::a::One\nuse external::a::One;"),
    ];
    assert_eq!(circles_of(&files), [[""; 0]; 0]);
}
