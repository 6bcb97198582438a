//! The elements that are open at a place in a page.

use super::context::{self, Context};
use crate::web::html::elements::Element;

/// The maximum depth; the elements within deeper ones are not distinguished.
const MAX_DEPTH: usize = 512;

/// The longest name of an element that is not inline.
const LONGEST_NAME: usize = 10;

/// A multiplier of FNV-1a.
const FNV_PRIME: u32 = 0x0100_0193;

/// The name of an element in lower case, followed by zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ElementName([u8; LONGEST_NAME]);

impl ElementName {
    /// The name; `None` if it is too long.
    fn of(name: &[u8]) -> Option<ElementName> {
        let mut lower = [0; LONGEST_NAME];
        let place = lower.get_mut(..name.len())?;
        place.copy_from_slice(name);
        place.make_ascii_lowercase();
        Some(ElementName(lower))
    }

    fn bytes(&self) -> &[u8] {
        let end = self.0.iter().position(|&byte| byte == 0);
        &self.0[..end.unwrap_or(LONGEST_NAME)]
    }

    /// The place of its counter.
    fn slot(self) -> usize {
        let sum = self
            .0
            .iter()
            .zip(1..)
            .map(|(&byte, place): (_, u8)| byte.wrapping_mul(place));
        usize::from(sum.fold(0, u8::wrapping_add))
    }
}

/// An open element.
#[derive(Clone, Copy)]
struct Open {
    name: ElementName,
    scope: Scope,
}

/// What is known of an open element.
#[derive(Clone, Copy, Default)]
pub(super) struct Scope {
    /// The bits of the element and of all around it.
    pub(super) context: Context,
    /// A hash of the names and classes of the element and of all around it, digits left out.
    pub(super) kind: u32,
    /// The number of the element in document order, from 1; 0 outside of all.
    pub(super) number: u32,
}

/// The open elements: blocks, cells and `span`.
///
/// O(1) amortised time for a tag, besides its own length.
pub(super) struct Scopes {
    open: Vec<Open>,
    /// The number of open elements for each slot of a name.
    counts: [u16; 256],
    /// The number of open elements that are too deep.
    deeper: usize,
    /// For each element by its number, that of the element around it.
    parents: Vec<u32>,
}

impl Scopes {
    pub(super) fn new() -> Scopes {
        Scopes {
            open: Vec::new(),
            counts: [0; 256],
            deeper: 0,
            parents: vec![0],
        }
    }

    /// The innermost open element.
    pub(super) fn innermost(&self) -> Scope {
        self.open.last().map_or(Scope::default(), |open| open.scope)
    }

    /// For each element by its number, that of the element around it; the first is 0.
    pub(super) fn into_parents(self) -> Vec<u32> {
        self.parents
    }

    /// Opens an element; ignores inline ones and those without content.
    pub(super) fn open(&mut self, element: Element, name: &[u8], attributes: &[u8]) {
        let Some(name) = scope_name(element, name) else {
            return;
        };
        let name_bytes = name.bytes();
        while self
            .open
            .last()
            .is_some_and(|open| is_ended_by(open.name.bytes(), name_bytes))
        {
            self.pop();
        }
        if self.open.len() >= MAX_DEPTH {
            self.deeper += 1;
            return;
        }
        let parent = self.innermost();
        let mut kind = parent.kind.rotate_left(5).wrapping_mul(0x9e37_79b1);
        kind ^= hashed(7, name_bytes);
        let own = context::of_element(name_bytes, attributes, |class| {
            kind = hashed(kind, class);
        });
        let scope = Scope {
            context: parent.context | own,
            kind,
            number: self.parents.len() as u32,
        };
        self.parents.push(parent.number);
        self.counts[name.slot()] += 1;
        self.open.push(Open { name, scope });
    }

    /// Closes the innermost element with this name and all in it.
    pub(super) fn close(&mut self, element: Element, name: &[u8]) {
        let Some(name) = scope_name(element, name) else {
            return;
        };
        if self.deeper > 0 {
            self.deeper -= 1;
            return;
        }
        // Without the counter, end tags without an element would search all open ones.
        if self.counts[name.slot()] == 0 {
            return;
        }
        if let Some(place) = self.open.iter().rposition(|open| open.name == name) {
            while self.open.len() > place {
                self.pop();
            }
        }
    }

    fn pop(&mut self) {
        if let Some(open) = self.open.pop() {
            self.counts[open.name.slot()] -= 1;
        }
    }
}

/// The name of an element that is kept; `None` for inline elements but `span`, whose classes say
/// something about its text, and for those without content.
fn scope_name(element: Element, name: &[u8]) -> Option<ElementName> {
    let name = ElementName::of(name)?;
    let is_kept = match name.bytes() {
        b"span" => true,
        b"br" | b"hr" | b"img" | b"input" => false,
        _ => element != Element::Inline,
    };
    is_kept.then_some(name)
}

/// Whether the start tag `next` ends the open element without an end tag.
fn is_ended_by(open: &[u8], next: &[u8]) -> bool {
    match open {
        b"p" => !matches!(next, b"span" | b"button" | b"option" | b"select"),
        b"li" => next == b"li",
        b"td" | b"th" => matches!(next, b"td" | b"th" | b"tr"),
        b"tr" => next == b"tr",
        b"dt" | b"dd" => matches!(next, b"dt" | b"dd"),
        b"option" => next == b"option",
        _ => false,
    }
}

/// FNV-1a of `bytes` without their digits, from a state.
fn hashed(state: u32, bytes: &[u8]) -> u32 {
    let bytes = bytes.iter().filter(|byte| !byte.is_ascii_digit());
    bytes.fold(state, |state, &byte| {
        (state ^ u32::from(byte)).wrapping_mul(FNV_PRIME)
    })
}
