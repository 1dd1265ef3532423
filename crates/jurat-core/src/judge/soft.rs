//! A score from the probabilities of labels: not the grade that a judge happened to write, but what it would write on average.
//!
//! A judge that gives a 4 with 60 % and a 3 with 40 % has a soft score of 3.6. The labels are looked for where the reply has its own, token by
//! token: at the first token of the label all labels compete that differ there; where the token that was written leaves several open (`1` of `1`
//! and `10`), the next one decides between those. Probabilities are those among labels: some servers give them as they are before a schema rules other
//! tokens out. A label that is not listed is less likely than all that are; where that could be too much, there is no score. Nor is there one where the
//! tokens that were written do not lead to the label that the reply has: then it is not known what the others lead to.

use std::collections::BTreeMap;

use jurat_format::value::{Map, Span, Val, Value, json_node, shown};

use super::{Label, ReplyForm};
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

    /// Which of its labels a reply has.
    pub(super) fn label_of(&self, reply: &Value) -> Option<usize> {
        let value = reply.get(&self.field)?;
        self.labels.iter().position(|it| it.is(value))
    }

    /// The least and the most that it can be.
    pub fn range(&self) -> (f64, f64) {
        let values = self.labels.iter().map(|it| it.value);
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), it| (low.min(it), high.max(it)))
    }

    /// The reply with `soft_score` and `probabilities` added, or why there is no score.
    pub fn scored(&self, answer: &Answer, form: &ReplyForm, reply: Value) -> Result<Value, String> {
        let walk = self.walk(answer, form)?;
        if walk.written.is_none() || walk.written != self.label_of(&reply) {
            let value = reply.get(&self.field).unwrap_or(&Val::Null);
            let (field, label) = (&self.field, shown(value));
            return Err(format!(
                "the tokens of `{field}` in the reply do not lead to its label {label}, so it has no score"
            ));
        }
        let covered: f64 = walk.weights.iter().sum();
        self.known(covered, walk.unknown)?;
        let score: f64 = walk.weights.iter().zip(&self.labels).map(|(weight, it)| weight * it.value).sum();
        let probabilities =
            self.labels.iter().zip(&walk.weights).map(|(it, weight)| (it.name.clone(), Val::F(*weight)));
        let probabilities = Val::Map(probabilities.collect::<Map<'static>>());
        let mut members = if let Val::Map(members) = reply { members } else { Map::default() };
        members.insert(SOFT_SCORE.into(), Val::F(self.within_range(score / covered)));
        members.insert(PROBABILITIES.into(), probabilities);
        Ok(Val::Map(members))
    }

    /// A mean of labels. Rounding may take it a little beyond the outermost ones, where nothing that knows the range expects it.
    pub(super) fn within_range(&self, score: f64) -> f64 {
        let (low, high) = self.range();
        score.max(low).min(high)
    }

    /// Whether enough is known of the labels, or what is not.
    fn known(&self, covered: f64, unknown: f64) -> Result<(), String> {
        if covered > 0.0 && unknown <= MOST_UNKNOWN * (covered + unknown) {
            return Ok(());
        }
        let share = 100.0 * unknown / (covered + unknown).max(f64::MIN_POSITIVE);
        Err(format!(
            "the labels of `{}` are not all among the likely tokens of the reply, and those that are not may have {share:.0} % of the \
             probability; ask the model with more `logprobs`, or take fewer labels that begin differently",
            self.field
        ))
    }

    /// The way through the tokens of the label that was written.
    fn walk(&self, answer: &Answer, form: &ReplyForm) -> Result<Walk<'_>, String> {
        let Some(Logprobs(tokens)) = answer.logprobs.as_deref() else { return Err(NO_LOGPROBS.to_owned()) };
        let place = self.place(&answer.text, form)?;
        let spelled: Vec<u8> = tokens.iter().flat_map(|it| &it.token.bytes).copied().collect();
        // What the model thought may come before it.
        let begin = last_of(&spelled, answer.text.as_bytes())
            .ok_or("the logprobs of the reply are of other tokens than its text has")?;
        let start = begin + place;
        // Where all labels are texts, the quote before them decides nothing.
        let decides = start + usize::from(self.labels.iter().all(Label::is_text));
        let mut walk = Walk::new(&self.labels);
        let mut end = 0;
        for token in tokens.iter().filter(|it| !it.token.bytes.is_empty()) {
            let at = end;
            end += token.token.bytes.len();
            if end <= decides {
                continue;
            }
            if walk.said.is_empty() && at > start {
                walk.said.push(b'"');
            }
            if walk.take(token, start.saturating_sub(at)) {
                break;
            }
        }
        Ok(walk)
    }

    /// Where in the text of a reply the label begins.
    fn place(&self, text: &str, form: &ReplyForm) -> Result<usize, String> {
        let none = || format!("the reply has no `{}`", self.field);
        let json = form.json_in(text)?;
        let (node, _) = json_node(json, Span::default().source).map_err(|_| none())?;
        let begin = node.get(&self.field).ok_or_else(none)?.span.start as usize;
        Ok(json.as_ptr() as usize - text.as_ptr() as usize + begin)
    }
}

/// Labels that are distinguished token by token.
struct Walk<'l> {
    labels: &'l [Label],
    /// The probability of each.
    weights: Vec<f64>,
    /// What was written of the label so far, as JSON.
    said: Vec<u8>,
    /// How likely that was.
    mass: f64,
    /// The most that labels may have that are not listed.
    unknown: f64,
    /// The one label that what was written can be, once that is decided.
    written: Option<usize>,
}

/// What may be written of the label with one more token, and how likely each is.
type Ways = BTreeMap<Vec<u8>, f64>;

impl<'l> Walk<'l> {
    fn new(labels: &'l [Label]) -> Walk<'l> {
        let weights = vec![0.0; labels.len()];
        Walk { labels, weights, said: Vec::new(), mass: 1.0, unknown: 0.0, written: None }
    }

    /// Counts the candidates of a token, of which the first `lead` bytes stand before the label; whether it is decided which one was written.
    fn take(&mut self, token: &TokenLogprob, lead: usize) -> bool {
        let lead = &token.token.bytes[..lead];
        let own = self.with(&token.token, lead);
        let ways = self.ways(token, lead);
        self.unknown += self.mass * self.unlisted(token, &ways);
        for (said, probability) in ways.iter().filter(|(said, _)| **said != own) {
            match self.open(said).as_slice() {
                [] => {}
                [ix] => self.weights[*ix] += self.mass * probability,
                // Which of several labels would have followed is not known of a way that was not taken.
                _ => self.unknown += self.mass * probability,
            }
        }
        self.mass *= ways.get(&own).copied().unwrap_or(0.0);
        let open = self.open(&own);
        if let [ix] = open.as_slice() {
            self.weights[*ix] += self.mass;
            self.written = Some(*ix);
        }
        self.said = own;
        open.len() <= 1
    }

    /// What candidates make of the label. Several may make the same of it: whether there is a space before it decides nothing. What does not reach the label
    /// decides nothing either, and is left out.
    fn ways(&self, token: &TokenLogprob, lead: &[u8]) -> Ways {
        let others = token.top.iter().filter(|it| it.bytes != token.token.bytes);
        let mut ways = Ways::new();
        for candidate in others.chain([&token.token]).filter(|it| !it.bytes.is_empty()) {
            *ways.entry(self.with(candidate, lead)).or_default() += candidate.probability();
        }
        ways.remove(self.nothing());
        ways
    }

    /// The most that labels may have here that no candidate leads to: none is more likely than the least likely one of those that are listed, and all share
    /// what is left. What was written need not be one of the likely ones, and a token whose probability is given as nothing has one that is not known.
    fn unlisted(&self, token: &TokenLogprob, ways: &Ways) -> f64 {
        let is_listed = |it: &&Label| ways.iter().any(|(said, probability)| *probability > 0.0 && it.may_be(said));
        let n_unlisted = self.labels.iter().filter(|it| it.may_be(&self.said)).filter(|it| !is_listed(it)).count();
        let listed = token.top.iter().map(Candidate::probability).filter(|it| *it > 0.0);
        let least = listed.clone().fold(1.0, f64::min);
        let is_among = token.top.iter().any(|it| it.bytes == token.token.bytes);
        let own = if is_among { 0.0 } else { token.token.probability() };
        let left = 1.0 - listed.sum::<f64>() - own;
        (n_unlisted as f64 * least).min(left.max(0.0))
    }

    /// The labels that may begin with this.
    fn open(&self, said: &[u8]) -> Vec<usize> {
        (0..self.labels.len()).filter(|ix| self.labels[*ix].may_be(said)).collect()
    }

    /// What stands for a label that has not begun.
    fn nothing(&self) -> &'static [u8] {
        if self.labels.iter().all(Label::is_text) { b"\"" } else { b"" }
    }

    /// What would be written of the label with a candidate.
    fn with(&self, candidate: &Candidate, lead: &[u8]) -> Vec<u8> {
        if !self.said.is_empty() {
            return [self.said.as_slice(), &candidate.bytes].concat();
        }
        match candidate.bytes.strip_prefix(lead.trim_ascii_end()).map(<[u8]>::trim_ascii_start) {
            Some([]) => self.nothing().to_vec(),
            Some(said) => said.to_vec(),
            // Another text than the one before the label.
            None => vec![0],
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
    use proptest::prelude::*;

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

    /// Labels as JSON writes them; each counts what it is, or its place.
    fn written(labels: &[&str]) -> SoftScore {
        let values = labels.iter().map(|it| parse_json(it).expect("it is JSON").value.into_owned());
        let label = |(ix, it): (usize, Value)| Label::new(&it, it.as_f64().unwrap_or(ix as f64));
        SoftScore::new("score", values.enumerate().map(label).collect())
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

    #[test]
    fn a_label_counts_however_it_is_written() {
        let certain: &Chances = &[];
        let zero = answer(&[("{\"score\":", certain), ("0", certain), (".", certain), ("0", certain), ("}", certain)]);
        scored(&written(&["0", "0.5", "1"]), &zero, Ok(0.0));
        let grade: &Chances = &[("0", 0.6), ("1", 0.4)];
        let zero = answer(&[("{\"score\":", certain), ("0", grade), ("}", certain)]);
        scored(&written(&["0.0", "0.5", "1.0"]), &zero, Ok(0.4));
        let (word, other): (&Chances, &Chances) = (&[("\\u00e9", 0.7), ("bas", 0.3)], certain);
        let high = answer(&[("{\"score\":\"", certain), ("\\u00e9", word), ("lev\\u00e9", other), ("\"}", certain)]);
        scored(&texts(&[("élevé", 1.0), ("bas", 0.0)]), &high, Ok(0.7));
    }

    #[test]
    fn tokens_that_lead_to_another_label_give_no_score() {
        let certain: &Chances = &[];
        let ten = answer(&[("{\"score\":", certain), ("1", certain), ("e1", certain), ("}", certain)]);
        scored(&numbers(1..=10), &ten, Err("the tokens of `score` in the reply do not lead to its label 10"));
        let tenth = answer(&[("{\"score\":", certain), ("1", certain), ("e-1", certain), ("}", certain)]);
        scored(&written(&["0.1", "10"]), &tenth, Err("do not lead to its label 0.1"));
    }

    #[test]
    fn what_the_likely_tokens_leave_out_is_not_known() {
        // What was written is less likely than what is listed, and so may others be that are more likely than it.
        let unlikely: &Chances = &[("4", 0.4), ("3", 0.3)];
        let mut one = answer(&[("{\"score\":", &[]), ("1", unlikely), ("}", &[])]);
        let tokens = one.logprobs.as_mut().expect("it has some");
        tokens.0[1].token.logprob = 0.01_f64.ln();
        scored(&numbers(1..=5), &one, Err("may have 29 %"));
        // OpenAI's number for a token that is not among the likely ones.
        let tokens = one.logprobs.as_mut().expect("it has some");
        tokens.0[1].token.logprob = -9999.0;
        tokens.0[1].top = vec![Candidate::new("x", 0.999_f64.ln()), Candidate::new("5", 1e-5_f64.ln())];
        scored(&written(&["1", "5"]), &one, Err("may have 50 %"));
    }

    #[test]
    fn labels_of_several_kinds_compete_where_they_begin() {
        let certain: &Chances = &[];
        let (quote, word): (&Chances, &Chances) = (&[("\"", 0.5), ("2", 0.3), ("1", 0.2)], &[("none", 1.0)]);
        let none = answer(&[("{\"score\":", certain), ("\"", quote), ("none", word), ("\"}", certain)]);
        scored(&written(&["1", "2", "\"none\"", "\"all\""]), &none, Ok(0.2 + 2.0 * 0.3 + 2.0 * 0.5));
        // A space inside of a text is a part of it.
        let spaced: &Chances = &[("warm", 0.5), (" warm", 0.3), ("cold", 0.2)];
        let warm = answer(&[("{\"score\":\"", certain), ("warm", spaced), ("\"}", certain)]);
        scored(&texts(&[("warm", 1.0), ("cold", 0.0)]), &warm, Ok(0.5 / 0.7));
        // What stands before the label in its token may have another space, or end before it.
        let joined: &Chances = &[("\": 4", 0.5), ("\":5", 0.25), ("\":", 0.25)];
        let four = answer(&[("{\"score", certain), ("\": 4", joined), ("}", certain)]);
        scored(&numbers(4..=5), &four, Ok((4.0 * 0.5 + 5.0 * 0.25) / 0.75));
    }

    #[test]
    fn the_label_is_that_of_the_reply_and_of_no_other_place() {
        let (early, late): (&Chances, &Chances) = (&[("1", 1.0)], &[("4", 0.5), ("5", 0.5)]);
        let nested = [
            ("{\"reason\":\"\\\"score\\\":1\",", early),
            ("\"old\":{\"score\":", early),
            ("1", early),
            ("},\"score\" : \n", &[]),
            ("4", late),
            ("}", &[]),
        ];
        scored(&numbers(1..=5), &answer(&nested), Ok(4.5));
        // The model thought of the same words before.
        let mut thought =
            answer(&[("{\"score\":", &[]), ("4", early), ("}</think>{\"score\":", &[]), ("4", late), ("}", &[])]);
        thought.text = "{\"score\":4}".to_owned();
        scored(&numbers(1..=5), &thought, Ok(4.5));
    }

    /// Ways to write a label as JSON.
    fn spellings(label: &Value) -> Vec<String> {
        let json = label.to_json();
        match label {
            Val::Str(text) => {
                let units: String = text.encode_utf16().map(|it| format!("\\u{it:04x}")).collect();
                vec![json, format!("\"{units}\"")]
            }
            Val::I(_) => vec![json.clone(), format!("{json}.0"), format!("{json}.00")],
            _ => vec![json.clone(), format!("{json}0")],
        }
    }

    fn any_labels() -> impl Strategy<Value = Vec<Value>> {
        let integer = (-3_i64..=12).prop_map(Val::I);
        let decimal = (-3_i64..=12).prop_map(|it| Val::F(it as f64 + 0.5));
        let text = "[abé\"\\\\😀 ]{0,4}".prop_map(Val::from);
        let label = prop_oneof![3 => integer, 2 => decimal, 3 => text];
        prop::collection::vec(label, 2..6).prop_map(|labels| {
            let mut all: Vec<Value> = Vec::new();
            for label in labels {
                if !all.contains(&label) {
                    all.push(label);
                }
            }
            all
        })
    }

    /// Cuts a text into tokens of these lengths in bytes.
    fn cut(text: &[u8], lengths: &[usize]) -> Vec<Vec<u8>> {
        let (mut tokens, mut rest) = (Vec::new(), text);
        for length in lengths.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (token, after) = rest.split_at((*length).min(rest.len()));
            tokens.push(token.to_vec());
            rest = after;
        }
        tokens
    }

    proptest! {
        /// Whatever the labels are and however one of them is written and cut into tokens, it has its own probability, and the score is between the outermost ones.
        #[test]
        fn the_written_label_has_its_own_probability(
            labels in any_labels(),
            picks in (any::<prop::sample::Index>(), any::<prop::sample::Index>()),
            space in "[ \n]{0,2}",
            lengths in prop::collection::vec(1_usize..5, 1..4),
            chances in prop::collection::vec((0.3_f64..1.0, any::<prop::sample::Index>(), 1_usize..4), 1..6),
        ) {
            let soft = SoftScore::new("score", labels.iter().enumerate().map(|(ix, it)| Label::new(it, ix as f64)).collect());
            let own = picks.0.index(labels.len());
            let spellings_of_own = spellings(&labels[own]);
            let value = &spellings_of_own[picks.1.index(spellings_of_own.len())];
            let text = format!("{{\"score\":{space}{value}}}");
            let start = "{\"score\":".len() + space.len();
            let (mut tokens, mut at, mut share) = (Vec::new(), 0, 1.0);
            for (bytes, (chance, other, n_bytes)) in cut(text.as_bytes(), &lengths).into_iter().zip(chances.iter().cycle()) {
                let end = at + bytes.len();
                let (from, to) = (at.max(start), end.min(start + value.len()));
                // Beside what was written stands what would begin another label in its place.
                let rival = spellings(&labels[other.index(labels.len())])[0].clone().into_bytes();
                let rival: Vec<u8> = rival.into_iter().skip(from - start).take(*n_bytes).collect();
                let lead = &bytes[..from.min(end) - at];
                let chance = if from < to { *chance } else { 1.0 };
                share *= chance;
                let own = Candidate { bytes: bytes.clone(), logprob: chance.ln() };
                let rival = Candidate { bytes: [lead, rival.as_slice()].concat(), logprob: (1.0 - chance).ln() };
                tokens.push(TokenLogprob { token: own.clone(), top: vec![own, rival] });
                at = end;
            }
            let answer = Answer { logprobs: Some(Box::new(Logprobs(tokens))), ..Answer::new(text) };
            let reply = form().read(&answer.text).expect("it is a reply");
            match soft.scored(&answer, &form(), reply) {
                Ok(reply) => {
                    let score = reply.get(SOFT_SCORE).and_then(Val::as_f64).expect("it has a score");
                    let probabilities = reply.get(PROBABILITIES).expect("they are there");
                    let weight = probabilities.get(&soft.labels[own].name).and_then(Val::as_f64).expect("it has one");
                    prop_assert!(weight >= share - 1e-9, "{weight} is less than {share}");
                    prop_assert!((0.0..=(labels.len() - 1) as f64).contains(&score), "{score}");
                }
                Err(problem) => prop_assert!(problem.contains("not all among the likely tokens"), "{problem}"),
            }
        }
    }
}
