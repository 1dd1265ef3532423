//! `token_f1`: how many words the output shares with its reference, from 0 to 1, as answers to questions are scored.
//!
//! Words are compared without case, punctuation and the articles `a`, `an` and `the`. Of several references the best counts.

use jurat_format::value::python;

use super::ngram;

/// The score of an output.
pub fn token_f1(output: &str, references: &[&str]) -> f64 {
    let output = words(output);
    let scores = references.iter().map(|it| against(&output, &words(it)));
    scores.fold(0.0, f64::max)
}

fn against(output: &[String], reference: &[String]) -> f64 {
    // Saying nothing is right when there is nothing to say.
    if output.is_empty() || reference.is_empty() {
        return if output.len() == reference.len() { 1.0 } else { 0.0 };
    }
    let shared = ngram::shared(&ngram::counts(output, 1), &ngram::counts(reference, 1));
    ngram::f_measure(ngram::share(shared, output.len()), ngram::share(shared, reference.len()))
}

fn words(text: &str) -> Vec<String> {
    let text: String = text.to_lowercase().chars().filter(|it| !it.is_ascii_punctuation()).collect();
    python::words(&text).filter(|it| !matches!(*it, "a" | "an" | "the")).map(str::to_owned).collect()
}
