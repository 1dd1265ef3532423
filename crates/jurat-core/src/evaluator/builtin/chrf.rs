//! `chrf`: how many runs of characters the output shares with its reference, from 0 to 100; with `word_order: 2` it is chrF++.
//!
//! The same score as sacrebleu's `sentence_chrf`. Of several references the one that gives the best score counts.

use jurat_format::value::python;

use super::ngram;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Chrf {
    /// The longest run of characters.
    pub char_order: usize,
    /// The longest run of words; 0 for chrF, 2 for chrF++.
    pub word_order: usize,
    /// How many times more recall counts than precision.
    pub beta: f64,
    pub lowercase: bool,
    /// Whether spaces are characters too.
    pub whitespace: bool,
    /// Whether orders without runs count as next to nothing, rather than not at all.
    pub eps_smoothing: bool,
}

impl Default for Chrf {
    fn default() -> Chrf {
        Chrf { char_order: 6, word_order: 0, beta: 2.0, lowercase: false, whitespace: false, eps_smoothing: false }
    }
}

/// The runs of one order: in the output, in the reference, in both.
struct Matches {
    output: usize,
    reference: usize,
    shared: usize,
}

impl Chrf {
    /// The score of an output, from 0 to 100.
    pub fn score(&self, output: &str, references: &[&str]) -> f64 {
        let output = Prepared::new(self, output);
        let scores = references.iter().map(|it| self.combined(&self.matches(&output, &Prepared::new(self, it))));
        // Rounding may leave a little more than everything.
        scores.fold(0.0, f64::max).min(100.0)
    }

    fn matches(&self, output: &Prepared, reference: &Prepared) -> Vec<Matches> {
        let characters = (1..=self.char_order).map(|n| matches(&output.characters, &reference.characters, n));
        let words = (1..=self.word_order).map(|n| matches(&output.words, &reference.words, n));
        characters.chain(words).collect()
    }

    fn combined(&self, orders: &[Matches]) -> f64 {
        const EPSILON: f64 = 1e-16;
        let factor = self.beta * self.beta;
        let (mut smoothed, mut precisions, mut recalls, mut n_orders) = (0.0, 0.0, 0.0, 0.0);
        for Matches { output, reference, shared } in orders {
            let share = |whole: usize| if whole > 0 { *shared as f64 / whole as f64 } else { EPSILON };
            let (precision, recall) = (share(*output), share(*reference));
            let denominator = factor * precision + recall;
            smoothed += if denominator > 0.0 { (1.0 + factor) * precision * recall / denominator } else { EPSILON };
            if *output > 0 && *reference > 0 {
                precisions += precision;
                recalls += recall;
                n_orders += 1.0;
            }
        }
        if self.eps_smoothing {
            return 100.0 * smoothed / orders.len().max(1) as f64;
        }
        if precisions + recalls == 0.0 {
            return 0.0;
        }
        let (precision, recall) = (precisions / n_orders, recalls / n_orders);
        100.0 * (1.0 + factor) * precision * recall / (factor * precision + recall)
    }
}

struct Prepared {
    characters: Vec<char>,
    words: Vec<String>,
}

impl Prepared {
    fn new(chrf: &Chrf, text: &str) -> Prepared {
        let lowered;
        let text = if chrf.lowercase {
            lowered = text.to_lowercase();
            &lowered
        } else {
            text
        };
        let characters = text.chars().filter(|it| chrf.whitespace || !python::is_space(*it)).collect();
        let words = if chrf.word_order > 0 { words(text) } else { Vec::new() };
        Prepared { characters, words }
    }
}

/// Words with one mark of punctuation taken off: the last one, else the first.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for word in python::words(text) {
        let (first, last) = (word.chars().next(), word.chars().next_back());
        match (first, last) {
            _ if word.chars().nth(1).is_none() => words.push(word.to_owned()),
            (_, Some(last)) if last.is_ascii_punctuation() => {
                words.extend([word[..word.len() - 1].to_owned(), last.to_string()]);
            }
            (Some(first), _) if first.is_ascii_punctuation() => words.extend([first.to_string(), word[1..].to_owned()]),
            _ => words.push(word.to_owned()),
        }
    }
    words
}

fn matches<T: Eq + std::hash::Hash>(output: &[T], reference: &[T], n: usize) -> Matches {
    let (of_output, of_reference) = (ngram::counts(output, n), ngram::counts(reference, n));
    Matches {
        // Runs that no reference is long enough for are not counted against the text.
        output: if of_reference.is_empty() { 0 } else { of_output.values().sum() },
        reference: of_reference.values().sum(),
        shared: ngram::shared(&of_output, &of_reference),
    }
}
