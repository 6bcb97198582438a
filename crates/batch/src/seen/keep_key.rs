//! The key of a document by which the best of several copies is found.

use simtool_core::dedup::keep::{Facts, KeepOrder, Policy, Value};

/// Appends the keys of all policies that `order` compares, end to end, so that the smallest whole is
/// the best. `field` returns the value of a field of the document.
pub(super) fn append_key<'d>(
    order: &KeepOrder,
    facts: &Facts<'d>,
    field: impl Fn(&str) -> Option<Value<'d>>,
    out: &mut Vec<u8>,
) {
    for policy in order.compared() {
        let facts = Facts {
            field: policy.field().and_then(&field),
            ..*facts
        };
        out.extend(policy.key(&facts));
    }
}

/// The fields whose values are compared, each once.
pub fn keep_fields(order: &KeepOrder) -> Vec<String> {
    let mut fields: Vec<String> = Vec::new();
    for name in order.compared().iter().filter_map(Policy::field) {
        if !fields.iter().any(|known| known == name) {
            fields.push(name.to_owned());
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_in_the_order_of_the_policies() {
        let order = KeepOrder::parse("field:score,longest,smallest:score,field:rank").unwrap();
        assert_eq!(keep_fields(&order), ["score", "rank"]);
        let key = |text_bytes, score: Option<f64>| {
            let facts = Facts {
                text_bytes,
                ..Facts::default()
            };
            let mut key = Vec::new();
            let field = |name: &str| match name {
                "score" => score.map(Value::Number),
                _ => Some(Value::Text(b"a")),
            };
            append_key(&order, &facts, field, &mut key);
            assert_eq!(key.len(), 4 * 16);
            key
        };
        assert!(key(10, Some(2.0)) < key(20, Some(1.0)));
        assert!(key(20, Some(1.0)) < key(10, Some(1.0)));
        assert!(key(10, Some(1.0)) < key(99, None));
        let mut none = Vec::new();
        append_key(
            &KeepOrder::default(),
            &Facts::default(),
            |_| None,
            &mut none,
        );
        assert!(none.is_empty());
    }
}
