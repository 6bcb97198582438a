//! What people ask for: a method with its parameters, or several.

use std::fmt;

use super::{Ahead, Count, Entry, METHODS, Setting, Values};
use crate::sketch::Method;
use crate::sketch::combined::{Combined, Rule};
use crate::vocabulary::Frequencies;
use crate::{Error, ErrorKind, Result};

/// A method with its parameters, or several that are joined from left to right.
///
/// `A and B` accepts what both accept; it is scored and found as by A, so A should be the pickier
/// one. `A or B` accepts what either does, with a score of one or nothing. Documents in which a
/// method finds no feature are near to none by that method.
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

/// More methods than that are a mistake.
const MOST_OPERANDS: usize = 16;

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

    fn ahead(&self) -> Option<Count> {
        match (self.entry.ahead)(&self.values) {
            Ahead::Nothing => None,
            Ahead::Count(count) => Some(count),
        }
    }
}

impl Spec {
    /// Reads `NAME` or `NAME:parameter=value,…`, or several of them with `and` or `or` between them.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] for a method or parameter that there is not, or a value outside
    /// its bounds; the message says what there is. Also for more than 16 methods.
    pub fn parse(text: &str) -> Result<Spec> {
        let rule = |word: &&str| Rule::ALL.into_iter().find(|rule| rule.word() == *word);
        let words: Vec<&str> = text.split_whitespace().collect();
        let rules: Vec<Rule> = words.iter().filter_map(rule).collect();
        if rules.len() >= MOST_OPERANDS {
            let message = format!("{} methods: at most {MOST_OPERANDS}", rules.len() + 1);
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

    /// Something of each method, with the rules between them.
    fn joined(&self, text: impl Fn(&Operand) -> String) -> String {
        let rest = self.rest.iter();
        let rest = rest.map(|(rule, operand)| format!(" {rule} {}", text(operand)));
        text(&self.first) + &rest.collect::<String>()
    }

    /// The method's name; of several, all of them.
    pub fn name(&self) -> String {
        self.joined(|operand| operand.entry.name.to_owned())
    }

    /// What it is, in a line; of several, one each.
    pub fn summary(&self) -> String {
        let summaries = self.operands().map(|operand| operand.entry.summary);
        summaries.collect::<Vec<_>>().join("\n")
    }

    /// Every parameter with its value; of several methods, with the number of the method before it:
    /// `2.distance`.
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

    /// The same method with another value of a parameter.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] for a parameter that there is not or a value outside its bounds;
    /// for several methods, which have to be set one by one.
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

    /// What has to be counted before it can be built; nothing twice.
    pub fn ahead(&self) -> Vec<Count> {
        let mut counts = Vec::new();
        for count in self.operands().filter_map(Operand::ahead) {
            if !counts.contains(&count) {
                counts.push(count);
            }
        }
        counts
    }

    /// Makes the method; `frequencies` are those of [`Spec::ahead`], in its order.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] for parameters that do not go together; from some methods, if what
    /// they need was not counted.
    pub fn build(
        &self,
        setting: &Setting<'_>,
        frequencies: &[Frequencies],
    ) -> Result<Box<dyn Method>> {
        let ahead = self.ahead();
        let build = |operand: &Operand| {
            let place = ahead
                .iter()
                .position(|count| Some(*count) == operand.ahead());
            let frequencies = place.and_then(|place| frequencies.get(place));
            let setting = Setting {
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
    /// As [`parse`](Spec::parse) reads it, with every parameter.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.joined(Operand::to_string))
    }
}
