//! How long texts may be that are compared part by part.
//!
//! An edit distance and a longest common subsequence look at every pair of parts, one of each text. A subject can answer with megabytes, and the pairs would
//! take hours and more memory than there is.

/// The most pairs of parts that one evaluation looks at: two texts of some 14,000 parts each.
const MAX_PAIRS: usize = 200_000_000;

/// Refuses two texts with too many parts.
pub(super) fn check(parts: &str, n_output: usize, n_reference: usize) -> Result<(), String> {
    if n_output.saturating_mul(n_reference) <= MAX_PAIRS {
        return Ok(());
    }
    Err(format!(
        "the output has {n_output} {parts} and the reference {n_reference}, and at most {MAX_PAIRS} pairs of them are compared; \
         cut the texts, or use `token_f1` or `chrf`"
    ))
}
