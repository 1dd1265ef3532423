//! The effects of a run in numbers. They are added up while effects are written, because to count them afterwards means to read every one.

use rusqlite::Connection;
use serde::{Deserialize, Serialize};

use crate::effects::RecordedEffect;

/// Where they are stored in `meta`, once a run has ended.
pub(super) const META: &str = "effects";

/// The effects of a run in numbers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EffectStats {
    /// How often models were asked.
    pub asked: u64,
    /// How many answers of models were there before.
    pub reused: u64,
    /// When the oldest that was there before was given, in milliseconds since 1970.
    pub oldest_reused_ms: Option<u64>,
    /// Who answered, as they say, and how often.
    pub served: Vec<(Option<String>, u64)>,
    /// How often tools were called.
    pub tool_calls: u64,
    /// How many of these calls had returned before.
    pub reused_tool_calls: u64,
}

impl EffectStats {
    /// What was stored of a run that has ended.
    pub(super) fn read(stored: &str) -> Option<EffectStats> {
        let groups: Vec<Group> = serde_json::from_str(stored).ok()?;
        Some(EffectStats::of(&groups))
    }

    pub(super) fn counted(connection: &Connection) -> rusqlite::Result<EffectStats> {
        let select = "SELECT effect.kind, effect.served, count(*), coalesce(sum(site.reused), 0),
                        min(CASE WHEN site.reused THEN effect.at_ms END)
                      FROM site JOIN effect ON effect.id = site.effect
                      GROUP BY effect.kind, effect.served ORDER BY effect.served";
        let mut select = connection.prepare_cached(select)?;
        let groups = select.query_map([], |row| {
            let (kind, served, n) = (row.get(0)?, row.get(1)?, row.get(2)?);
            Ok(Group { kind, served, n, n_reused: row.get(3)?, oldest_reused_ms: row.get(4)? })
        });
        Ok(EffectStats::of(&groups.and_then(Iterator::collect::<rusqlite::Result<Vec<Group>>>)?))
    }

    fn of(groups: &[Group]) -> EffectStats {
        let of_kind = |kind: &'static str| groups.iter().filter(move |it| it.kind == kind);
        // The result of a whole run of an agent counts as one.
        let answers = || of_kind("model").chain(of_kind("run"));
        EffectStats {
            asked: answers().map(|it| it.n).sum(),
            reused: answers().map(|it| it.n_reused).sum(),
            oldest_reused_ms: answers().filter_map(|it| it.oldest_reused_ms).min(),
            served: of_kind("model").map(|it| (it.served.clone(), it.n)).collect(),
            tool_calls: of_kind("tool").map(|it| it.n).sum(),
            reused_tool_calls: of_kind("tool").map(|it| it.n_reused).sum(),
        }
    }
}

/// Effects of one kind that the same one answered.
#[derive(Debug, Serialize, Deserialize)]
struct Group {
    kind: String,
    served: Option<String>,
    n: u64,
    n_reused: u64,
    oldest_reused_ms: Option<u64>,
}

/// Adds effects up.
#[derive(Debug, Default)]
pub(super) struct Counting {
    groups: Vec<Group>,
    n: u64,
}

/// There are few kinds, and few models. Where there are more, they are counted when they are asked for.
const MOST_GROUPS: usize = 100;

impl Counting {
    pub(super) fn add(&mut self, effect: &RecordedEffect) {
        let RecordedEffect { kind, served, at_ms, reused, .. } = effect;
        let ix = self.groups.iter().position(|it| it.kind == *kind && it.served == *served);
        let ix = ix.unwrap_or(self.groups.len());
        if ix == MOST_GROUPS {
            return;
        }
        if ix == self.groups.len() {
            let (kind, served) = (kind.clone(), served.clone());
            self.groups.push(Group { kind, served, n: 0, n_reused: 0, oldest_reused_ms: None });
        }
        self.n += 1;
        let group = &mut self.groups[ix];
        group.n += 1;
        if *reused {
            group.n_reused += 1;
            group.oldest_reused_ms = group.oldest_reused_ms.into_iter().chain([*at_ms]).min();
        }
    }

    /// Adds effects that another file has counted. Where it has not, the sum is not that of all.
    pub(super) fn add_stored(&mut self, stored: Option<&str>) {
        let groups = stored.and_then(|it| serde_json::from_str::<Vec<Group>>(it).ok());
        for group in groups.unwrap_or_default() {
            self.n += group.n;
            match self.groups.iter_mut().find(|it| it.kind == group.kind && it.served == group.served) {
                Some(own) => {
                    own.n += group.n;
                    own.n_reused += group.n_reused;
                    own.oldest_reused_ms = own.oldest_reused_ms.into_iter().chain(group.oldest_reused_ms).min();
                }
                None => self.groups.push(group),
            }
        }
    }

    /// What is stored of them; `None` when there are others in the file that were not added.
    pub(super) fn stored(&mut self, connection: &Connection) -> rusqlite::Result<Option<String>> {
        let n: u64 = connection.query_row("SELECT count(*) FROM site", [], |row| row.get(0))?;
        self.groups.sort_by(|one, other| one.served.cmp(&other.served));
        Ok((n == self.n).then(|| serde_json::to_string(&self.groups).expect("texts and numbers are JSON")))
    }
}
