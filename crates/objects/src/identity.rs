//! The identity of an object: what must not change while it is read.

use serde::{Deserialize, Serialize};

/// What a server tells about the content of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// Its size.
    pub bytes: u64,
    /// Its entity tag, as the server writes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub etag: Option<String>,
    /// Its version, or the commit that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The time of its last modification, if the server tells no entity tag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modified: Option<String>,
}

impl Identity {
    /// Whether `other` may describe the same content: the sizes are equal, and so are the entity
    /// tags, versions and times that both have. (A listing tells less than an answer to a request.)
    pub fn agrees(&self, other: &Identity) -> bool {
        fn equal<T: PartialEq>(one: Option<T>, other: Option<T>) -> bool {
            one.is_none() || other.is_none() || one == other
        }
        self.bytes == other.bytes
            && equal(self.opaque_tag(), other.opaque_tag())
            && equal(self.version.as_ref(), other.version.as_ref())
            && equal(self.modified.as_ref(), other.modified.as_ref())
    }

    /// The value of `If-Match` that is true for this content only; `None` without an entity tag
    /// that promises equal bytes.
    pub fn if_match(&self) -> Option<String> {
        // Others are no entity tags, and some no values of headers.
        let is_valid = |byte: u8| byte != b'"' && byte.is_ascii_graphic();
        let is_sendable = |tag: &&str| !tag.starts_with("W/") && opaque(tag).bytes().all(is_valid);
        let tag = self.etag.as_deref().filter(is_sendable)?;
        Some(match tag.starts_with('"') {
            true => tag.to_owned(),
            false => format!("\"{tag}\""),
        })
    }

    /// The entity tag without quotes, which listings of some stores leave out.
    fn opaque_tag(&self) -> Option<&str> {
        self.etag.as_deref().map(opaque)
    }
}

/// An entity tag without quotes and without the mark of a weak one.
pub(crate) fn opaque(tag: &str) -> &str {
    tag.trim_start_matches("W/").trim_matches('"')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tagged(etag: &str) -> Identity {
        Identity {
            bytes: 5,
            etag: Some(etag.to_owned()),
            ..Identity::default()
        }
    }

    #[test]
    fn identities_are_compared_by_what_both_have() {
        let bare = Identity {
            bytes: 5,
            ..Identity::default()
        };
        assert!(bare.agrees(&tagged("\"a\"")) && tagged("a").agrees(&bare));
        assert!(tagged("\"a\"").agrees(&tagged("a")) && tagged("W/\"a\"").agrees(&tagged("a")));
        assert!(!tagged("a").agrees(&tagged("b")));
        let longer = Identity {
            bytes: 6,
            ..tagged("a")
        };
        assert!(!longer.agrees(&tagged("a")));
        let version = |version: &str| Identity {
            version: Some(version.to_owned()),
            ..bare.clone()
        };
        assert!(!version("1").agrees(&version("2")) && version("1").agrees(&bare));
    }

    #[test]
    fn weak_tags_are_not_sent() {
        assert_eq!(tagged("\"a\"").if_match().as_deref(), Some("\"a\""));
        assert_eq!(tagged("0x8D").if_match().as_deref(), Some("\"0x8D\""));
        assert_eq!(tagged("W/\"a\"").if_match(), None);
        for invalid in ["\"a\nb\"", "a\"b", "\"a b\"", "\"é\""] {
            assert_eq!(tagged(invalid).if_match(), None, "{invalid}");
        }
        assert_eq!(Identity::default().if_match(), None);
    }
}
