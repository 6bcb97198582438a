//! Duplicates by containment: a document is dropped if a kept one has most of its shingles.
//!
//! Documents with more shingles come first in keep order. So the dropped document of a pair is the
//! one with fewer, and the share is that of the smaller set: a document is never dropped for a part
//! of it. With components or without a kept copy it would be, so a job refuses these.

use crate::{Error, ErrorKind, Result};
use simtool_core::dedup::keep::{KeepOrder, Policy};
use simtool_core::sketch::registry::Spec;

use super::verification::Verification;

/// The method that proposes documents contained in others, without its parameters.
pub const CONTAINMENT_METHOD: &str = "shingles";

/// Documents with fewer words are compared for equality alone: a few words are in many documents
/// that have nothing to do with each other.
pub const LEAST_WORDS: usize = 8;

/// The method that `text` names; `shingles` gets the parameters that `text` does not set.
///
/// # Errors
/// Errors of [`Spec::parse`].
pub fn spec(text: &str, verification: Verification) -> Result<Spec> {
    let mut spec = Spec::parse(text)?;
    if spec.name() != CONTAINMENT_METHOD {
        return Ok(spec);
    }
    let Verification { shingle, least } = verification;
    let parameters = [
        ("measure", least.measure.name().to_owned()),
        ("similarity", least.share()),
        ("shingle", shingle.to_string()),
    ];
    for (name, value) in parameters {
        if !text.contains(&format!("{name}=")) {
            spec = spec.with(name, &value)?;
        }
    }
    Ok(spec)
}

/// Refuses a method that misses pairs, and a keep order that would drop a document for a part of it.
///
/// # Errors
/// [`ErrorKind::Parameter`] naming the setting.
pub fn check(method: &Spec, verification: Verification, keep: &KeepOrder) -> Result<()> {
    let Verification { shingle, least } = verification;
    let value = |name: &str| {
        let list = method.list().into_iter();
        let mut values = list.filter(|(known, _)| known == name);
        values.next().map(|(_, value)| value).unwrap_or_default()
    };
    let name = method.name();
    if name != CONTAINMENT_METHOD || value("measure") != least.measure.name() {
        return refuse(format!(
            "similarity containment: the method {name} proposes documents that are similar as a \
             whole, not documents that others contain (leave the method out, or take \
             shingles:measure=containment)"
        ));
    }
    if value("shingle") != shingle.to_string() {
        return refuse(format!(
            "similarity containment: the method has shingles of {} words, and {shingle} are \
             verified (give both the same number)",
            value("shingle")
        ));
    }
    let own: f64 = value("similarity").parse().unwrap_or(1.0);
    if own > f64::from(least.thousandths) / 1000.0 {
        return refuse(format!(
            "similarity {least}: the method proposes only documents of which {own} are contained \
             (leave its similarity out)"
        ));
    }
    match keep.policies().first() {
        Some(Policy::MostShingles) => Ok(()),
        _ => refuse(format!(
            "similarity containment: the keep order {keep} has to begin with {}",
            Policy::MostShingles
        )),
    }
}

fn refuse(message: String) -> Result<()> {
    Err(Error::new(ErrorKind::Parameter, message))
}
