//! `bleu`: how many runs of words the output shares with its references, from 0 to 100.
//!
//! The same score as sacrebleu's `sentence_bleu`: tokens of `13a`, runs of one to four words, exponential smoothing, and only the orders that the
//! output is long enough for. With `effective_order: false` it is what `corpus_bleu` says of a corpus of one pair.

use std::collections::HashMap;
use std::sync::LazyLock;

use jurat_format::value::python;
use regex::Regex;

use super::ngram;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bleu {
    pub tokenize: Tokenize,
    /// What becomes of orders without a match.
    pub smooth: Smooth,
    /// The longest run that is counted.
    pub max_order: usize,
    /// Whether orders that the output is too short for are left out.
    pub effective_order: bool,
    pub lowercase: bool,
}

/// How texts become words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tokenize {
    /// As mteval-v13a does: punctuation stands alone, except inside of numbers.
    Thirteen,
    /// Each character.
    Char,
    /// What stands between spaces.
    None,
}

/// What becomes of orders without a match.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Smooth {
    /// Half of what the last such order got.
    Exp,
    /// This many matches.
    Floor(f64),
    /// This many more of everything, from two words on.
    AddK(f64),
    /// Nothing: the score is practically zero.
    None,
}

impl Default for Bleu {
    fn default() -> Bleu {
        Bleu {
            tokenize: Tokenize::Thirteen,
            smooth: Smooth::Exp,
            max_order: 4,
            effective_order: true,
            lowercase: false,
        }
    }
}

impl Bleu {
    /// The score of an output, from 0 to 100.
    pub fn score(&self, output: &str, references: &[&str]) -> f64 {
        let output = self.words(output);
        let references: Vec<Vec<String>> = references.iter().map(|it| self.words(it)).collect();
        let (mut correct, mut total) = (vec![0.0; self.max_order], vec![0.0; self.max_order]);
        for n in 1..=self.max_order {
            let mut most: HashMap<&[String], usize> = HashMap::new();
            for (run, count) in references.iter().flat_map(|it| ngram::counts(it, n)) {
                let known = most.entry(run).or_insert(0);
                *known = count.max(*known);
            }
            correct[n - 1] = ngram::shared(&ngram::counts(&output, n), &most) as f64;
            total[n - 1] = (output.len() + 1).saturating_sub(n) as f64;
        }
        let length = closest(output.len(), references.iter().map(Vec::len));
        self.combined(&mut correct, &mut total, output.len(), length)
    }

    fn combined(&self, correct: &mut [f64], total: &mut [f64], n_words: usize, n_reference: usize) -> f64 {
        if correct.iter().all(|it| *it == 0.0) {
            return 0.0;
        }
        let brevity = if n_words < n_reference { (1.0 - n_reference as f64 / n_words as f64).exp() } else { 1.0 };
        let mut precisions = vec![0.0; self.max_order];
        let (mut order, mut halving) = (self.max_order, 1.0);
        for n in 0..self.max_order {
            if let Smooth::AddK(k) = self.smooth
                && n > 0
            {
                correct[n] += k;
                total[n] += k;
            }
            if total[n] == 0.0 {
                break;
            }
            if self.effective_order {
                order = n + 1;
            }
            precisions[n] = match self.smooth {
                _ if correct[n] > 0.0 => 100.0 * correct[n] / total[n],
                Smooth::Exp => {
                    halving *= 2.0;
                    100.0 / (halving * total[n])
                }
                Smooth::Floor(floor) => 100.0 * floor / total[n],
                Smooth::AddK(_) | Smooth::None => 0.0,
            };
        }
        let logarithms: f64 = precisions[..order].iter().map(|it| logarithm(*it)).sum();
        // Rounding may leave a little more than everything.
        (brevity * (logarithms / order as f64).exp()).min(100.0)
    }

    fn words(&self, text: &str) -> Vec<String> {
        let lowered;
        let text = if self.lowercase {
            lowered = text.to_lowercase();
            &lowered
        } else {
            text
        };
        let text = text.trim_end_matches(python::is_space);
        match self.tokenize {
            Tokenize::Thirteen => python::words(&thirteen(text)).map(str::to_owned).collect(),
            Tokenize::Char => text.chars().filter(|it| !python::is_space(*it)).map(String::from).collect(),
            Tokenize::None => python::words(text).map(str::to_owned).collect(),
        }
    }
}

/// What stands for the logarithm of zero.
fn logarithm(number: f64) -> f64 {
    if number == 0.0 { -9_999_999_999.0 } else { number.ln() }
}

/// The length nearest to `length`, the shorter one of two.
fn closest(length: usize, lengths: impl Iterator<Item = usize>) -> usize {
    lengths.min_by_key(|it| (it.abs_diff(length), *it)).unwrap_or(0)
}

/// A text with spaces around everything that is a token, by the rules of mteval-v13a.
fn thirteen(text: &str) -> String {
    static RULES: LazyLock<[(Regex, &str); 4]> = LazyLock::new(|| {
        let rule = |pattern: &str| Regex::new(pattern).expect("the rule is well formed");
        [
            // Symbols stand alone; apostrophe, comma, hyphen and point have rules of their own.
            (rule(r"[{-~\[-` -&(-+:-@/]"), " $0 "),
            // A point or comma stands alone unless there is a digit on both sides.
            (rule(r"([^0-9])([.,])"), "$1 $2 "),
            (rule(r"([.,])([^0-9])"), " $1 $2"),
            // A hyphen stands alone behind a digit.
            (rule(r"([0-9])(-)"), "$1 $2 "),
        ]
    });
    let mut text = text.replace("<skipped>", "").replace("-\n", "").replace('\n', " ");
    if text.contains('&') {
        text = text.replace("&quot;", "\"").replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">");
    }
    let text = format!(" {text} ");
    RULES.iter().fold(text, |text, (rule, with)| rule.replace_all(&text, *with).into_owned())
}
