//! A score from the probabilities of labels: not the grade that a judge happened to write, but what it would write on average.
//!
//! A judge that gives a 4 with 60 % and a 3 with 40 % has a soft score of 3.6. The labels are looked for where the reply has its own, token by
//! token: at the first token of the label all labels compete that differ there; where the token that was written leaves several open (`1` of `1`
//! and `10`), the next one decides between those. Probabilities are those among labels: some servers give them as they are before a schema rules other
//! tokens out. A label that is not listed is less likely than all that are; where that could be too much, there is no score.

use jurat_format::value::{Map, Span, Val, Value, json_node};

use super::ReplyForm;
use crate::effect::{Answer, Candidate, Logprobs, NO_LOGPROBS, TokenLogprob};

/// The member of a reply that a soft score is added as.
pub const SOFT_SCORE: &str = "soft_score";

/// The member of a reply that has the probability of each label.
pub const PROBABILITIES: &str = "probabilities";

/// How much of the probability of all labels may be of unknown ones.
const MOST_UNKNOWN: f64 = 0.2;

/// A field of a reply whose labels have values.
#[derive(Debug, Clone, PartialEq)]
pub struct SoftScore {
    field: String,
    labels: Vec<Label>,
}

/// Something that the field may be.
#[derive(Debug, Clone, PartialEq)]
pub struct Label {
    /// Its name in `probabilities`.
    pub name: String,
    /// What it counts.
    pub value: f64,
    /// How it is written from the place at which it begins: a text from behind its first quote to its last.
    written: String,
}

impl Label {
    /// A label as the reply has it, and what it counts.
    pub fn new(label: &Val<'_>, value: f64) -> Label {
        let json = label.to_json();
        let written = json.strip_prefix('"').unwrap_or(&json).to_owned();
        Label { name: label.as_str().map_or_else(|| json.clone(), str::to_owned), value, written }
    }

    /// Whether it may be what begins with these bytes, or is followed by something else in them.
    fn may_be(&self, bytes: &[u8]) -> bool {
        let written = self.written.as_bytes();
        let follows = |next: &u8| written.ends_with(b"\"") || !matches!(next, b'0'..=b'9' | b'.' | b'e' | b'E');
        written.starts_with(bytes) || bytes.strip_prefix(written).is_some_and(|rest| rest.first().is_none_or(follows))
    }
}

impl SoftScore {
    pub fn new(field: impl Into<String>, labels: Vec<Label>) -> SoftScore {
        SoftScore { field: field.into(), labels }
    }

    /// The field whose labels count.
    pub fn field(&self) -> &str {
        &self.field
    }

    pub fn labels(&self) -> &[Label] {
        &self.labels
    }

    /// The least and the most that it can be.
    pub fn range(&self) -> (f64, f64) {
        let values = self.labels.iter().map(|it| it.value);
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), it| (low.min(it), high.max(it)))
    }

    /// The reply with `soft_score` and `probabilities` added, or why there is no score.
    pub fn scored(&self, answer: &Answer, form: &ReplyForm, reply: Value) -> Result<Value, String> {
        let (weights, unknown) = self.weights(answer, form)?;
        let covered: f64 = weights.iter().sum();
        if covered <= 0.0 || unknown > MOST_UNKNOWN * (covered + unknown) {
            let share = 100.0 * unknown / (covered + unknown).max(f64::MIN_POSITIVE);
            return Err(format!(
                "the labels of `{}` are not all among the likely tokens of the reply, and those that are not may have {share:.0} % of the \
                 probability; ask the model with more `logprobs`, or take fewer labels that begin differently",
                self.field
            ));
        }
        let score: f64 = weights.iter().zip(&self.labels).map(|(weight, it)| weight * it.value).sum();
        let probabilities = self.labels.iter().zip(&weights).map(|(it, weight)| (it.name.clone(), Val::F(*weight)));
        let mut members = if let Val::Map(members) = reply { members } else { Map::default() };
        members.insert(SOFT_SCORE.into(), Val::F(score / covered));
        members.insert(PROBABILITIES.into(), Val::Map(probabilities.collect::<Map<'static>>()));
        Ok(Val::Map(members))
    }

    /// The probability of each label, and the most that those may have that are not listed.
    fn weights(&self, answer: &Answer, form: &ReplyForm) -> Result<(Vec<f64>, f64), String> {
        let Some(Logprobs(tokens)) = answer.logprobs.as_deref() else { return Err(NO_LOGPROBS.to_owned()) };
        let place = self.place(&answer.text, form)?;
        let spelled: Vec<u8> = tokens.iter().flat_map(|it| &it.token.bytes).copied().collect();
        // What the model thought may come before it.
        let begin = last_of(&spelled, answer.text.as_bytes())
            .ok_or("the logprobs of the reply are of other tokens than its text has")?;
        let weights = vec![0.0; self.labels.len()];
        let mut walk = Walk { labels: &self.labels, weights, said: Vec::new(), mass: 1.0, unknown: 0.0 };
        let mut at = 0;
        for token in tokens {
            let end = at + token.token.bytes.len();
            if end > begin + place {
                let lead = (begin + place).saturating_sub(at);
                if walk.take(token, lead.min(token.token.bytes.len())) {
                    break;
                }
            }
            at = end;
        }
        Ok((walk.weights, walk.unknown))
    }

    /// Where in the text of a reply the label begins.
    fn place(&self, text: &str, form: &ReplyForm) -> Result<usize, String> {
        let none = || format!("the reply has no `{}`", self.field);
        let json = form.json_in(text)?;
        let (node, _) = json_node(json, Span::default().source).map_err(|_| none())?;
        let begin = node.get(&self.field).ok_or_else(none)?.span.start as usize;
        let offset = json.as_ptr() as usize - text.as_ptr() as usize;
        let quote = usize::from(json.as_bytes().get(begin) == Some(&b'"'));
        Ok(offset + begin + quote)
    }
}

/// Labels that are distinguished token by token.
struct Walk<'l> {
    labels: &'l [Label],
    weights: Vec<f64>,
    /// What was written of the label so far.
    said: Vec<u8>,
    /// How likely that was.
    mass: f64,
    /// The most that labels may have that are not listed.
    unknown: f64,
}

impl Walk<'_> {
    /// Counts the candidates of a token, of which the first `lead` bytes stand before the label; whether it is decided which one was written.
    fn take(&mut self, token: &TokenLogprob, lead: usize) -> bool {
        let written = &token.token;
        let others = token.top.iter().filter(|it| it.bytes != written.bytes);
        let candidates: Vec<&Candidate> = others.chain([written]).collect();
        let words: Vec<Vec<u8>> = candidates.iter().map(|it| self.with(it, &written.bytes[..lead])).collect();
        self.unknown += self.mass * self.unlisted(&words, &candidates, token.top.is_empty());
        for (candidate, word) in candidates.iter().zip(&words) {
            let weight = self.mass * candidate.probability();
            match self.only(word) {
                Some(ix) => self.weights[ix] += weight,
                // Which of several labels would have followed is not known of a way that was not taken.
                None if candidate.bytes != written.bytes && self.n_labels(word) > 1 => self.unknown += weight,
                None => {}
            }
        }
        let said = words.into_iter().next_back().unwrap_or_default();
        let is_open = self.n_labels(&said) > 1;
        if is_open {
            self.said = said;
            self.mass *= written.probability();
        }
        !is_open
    }

    /// The most that labels may have here that no candidate leads to: none is more likely than the least likely candidate, and all share what is left.
    fn unlisted(&self, words: &[Vec<u8>], candidates: &[&Candidate], is_alone: bool) -> f64 {
        let is_possible = |it: &&Label| self.said.is_empty() || it.may_be(&self.said);
        let is_listed = |it: &Label| words.iter().any(|word| !word.is_empty() && it.may_be(word));
        let n_unlisted = self.labels.iter().filter(is_possible).filter(|it| !is_listed(it)).count();
        let probabilities = || candidates.iter().map(|it| it.probability());
        let least = if is_alone { 1.0 } else { probabilities().fold(1.0, f64::min) };
        let left = 1.0 - probabilities().sum::<f64>();
        (n_unlisted as f64 * least).min(left.max(0.0))
    }

    fn n_labels(&self, word: &[u8]) -> usize {
        self.labels.iter().filter(|it| !word.is_empty() && it.may_be(word)).count()
    }

    /// What would be written of the label with a candidate. Whether there is a space before it decides nothing.
    fn with(&self, candidate: &Candidate, lead: &[u8]) -> Vec<u8> {
        let is_lead = |it: &&u8| it.is_ascii_whitespace() || **it == b'"';
        let bytes = candidate.bytes.as_slice();
        let rest = match bytes.strip_prefix(lead) {
            Some(rest) => rest,
            None if lead.iter().all(|it| is_lead(&it)) => &bytes[bytes.iter().take_while(is_lead).count()..],
            // Another text than the one before the label.
            None => return vec![0],
        };
        let n_spaces =
            if self.said.is_empty() { rest.iter().take_while(|it| it.is_ascii_whitespace()).count() } else { 0 };
        [self.said.as_slice(), &rest[n_spaces..]].concat()
    }

    /// The one label that begins with this; nothing while there are several.
    fn only(&self, said: &[u8]) -> Option<usize> {
        let mut may_be = self.labels.iter().enumerate().filter(|(_, it)| !said.is_empty() && it.may_be(said));
        match (may_be.next(), may_be.next()) {
            (Some((ix, _)), None) => Some(ix),
            _ => None,
        }
    }
}

/// Where the last occurrence of some bytes begins.
fn last_of(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len().max(1)).rposition(|it| it == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::CompiledSchema;
    use jurat_format::value::parse_json;

    /// What could have stood in the place of a token, with how likely it was.
    type Chances = [(&'static str, f64)];

    fn form() -> ReplyForm {
        let schema = parse_json(r#"{"type": "object"}"#).unwrap().value;
        ReplyForm::Schema(Box::new(CompiledSchema::compile(&schema).unwrap()))
    }

    /// Tokens, each with others in its place, by their probabilities.
    fn answer(tokens: &[(&str, &Chances)]) -> Answer {
        let token = |(text, top): &(&str, &Chances)| {
            let candidate = |(text, share): &(&str, f64)| Candidate::new(text, share.ln());
            let own = top.iter().find(|(it, _)| it == text).map_or(0.0, |(_, share)| share.ln());
            TokenLogprob { token: Candidate::new(text, own), top: top.iter().map(candidate).collect() }
        };
        let text: String = tokens.iter().map(|(text, _)| *text).collect();
        let logprobs = Some(Box::new(Logprobs(tokens.iter().map(token).collect())));
        Answer { logprobs, ..Answer::new(text) }
    }

    fn numbers(labels: impl IntoIterator<Item = i64>) -> SoftScore {
        SoftScore::new("score", labels.into_iter().map(|it| Label::new(&Val::I(it), it as f64)).collect())
    }

    fn texts(labels: &[(&'static str, f64)]) -> SoftScore {
        SoftScore::new("score", labels.iter().map(|(it, value)| Label::new(&Val::from(*it), *value)).collect())
    }

    #[track_caller]
    fn scored(soft: &SoftScore, answer: &Answer, expected: Result<f64, &str>) {
        let reply = form().read(&answer.text).expect("it is a reply");
        match (soft.scored(answer, &form(), reply), expected) {
            (Ok(reply), Ok(expected)) => {
                let score = reply.get(SOFT_SCORE).and_then(Val::as_f64).expect("it has a score");
                assert!((score - expected).abs() < 1e-9, "{reply}");
            }
            (Err(problem), Err(expected)) => assert!(problem.contains(expected), "{problem}"),
            (result, _) => panic!("{result:?}"),
        }
    }

    #[test]
    fn the_score_is_the_mean_of_the_labels_by_their_probabilities() {
        let grade: &Chances = &[("4", 0.6), ("3", 0.3), ("x", 0.1)];
        let four = answer(&[("{\"", &[]), ("score", &[]), ("\":", &[]), ("4", grade), ("}", &[])]);
        scored(&numbers(1..=5), &four, Ok((4.0 * 0.6 + 3.0 * 0.3) / 0.9));
        // A space before a number, in the same token or not, decides nothing.
        let spaced: &Chances = &[(" 4", 0.6), ("5", 0.2), (" 5", 0.2)];
        let four = answer(&[("{\"score\":", &[]), (" 4", spaced), ("}", &[])]);
        scored(&numbers(1..=5), &four, Ok(4.0 * 0.6 + 5.0 * 0.4));
        let one: &Chances = &[("true", 0.75), ("false", 0.25)];
        let labels = vec![Label::new(&Val::Bool(true), 1.0), Label::new(&Val::Bool(false), 0.0)];
        let yes = answer(&[("{\"score\": ", &[]), ("true", one), ("}", &[])]);
        scored(&SoftScore::new("score", labels), &yes, Ok(0.75));
    }

    #[test]
    fn labels_of_several_tokens_are_distinguished_where_they_differ() {
        let (first, next): (&Chances, &Chances) = (&[("1", 0.8), ("9", 0.2)], &[("0", 0.5), ("}", 0.5)]);
        let ten = answer(&[("{\"score\":", &[]), ("1", first), ("0", next), ("}", &[])]);
        scored(&numbers(1..=10), &ten, Ok(0.4 * 10.0 + 0.4 * 1.0 + 0.2 * 9.0));
        let (word, rest): (&Chances, &Chances) = (&[("very", 0.9), ("bad", 0.1)], &[(" good", 0.5), (" poor", 0.5)]);
        let very = answer(&[("{\"score\":", &[]), (" \"", &[]), ("very", word), (" good", rest), ("\"}", &[])]);
        let labels = texts(&[("very good", 1.0), ("very poor", 0.0), ("bad", 0.5)]);
        scored(&labels, &very, Ok(0.45 + 0.05));
        let quoted: &Chances = &[(" \"good", 0.7), ("\"bad", 0.3)];
        let good = answer(&[("{\"score\":", &[]), (" \"good", quoted), ("\"}", &[])]);
        scored(&texts(&[("good", 1.0), ("bad", 0.0)]), &good, Ok(0.7));
    }

    #[test]
    fn thoughts_and_fences_around_the_reply_are_passed_over() {
        let grade: &Chances = &[("2", 0.5), ("3", 0.5)];
        let mut thought = answer(&[("I think ", &[]), ("```\n{\"score\":", &[]), ("2", grade), ("}\n```", &[])]);
        thought.text = "```\n{\"score\":2}\n```".to_owned();
        scored(&numbers(1..=5), &thought, Ok(2.5));
    }

    #[test]
    fn a_reply_that_cannot_be_scored_says_why() {
        let grade: &Chances = &[("4", 0.3)];
        let four = answer(&[("{\"score\":", &[]), ("4", grade), ("}", &[])]);
        scored(&numbers(1..=5), &four, Err("those that are not may have 70 % of the probability"));
        let (first, next): (&Chances, &Chances) = (&[("very", 0.9), ("bad", 0.1)], &[(" good", 0.5)]);
        let very = answer(&[("{\"score\":\"", &[]), ("very", first), (" good", next), ("\"}", &[])]);
        scored(&texts(&[("very good", 1.0), ("very poor", 0.0), ("bad", 0.5)]), &very, Err("may have 45 %"));
        let other: &Chances = &[("9", 0.6), ("1", 0.4)];
        let nine = answer(&[("{\"score\":", &[]), ("9", other), ("}", &[])]);
        scored(&numbers(1..=10), &nine, Err("may have 40 %"));
        scored(&numbers(1..=5), &Answer { logprobs: None, ..four.clone() }, Err("the reply has no logprobs"));
        scored(&numbers(1..=5), &Answer { text: "{\"score\": 4}".to_owned(), ..four }, Err("other tokens"));
    }
}
