//! Specifications of methods: a method with its parameters, or a combination.

use std::fmt;

use super::methods::METHODS;
use crate::sketch::Method;
use crate::sketch::combined::{Combined, Rule};
use crate::sketch::method::entry::{CountRequest, Entry, MethodContext, Statistics};
use crate::sketch::method::parameter::Values;
use crate::vocabulary::Frequencies;
use crate::{Error, ErrorKind, Result};

/// A method with its parameters, or several combined from left to right.
///
/// `A and B` accepts pairs that both accept; candidates and scores are those of A, so A should be
/// the more selective one. `A or B` accepts pairs that either accepts, with a score of 0 or 1.
/// Documents without features for a method are near no other by that method.
#[derive(Clone, Debug)]
pub struct Spec {
    first: Operand,
    rest: Vec<(Rule, Operand)>,
}

/// One of the methods.
#[derive(Clone, Debug)]
struct Operand {
    entry: &'static Entry,
    values: Values,
}

/// The maximum number of methods.
const MAX_OPERANDS: usize = 16;

fn refused(message: String) -> Error {
    Error::new(ErrorKind::Parameter, message)
}

impl Operand {
    fn parse(text: &str) -> Result<Operand> {
        let (name, settings) = text.split_once(':').unwrap_or((text, ""));
        let name = name.trim();
        let Some(entry) = METHODS.iter().copied().find(|entry| entry.name == name) else {
            let names: Vec<&str> = METHODS.iter().map(|entry| entry.name).collect();
            let message = format!("method {name:?}: expected one of {}", names.join(", "));
            return Err(refused(message));
        };
        let values = Values::parse(entry.name, entry.parameters, settings)?;
        Ok(Operand { entry, values })
    }

    fn required_count(&self) -> Option<CountRequest> {
        match (self.entry.statistics)(&self.values) {
            Statistics::Nothing => None,
            Statistics::Count(count) => Some(count),
        }
    }
}

impl Spec {
    /// Parses `NAME` or `NAME:parameter=value,…`, or several of them with `and` or `or` between
    /// them.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] for an unknown method or parameter or a value out of bounds, with
    /// the valid ones in the message; also for more than 16 methods.
    pub fn parse(text: &str) -> Result<Spec> {
        let rule = |word: &&str| Rule::ALL.into_iter().find(|rule| rule.word() == *word);
        let words: Vec<&str> = text.split_whitespace().collect();
        let rules: Vec<Rule> = words.iter().filter_map(rule).collect();
        if rules.len() >= MAX_OPERANDS {
            let message = format!("{} methods: at most {MAX_OPERANDS}", rules.len() + 1);
            return Err(refused(message));
        }
        let operands = words.split(|word| rule(word).is_some());
        let mut operands = operands.map(|words| Operand::parse(&words.join(" ")));
        let first = operands.next().unwrap_or_else(|| Operand::parse(""))?;
        let rest = rules.into_iter().zip(operands);
        let rest = rest.map(|(rule, operand)| Ok((rule, operand?)));
        let rest = rest.collect::<Result<Vec<_>>>()?;
        Ok(Spec { first, rest })
    }

    fn operands(&self) -> impl Iterator<Item = &Operand> {
        let rest = self.rest.iter().map(|(_, operand)| operand);
        std::iter::once(&self.first).chain(rest)
    }

    /// The texts of the methods, with the rules between them.
    fn joined(&self, text: impl Fn(&Operand) -> String) -> String {
        let rest = self.rest.iter();
        let rest = rest.map(|(rule, operand)| format!(" {rule} {}", text(operand)));
        text(&self.first) + &rest.collect::<String>()
    }

    /// The name of the method, or all names of a combination.
    pub fn name(&self) -> String {
        self.joined(|operand| operand.entry.name.to_owned())
    }

    /// The summary, one line for each method.
    pub fn summary(&self) -> String {
        let summaries = self.operands().map(|operand| operand.entry.summary);
        summaries.collect::<Vec<_>>().join("\n")
    }

    /// Every parameter with its value. In a combination, names are prefixed with the number of the
    /// method: `2.distance`.
    pub fn list(&self) -> Vec<(String, String)> {
        let mut list = Vec::new();
        for (operand, number) in self.operands().zip(1..) {
            let values = operand.values.list().into_iter();
            list.extend(values.map(|(name, value)| match self.rest.is_empty() {
                true => (name.to_owned(), value),
                false => (format!("{number}.{name}"), value),
            }));
        }
        list
    }

    /// This method with another value of a parameter.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] for an unknown parameter, a value out of bounds, or a combination.
    pub fn with(&self, name: &str, value: &str) -> Result<Spec> {
        let others = self.first.values.list().into_iter();
        let others = others.filter(|(known, _)| *known != name);
        let mut settings = format!("{name}={value}");
        others.for_each(|(known, value)| settings += &format!(",{known}={value}"));
        match self.rest.is_empty() {
            true => Spec::parse(&format!("{}:{settings}", self.first.entry.name)),
            false => Err(refused(format!(
                "{}: set {name} of one method",
                self.name()
            ))),
        }
    }

    /// The counts required before the method can be built, without duplicates.
    pub fn required_counts(&self) -> Vec<CountRequest> {
        let mut counts = Vec::new();
        for count in self.operands().filter_map(Operand::required_count) {
            if !counts.contains(&count) {
                counts.push(count);
            }
        }
        counts
    }

    /// Builds the method; `frequencies` are those of [`Spec::required_counts`], in its order.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] for parameters that contradict each other, such as a recall that
    /// cannot be reached. A missing count is no error, but counts as one of an empty collection.
    pub fn build(
        &self,
        setting: &MethodContext<'_>,
        frequencies: &[Frequencies],
    ) -> Result<Box<dyn Method>> {
        let required = self.required_counts();
        let build = |operand: &Operand| {
            let index = required
                .iter()
                .position(|count| Some(*count) == operand.required_count());
            let frequencies = index.and_then(|index| frequencies.get(index));
            let setting = MethodContext {
                frequencies,
                ..*setting
            };
            (operand.entry.build)(&operand.values, &setting)
        };
        let mut method = build(&self.first)?;
        for (rule, operand) in &self.rest {
            let methods = [method, build(operand)?];
            method = Box::new(Combined {
                rule: *rule,
                methods,
            });
        }
        Ok(method)
    }
}

impl fmt::Display for Operand {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.entry.name)?;
        for (number, (name, value)) in self.values.list().into_iter().enumerate() {
            let mark = if number == 0 { ':' } else { ',' };
            write!(out, "{mark}{name}={value}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Spec {
    /// In the format of [`parse`](Spec::parse), with every parameter.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.joined(Operand::to_string))
    }
}
