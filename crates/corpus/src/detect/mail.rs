//! Recognition of mailboxes: files of many mails, each after a line `From ADDRESS DATE`.

use memchr::memmem;

/// How the lines begin that separate mails.
const FROM: &[u8] = b"From ";

/// The date in such a line of a patch that Git wrote: a mail of its own, and not in a mailbox.
const DATE_OF_PATCHES: &[u8] = b"Mon Sep 17 00:00:00 2001";

/// The least length of a file whose first mail may be cut off: that of the examined bytes.
const CUT_OFF_BYTES: usize = 64 << 10;

/// Writes a line for each mail with a text, with its number and its text, which is plain or else
/// HTML. Unknown character sets are read as Latin-1.
const CONVERT: &str = r#"python3 -c 'import codecs, email.policy, json, mailbox, sys; codecs.register(lambda name: codecs.lookup("latin-1")); read = lambda file: email.message_from_binary_file(file, policy=email.policy.default); [print(json.dumps({"id": number, "text": body.get_content()})) for number, mail in enumerate(mailbox.mbox(sys.argv[1], read)) for body in [mail.get_body(("plain", "html"))] if body]' FILE > FILE.jsonl"#;

/// Whether a file that begins with `prefix` is a mailbox: it has two mails, or one that is longer than
/// `prefix`. A file with a single mail is one document, and so is a patch.
pub(super) fn is_mailbox(prefix: &[u8]) -> bool {
    if !begins_mail(prefix) {
        return false;
    }
    let is_next = |at: usize| begins_mail(&prefix[at + 1..]);
    let mut next = memmem::find_iter(prefix, b"\nFrom ");
    next.any(is_next) || prefix.len() >= CUT_OFF_BYTES && !is_patch(prefix)
}

/// A description of a mailbox, and how to convert it.
pub(super) fn description() -> String {
    format!("a mailbox of several mails (convert it with {CONVERT})")
}

/// Whether `bytes` begin with a line `From ADDRESS DATE`, the date with a time of day, and then a line
/// with a header.
fn begins_mail(bytes: &[u8]) -> bool {
    let Some(rest) = bytes.strip_prefix(FROM) else {
        return false;
    };
    let mut lines = rest.split(|&byte| byte == b'\n');
    let (Some(from), Some(header)) = (lines.next(), lines.next()) else {
        return false;
    };
    let mut words = from.split(|byte| byte.is_ascii_whitespace());
    words.next();
    words.any(is_time) && is_header(header.strip_prefix(b">").unwrap_or(header))
}

/// Whether a word is a time of day, such as `12:00` or `12:00:00`.
fn is_time(word: &[u8]) -> bool {
    let mut parts = word.split(|&byte| byte == b':');
    let is_number = |part: &[u8]| part.len() == 2 && part.iter().all(u8::is_ascii_digit);
    (2..=3).contains(&parts.clone().count()) && parts.all(is_number)
}

/// Whether a line is `NAME: VALUE`.
fn is_header(line: &[u8]) -> bool {
    let end = line.iter().position(|&byte| byte == b':').unwrap_or(0);
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-';
    end > 0 && line[..end].iter().all(is_part)
}

fn is_patch(prefix: &[u8]) -> bool {
    let first = prefix.split(|&byte| byte == b'\n').next();
    first.is_some_and(|line| memmem::find(line, DATE_OF_PATCHES).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAIL: &str = "From a@b.example Thu Nov 26 13:43:11 2026\nSubject: x\n\nSome text.\n\n";

    #[test]
    fn mailboxes_have_several_mails() {
        let long = format!("{MAIL}{}", "text\n".repeat(CUT_OFF_BYTES));
        let patch = MAIL.replace("Thu Nov 26 13:43:11 2026", "Mon Sep 17 00:00:00 2001");
        let long_patch = format!("{patch}{}", "text\n".repeat(CUT_OFF_BYTES));
        for (text, expected) in [
            (MAIL.repeat(2), true),
            (MAIL.repeat(2).replace('\n', "\r\n"), true),
            (MAIL.to_owned(), false),
            (long, true),
            (patch.clone(), false),
            (patch.repeat(2), true),
            (long_patch, false),
            (format!("{MAIL}From here on\nNote: a text\n"), false),
            (format!("{MAIL}From 12:00 to 13:00\nwe sleep\n"), false),
            ("From a to b at 12:00\nand so on\n".repeat(3), false),
            (format!("text\n{MAIL}{MAIL}"), false),
            (String::new(), false),
        ] {
            assert_eq!(is_mailbox(text.as_bytes()), expected, "{text:.80}");
        }
    }
}
