//! Keep orders of several policies.

use std::fmt;

use super::Policy;
use crate::{Error, ErrorKind, Result};

/// The maximum number of policies of an order.
pub const MAX_POLICIES: usize = 4;

/// Policies in order of precedence: each decides among the copies that those before it find equally
/// good. Among copies that all of them find equally good, the first in the input is best.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeepOrder(Vec<Policy>);

impl KeepOrder {
    /// Reads policies, separated by commas, in the format of [`Policy::parse`].
    ///
    /// ```
    /// use simtool_core::dedup::keep::KeepOrder;
    /// assert!(KeepOrder::parse("field:score,longest,first").is_ok());
    /// assert!(KeepOrder::parse("first,longest").is_err());
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] for an unknown policy, for one that can have no effect (after
    /// `first` or a second time), and for more than [`MAX_POLICIES`].
    pub fn parse(text: &str) -> Result<KeepOrder> {
        let refuse = |message| Err(Error::new(ErrorKind::Parameter, message));
        let policies: Vec<Policy> = text.split(',').map(Policy::parse).collect::<Result<_>>()?;
        if policies.len() > MAX_POLICIES {
            return refuse(format!(
                "keep order {text:?}: {} policies (expected at most {MAX_POLICIES})",
                policies.len()
            ));
        }
        for (place, policy) in policies.iter().enumerate() {
            if policies[..place].contains(policy) {
                return refuse(format!("keep order {text:?}: {policy} is there twice"));
            }
            if *policy == Policy::First && place + 1 < policies.len() {
                return refuse(format!(
                    "keep order {text:?}: no two documents are equally early, so nothing after \
                     first has an effect"
                ));
            }
        }
        Ok(KeepOrder(policies))
    }

    /// This order after `first`, which decides before all of its policies; the order itself if it
    /// begins with `first`.
    ///
    /// # Errors
    /// Errors of [`parse`](Self::parse).
    pub fn after(&self, first: &Policy) -> Result<KeepOrder> {
        match self.0.first() == Some(first) {
            true => Ok(self.clone()),
            false => KeepOrder::parse(&format!("{first},{self}")),
        }
    }

    /// The policies, the first one first.
    pub fn policies(&self) -> &[Policy] {
        &self.0
    }

    /// The policies whose keys have to be compared, without `first`.
    pub fn compared(&self) -> &[Policy] {
        match self.0.split_last() {
            Some((Policy::First, before)) => before,
            _ => &self.0,
        }
    }

    /// Whether the first copy in the input is always best.
    pub fn is_input_order(&self) -> bool {
        self.compared().is_empty()
    }
}

impl Default for KeepOrder {
    fn default() -> Self {
        Policy::First.into()
    }
}

impl From<Policy> for KeepOrder {
    fn from(policy: Policy) -> Self {
        KeepOrder(vec![policy])
    }
}

/// In the format of [`KeepOrder::parse`].
impl fmt::Display for KeepOrder {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, policy) in self.0.iter().enumerate() {
            let comma = if place > 0 { "," } else { "" };
            write!(out, "{comma}{policy}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_read_as_they_are_written() {
        for text in [
            "first",
            "longest",
            "field:score,longest,first",
            "smallest:a,field:a,newest,shortest-url",
        ] {
            assert_eq!(KeepOrder::parse(text).unwrap().to_string(), text);
        }
        for (text, part) in [
            ("", "expected first"),
            ("longest,", "expected first"),
            ("longest, first", "expected first"),
            ("first,longest", "nothing after first"),
            ("longest,newest,longest", "longest is there twice"),
            ("field:a,field:b,field:c,field:d,first", "5 policies"),
        ] {
            let error = KeepOrder::parse(text).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Parameter);
            assert!(error.to_string().contains(part), "{text}: {error}");
        }
        for (text, expected) in [
            ("first", Ok("longest,first")),
            ("longest,newest", Ok("longest,newest")),
            ("newest,longest", Err("longest is there twice")),
            ("field:a,field:b,field:c,first", Err("5 policies")),
        ] {
            let found = KeepOrder::parse(text).unwrap().after(&Policy::Longest);
            match (found, expected) {
                (Ok(found), Ok(expected)) => assert_eq!(found.to_string(), expected),
                (Err(error), Err(part)) => assert!(error.to_string().contains(part), "{error}"),
                (found, _) => panic!("{text}: {found:?}"),
            }
        }
        assert!(KeepOrder::default().is_input_order());
        let order = KeepOrder::parse("longest,first").unwrap();
        assert_eq!((order.policies().len(), order.compared().len()), (2, 1));
    }
}
