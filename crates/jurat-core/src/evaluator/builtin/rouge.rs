//! `rouge`: how much of a reference the output has, from 0 to 1: shared words, shared pairs of words, or the longest common subsequence.
//!
//! The same score as rouge-score without a stemmer. Tokens are runs of `a` to `z` and digits in lower case, so texts in other scripts have none and
//! score 0; `token_f1` or `chrf` serve those. Of several references the one with the best F-measure counts.

use std::collections::HashMap;

use super::{extent, ngram};

/// Which ROUGE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Variant {
    /// Runs of this number of words.
    N(usize),
    /// The longest common subsequence.
    L,
    /// The longest common subsequences of lines, taken together.
    Lsum,
}

/// Precision, recall and their F-measure.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Rouge {
    /// The share of the output that the reference has.
    pub precision: f64,
    /// The share of the reference that the output has.
    pub recall: f64,
    pub f_measure: f64,
}

impl Rouge {
    /// The score of an output.
    pub fn score(variant: Variant, output: &str, references: &[&str]) -> Rouge {
        let scores = references.iter().map(|it| against(variant, output, it));
        // The first of equals counts.
        scores.reduce(|best, it| if it.f_measure > best.f_measure { it } else { best }).unwrap_or_default()
    }

    fn of(shared: usize, n_output: usize, n_reference: usize) -> Rouge {
        let (precision, recall) = (ngram::share(shared, n_output), ngram::share(shared, n_reference));
        Rouge { precision, recall, f_measure: ngram::f_measure(precision, recall) }
    }
}

/// Refuses texts with too many words to look for their longest common subsequence.
pub(super) fn check(variant: Variant, output: &str, references: &[&str]) -> Result<(), String> {
    let n_words = |text: &str| tokens(text).len();
    match variant {
        Variant::N(_) => Ok(()),
        Variant::L | Variant::Lsum => {
            let n_output = n_words(output);
            references.iter().try_for_each(|it| extent::check("words", n_output, n_words(it)))
        }
    }
}

fn against(variant: Variant, output: &str, reference: &str) -> Rouge {
    match variant {
        Variant::N(n) => {
            let (output, reference) = (tokens(output), tokens(reference));
            let (output, reference) = (ngram::counts(&output, n), ngram::counts(&reference, n));
            Rouge::of(ngram::shared(&output, &reference), output.values().sum(), reference.values().sum())
        }
        Variant::L => {
            let (output, reference) = (tokens(output), tokens(reference));
            Rouge::of(length(&reference, &output), output.len(), reference.len())
        }
        Variant::Lsum => {
            let lines = |text: &str| text.split('\n').filter(|it| !it.is_empty()).map(tokens).collect::<Vec<_>>();
            summary(&lines(output), &lines(reference))
        }
    }
}

/// Each line of the reference against all lines of the output. No word counts more often than it comes in either.
fn summary(output: &[Vec<String>], reference: &[Vec<String>]) -> Rouge {
    let counted = |lines: &'_ [Vec<String>]| {
        let mut counts: HashMap<String, usize> = HashMap::new();
        lines.iter().flatten().for_each(|it| *counts.entry(it.clone()).or_insert(0) += 1);
        counts
    };
    let (mut in_output, mut in_reference) = (counted(output), counted(reference));
    let mut hits = 0;
    for line in reference {
        let mut union = vec![false; line.len()];
        for other in output {
            common(line, other).into_iter().for_each(|ix| union[ix] = true);
        }
        for word in line.iter().zip(union).filter(|(_, is_common)| *is_common).map(|(word, _)| word) {
            if let (Some(left), Some(right)) = (in_output.get_mut(word), in_reference.get_mut(word))
                && *left > 0
                && *right > 0
            {
                hits += 1;
                *left -= 1;
                *right -= 1;
            }
        }
    }
    Rouge::of(hits, output.iter().map(Vec::len).sum(), reference.iter().map(Vec::len).sum())
}

/// The length of the longest common subsequence. Of the lengths for all beginnings one line is needed at a time.
fn length(left: &[String], right: &[String]) -> usize {
    let mut line = vec![0; right.len() + 1];
    for a in left {
        let mut before = 0;
        for (j, b) in right.iter().enumerate() {
            let above = line[j + 1];
            line[j + 1] = if a == b { before + 1 } else { above.max(line[j]) };
            before = above;
        }
    }
    line.last().copied().unwrap_or(0)
}

/// The lengths of the longest common subsequences of all beginnings.
fn lengths(left: &[String], right: &[String]) -> Vec<Vec<u16>> {
    let mut table = vec![vec![0; right.len() + 1]; left.len() + 1];
    for (i, a) in left.iter().enumerate() {
        for (j, b) in right.iter().enumerate() {
            table[i + 1][j + 1] = if a == b { table[i][j] + 1 } else { table[i][j + 1].max(table[i + 1][j]) };
        }
    }
    table
}

/// The places in `left` of one longest common subsequence. Which one it is, decides the result of several lines together.
fn common(left: &[String], right: &[String]) -> Vec<usize> {
    let table = lengths(left, right);
    let (mut i, mut j) = (left.len(), right.len());
    let mut places = Vec::new();
    while i > 0 && j > 0 {
        if left[i - 1] == right[j - 1] {
            places.push(i - 1);
            (i, j) = (i - 1, j - 1);
        } else if table[i][j - 1] > table[i - 1][j] {
            j -= 1;
        } else {
            i -= 1;
        }
    }
    places
}

fn tokens(text: &str) -> Vec<String> {
    let text = text.to_lowercase();
    let is_part = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit();
    text.split(|it| !is_part(it)).filter(|it| !it.is_empty()).map(str::to_owned).collect()
}
