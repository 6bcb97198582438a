//! The registry of methods.
//!
//! A method is specified as `NAME` or `NAME:parameter=value,parameter=value`; several of them,
//! joined by `and` or `or`, form a combined method.

mod methods;
mod spec;

pub use super::method::entry::{CountRequest, Entry, FeatureUnit, MethodContext, Statistics};
pub use super::method::parameter::{Domain, Parameter, SHARE_DENOMINATOR, Values};
pub use methods::METHODS;
pub use spec::Spec;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;
    use crate::sketch::testing::context;
    use crate::text::WordSet;
    use crate::vocabulary::Frequencies;
    use std::collections::BTreeSet;

    /// Every method can be built with its defaults, and its name parses back.
    #[test]
    fn methods_are_as_they_say() {
        let names: BTreeSet<&str> = METHODS.iter().map(|entry| entry.name).collect();
        assert_eq!(names.len(), METHODS.len());
        let stop_words = WordSet::default();
        let setting = context(&stop_words);
        for &entry in METHODS {
            let spec = Spec::parse(entry.name).unwrap();
            let text = spec.to_string();
            assert_eq!(Spec::parse(&text).unwrap().to_string(), text);
            let nothing = vec![Frequencies::default(); spec.required_counts().len()];
            let method = spec.build(&setting, &nothing).unwrap();
            assert_eq!(method.name(), entry.name);
            assert!(!entry.summary.ends_with('.') && entry.summary.len() <= 80);
            assert!(entry.description.len() > 100, "{}", entry.name);
        }
    }

    #[test]
    fn several_methods() {
        let spec = Spec::parse(
            " mirror-5:weights=tf-idf , keywords=3  and minhash or\tsimhash:weights=top",
        )
        .unwrap();
        assert_eq!(spec.name(), "mirror-5 and minhash or simhash");
        let text = spec.to_string();
        assert!(text.starts_with("mirror-5:keywords=3,weights=tf-idf and minhash:similarity=0.8,"));
        assert_eq!(Spec::parse(&text).unwrap().to_string(), text);
        let list = spec.list();
        assert!(list.contains(&("1.keywords".to_owned(), "3".to_owned())));
        assert!(list.contains(&("3.weights".to_owned(), "top".to_owned())));
        assert_eq!(spec.required_counts().len(), 2);
        assert_eq!(spec.summary().lines().count(), 3);
        let twice = Spec::parse("mirror-5:weights=tf-idf or mirror-2:weights=tf-idf").unwrap();
        assert_eq!(twice.required_counts().len(), 1);
        for text in [
            "",
            "and",
            "minhash and",
            "or minhash",
            "minhash and or simhash",
            "minhash simhash",
        ] {
            let error = Spec::parse(text).unwrap_err().to_string();
            assert!(error.contains("expected one of"), "{error}");
        }
        let many = vec!["exact"; 17].join(" or ");
        assert_eq!(
            Spec::parse(&many).unwrap_err().to_string(),
            "17 methods: at most 16"
        );
        assert!(Spec::parse(&vec!["exact"; 16].join(" and ")).is_ok());
    }

    /// Each method receives the counts that it requires.
    #[test]
    fn frequencies_go_to_their_methods() {
        let stop_words = WordSet::default();
        let setting = context(&stop_words);
        let spec = "mirror-5 and mirror-2:weights=tf-idf or characters:weights=tf-idf or mirror-3:weights=tf-idf";
        let spec = Spec::parse(spec).unwrap();
        assert_eq!(
            spec.required_counts()
                .iter()
                .map(|count| count.unit)
                .collect::<Vec<_>>(),
            [FeatureUnit::Words, FeatureUnit::Characters]
        );
        let counted = [7, 9].map(|documents| Frequencies::new(documents, []));
        let text = format!("{:?}", spec.build(&setting, &counted).unwrap().parameters());
        let places = |documents: u64| text.matches(&format!("0 of {documents} documents")).count();
        assert_eq!([places(7), places(9)], [2, 1], "{text}");
    }

    #[test]
    fn unknown_methods_are_refused() {
        let error = Spec::parse("simhush:bits=64").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Parameter);
        let message = error.to_string();
        assert!(message.starts_with("method \"simhush\": expected one of simhash,"));
    }
}
