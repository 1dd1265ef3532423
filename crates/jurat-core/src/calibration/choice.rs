//! Which cases people should label.

use std::collections::BTreeMap;

/// A case that may be labelled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The number of the case.
    pub case: u64,
    /// What distinguishes it from every other case, whatever the order of rows.
    pub name: String,
    /// The label that the judge gave it; `None` for scores.
    pub label: Option<usize>,
    /// What people said of it already: whether it passes, where they said so.
    pub labelled: Option<Option<bool>>,
}

/// A case that was chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct Chosen {
    pub case: u64,
    /// Names that do not say what the judge said: people should not know it.
    pub stratum: Option<String>,
    /// How many cases of its stratum there are for each that is labelled then.
    pub weight: Option<f64>,
}

/// Chooses cases to label, from a seed: as many from each label of the judge, and of what is left where one has too few. Where people labelled some already,
/// more come from the verdicts that the corrected rate is least certain of. Cases that are labelled are not chosen.
///
/// The order is random, too, so that it does not say what the judge said.
pub fn choose(candidates: &[Candidate], n: usize, seed: u64) -> Vec<Chosen> {
    let mut strata: BTreeMap<Option<usize>, Vec<&Candidate>> = BTreeMap::new();
    candidates.iter().for_each(|it| strata.entry(it.label).or_default().push(it));
    let sizes: Vec<usize> = shares(&strata, n);
    // The letters of the strata follow from the seed alone.
    let mut letters: Vec<Option<usize>> = strata.keys().copied().collect();
    letters.sort_by_key(|label| rank(seed, &format!("stratum {label:?}")));
    let mut chosen: Vec<([u8; 32], Chosen)> = Vec::new();
    for ((label, own), size) in strata.iter().zip(sizes) {
        let labelled = own.iter().filter(|it| it.labelled.is_some()).count();
        let mut free: Vec<([u8; 32], &Candidate)> =
            own.iter().filter(|it| it.labelled.is_none()).map(|it| (rank(seed, &it.name), *it)).collect();
        free.sort_unstable_by(|one, other| (one.0, &one.1.name).cmp(&(other.0, &other.1.name)));
        free.truncate(size);
        let weight = own.len() as f64 / (labelled + free.len()).max(1) as f64;
        let place = letters.iter().position(|it| it == label).unwrap_or(0);
        chosen.extend(free.into_iter().map(|(rank, it)| {
            let stratum = label.map(|_| stratum_name(place));
            (rank, Chosen { case: it.case, weight: stratum.is_some().then_some(weight), stratum })
        }));
    }
    chosen.sort_by_key(|it| it.0);
    chosen.into_iter().map(|it| it.1).collect()
}

/// How many cases come from each stratum.
fn shares(strata: &BTreeMap<Option<usize>, Vec<&Candidate>>, n: usize) -> Vec<usize> {
    let free: Vec<usize> = strata.values().map(|it| it.iter().filter(|it| it.labelled.is_none()).count()).collect();
    let labelled: Vec<usize> = strata.values().zip(&free).map(|(it, free)| it.len() - free).collect();
    let total = n + labelled.iter().sum::<usize>();
    let pulls: Vec<f64> = match labelled.iter().all(|it| *it == 0) {
        true => vec![1.0; strata.len()],
        false => strata.values().map(|it| pull(it)).collect(),
    };
    let sum: f64 = pulls.iter().sum();
    let wanted = |ix: usize| total as f64 * pulls[ix] / sum - labelled[ix] as f64;
    let mut sizes: Vec<usize> =
        (0..strata.len()).map(|ix| (wanted(ix).max(0.0).floor() as usize).min(free[ix])).collect();
    let mut missing = n.min(free.iter().sum()).saturating_sub(sizes.iter().sum());
    let mut excess = sizes.iter().sum::<usize>().saturating_sub(n);
    // What rounding and strata that are too small leave goes to the others, one at a time.
    while missing > 0 {
        for ix in 0..sizes.len() {
            if missing > 0 && sizes[ix] < free[ix] {
                sizes[ix] += 1;
                missing -= 1;
            }
        }
    }
    while excess > 0 {
        let largest = (0..sizes.len()).max_by_key(|it| sizes[*it]).unwrap_or(0);
        sizes[largest] -= 1;
        excess -= 1;
    }
    sizes
}

/// How much a stratum adds to the uncertainty of the corrected rate: its size times the spread of its labels (Neyman's allocation). A stratum whose labels
/// are all alike is not certain, so one of each is added.
fn pull(own: &[&Candidate]) -> f64 {
    let said = own.iter().filter_map(|it| it.labelled.flatten());
    let (n, passed) = said.fold((0.0, 0.0), |(n, passed), it| (n + 1.0, passed + f64::from(u8::from(it))));
    let rate: f64 = (passed + 1.0) / (n + 2.0);
    own.len() as f64 * (rate * (1.0 - rate)).sqrt()
}

fn rank(seed: u64, name: &str) -> [u8; 32] {
    *blake3::Hasher::new().update(&seed.to_le_bytes()).update(name.as_bytes()).finalize().as_bytes()
}

/// `a`, `b`, … `z`, `s26`, …
fn stratum_name(place: usize) -> String {
    u8::try_from(place)
        .ok()
        .filter(|it| *it < 26)
        .map_or_else(|| format!("s{place}"), |it| char::from(b'a' + it).to_string())
}
