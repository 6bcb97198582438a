//! The names that a work directory may hold; nothing else in it is ever removed.

/// The ending of a file that is being written.
pub const PART: &str = ".part";
/// The directory of the segments.
pub const SEGMENTS: &str = "sketch";
/// The job, without which nothing in the directory is of use.
pub const JOB: &str = "job.json";

/// Files that say that others are complete; removed before those.
const MARKERS: [&str; 3] = ["reported", "decided", "gathered"];
const FILES: [&str; 9] = [
    "rows",
    "sketches",
    "sketch-ends",
    "labels",
    "chunks",
    "decisions",
    "refused",
    "known-ids",
    "known-ends",
];
/// Names that end with a number.
const NUMBERED: [&str; 3] = ["frequencies-", "stream-", "related-"];
/// The record of outputs, and the lock of file systems that cannot lock directories. They are
/// removed last, so that there is no job without a record.
const LATE: [&str; 2] = [OUTPUTS, LOCK];
pub const OUTPUTS: &str = "outputs";
pub const LOCK: &str = "lock";

/// When a file of the work directory is removed: smaller first; `None` for a file of others.
pub fn order(name: &str) -> Option<u32> {
    let name = name.strip_suffix(PART).unwrap_or(name);
    let is_numbered = |start: &str| name.strip_prefix(start).is_some_and(is_number);
    if MARKERS.contains(&name) {
        Some(0)
    } else if FILES.contains(&name) || NUMBERED.iter().any(|start| is_numbered(start)) {
        Some(1)
    } else if is_job(name) {
        Some(2)
    } else if LATE.contains(&name) {
        Some(3)
    } else {
        None
    }
}

/// Whether `name` is that of the job.
pub fn is_job(name: &str) -> bool {
    name.strip_suffix(PART).unwrap_or(name) == JOB
}

/// Whether `name` is removed last.
pub fn is_late(name: &str) -> bool {
    LATE.contains(&name.strip_suffix(PART).unwrap_or(name))
}

/// Whether `name` is that of a segment.
pub fn is_segment(name: &str) -> bool {
    let name = name.strip_suffix(PART).unwrap_or(name);
    name.split_once('-')
        .is_some_and(|(unit, number)| is_number(unit) && is_number(number))
}

/// Whether `text` is a decimal number.
pub fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_the_layout_are_known() {
        for name in [
            "rows",
            "labels.part",
            "frequencies-3",
            "stream-12",
            "decided",
        ] {
            assert!(order(name).is_some_and(|order| order < 2), "{name}");
        }
        assert_eq!(
            (order("outputs"), order("job.json.part")),
            (Some(3), Some(2))
        );
        for name in [
            "notes.txt",
            "rows.bak",
            "frequencies-",
            "stream-x",
            ".part",
            "",
            "0-1",
        ] {
            assert_eq!(order(name), None, "{name}");
        }
        assert!(is_segment("0-12") && is_segment("3-4.part"));
        assert!(!is_segment("0-") && !is_segment("a-1") && !is_segment("1"));
    }
}
