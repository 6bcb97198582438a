//! Checks of pages, for their tests.

use super::document::Assets;

/// Checks that the policy of a page allows its style and its script.
pub(crate) fn check_hashes(assets: Assets) {
    use base64::Engine;
    let base64 =
        |text: &str| base64::engine::general_purpose::STANDARD.encode(sha256(text.as_bytes()));
    // The published digest of "abc".
    assert_eq!(
        base64("abc"),
        "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0="
    );
    assert_eq!(assets.style_hash, base64(assets.style));
    if let Some((script, hash)) = assets.script {
        assert_eq!(hash, base64(script));
    }
}

/// Markup and characters that must have no effect.
pub(crate) const HOSTILE: &str =
    "</title><script>alert(1)</script><img src=x onerror=alert(2)>\"'&\u{202e}\u{0}";

/// Checks that nothing of [`HOSTILE`] acts in a page with `scripts` scripts, which contains it.
pub(crate) fn check_hostile(html: &str, scripts: usize) {
    assert!(!html.contains("<img") && !html.contains("<script>alert"));
    assert!(!html.contains(['\u{202e}', '\u{0}']));
    assert_eq!(html.matches("<script").count(), scripts);
    assert_eq!(html.matches("<style").count(), 1);
    assert!(html.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
    assert!(html.contains("default-src 'none'"));
}

/// Checks that drawings have a text or are hidden, tables have names, and ids do not repeat.
pub(crate) fn check_accessible(html: &str) {
    let drawings = html.matches("<svg").count();
    let (told, silent) = (
        html.matches("role=\"img\"").count(),
        html.matches("aria-hidden").count(),
    );
    assert_eq!(drawings, told + silent);
    assert_eq!(told, html.matches("<desc").count());
    assert_eq!(
        html.matches("<table").count(),
        html.matches("<caption").count()
    );
    let mut ids: Vec<&str> = html
        .split(" id=\"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .collect();
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all, "ids repeat");
}

/// SHA-256 by its definition, FIPS 180-4; its constants are computed from roots of primes.
fn sha256(message: &[u8]) -> [u8; 32] {
    let primes: Vec<u64> = (2..312).filter(|n| (2..*n).all(|d| n % d != 0)).collect();
    // The first 32 fractional bits of a root, from the integer root of prime * 2^(32 * power).
    let root = |prime: u64, power: u32| -> u32 {
        let target = u128::from(prime) << (32 * power);
        let (mut low, mut high) = (0_u128, 1_u128 << 36);
        while high - low > 1 {
            let middle = (low + high) / 2;
            if middle.pow(power) <= target {
                low = middle
            } else {
                high = middle
            }
        }
        low as u32
    };
    let mut state: Vec<u32> = primes.iter().take(8).map(|&prime| root(prime, 2)).collect();
    let constants: Vec<u32> = primes
        .iter()
        .take(64)
        .map(|&prime| root(prime, 3))
        .collect();
    let mut padded = message.to_vec();
    padded.push(0x80);
    while padded.len() % 64 != 56 {
        padded.push(0);
    }
    padded.extend_from_slice(&(8 * message.len() as u64).to_be_bytes());
    for block in padded.chunks(64) {
        let words = block
            .chunks(4)
            .map(|word| u32::from_be_bytes(word.try_into().unwrap()));
        let mut w: Vec<u32> = words.collect();
        for t in 16..64 {
            let (a, b) = (w[t - 15], w[t - 2]);
            let a = a.rotate_right(7) ^ a.rotate_right(18) ^ a >> 3;
            let b = b.rotate_right(17) ^ b.rotate_right(19) ^ b >> 10;
            w.push(
                w[t - 16]
                    .wrapping_add(a)
                    .wrapping_add(w[t - 7])
                    .wrapping_add(b),
            );
        }
        let mut v = state.clone();
        for t in 0..64 {
            let s1 = v[4].rotate_right(6) ^ v[4].rotate_right(11) ^ v[4].rotate_right(25);
            let choice = v[4] & v[5] ^ !v[4] & v[6];
            let t1 = [s1, choice, constants[t], w[t]]
                .iter()
                .fold(v[7], |sum, x| sum.wrapping_add(*x));
            let s0 = v[0].rotate_right(2) ^ v[0].rotate_right(13) ^ v[0].rotate_right(22);
            let majority = v[0] & v[1] ^ v[0] & v[2] ^ v[1] & v[2];
            v.rotate_right(1);
            v[4] = v[4].wrapping_add(t1);
            v[0] = t1.wrapping_add(s0).wrapping_add(majority);
        }
        for (sum, word) in state.iter_mut().zip(v) {
            *sum = sum.wrapping_add(word);
        }
    }
    let bytes: Vec<u8> = state.iter().flat_map(|word| word.to_be_bytes()).collect();
    bytes.try_into().unwrap()
}
