//! A shared journal over one connection.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use jurat_core::effect::EffectKey;
use jurat_store::journal::{JournalAnswer, PaidAnswer, SharedError, SharedJournal};
use rustls::ClientConfig;
use tokio_postgres::config::SslMode;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Row};

use crate::failure::failure;
use crate::thread::Thread;
use crate::tls::Connector;
use crate::{Address, schema};

/// How long a lookup may take.
const ANSWER: Duration = Duration::from_secs(10);

/// Reads what the system trusts. It is called for addresses that are reached encrypted.
pub type Tls<'t> = &'t dyn Fn() -> Result<Arc<ClientConfig>, String>;

/// A journal in a PostgreSQL server.
pub struct PostgresJournal {
    id: String,
    client: Client,
    thread: Thread,
}

impl PostgresJournal {
    /// Connects within a time, and makes the tables where there are none.
    pub fn connect(address: &Address, tls: Tls<'_>, limit: Duration) -> Result<PostgresJournal, SharedError> {
        let config = match address.config.get_ssl_mode() {
            SslMode::Disable => None,
            _ => Some(tls().map_err(SharedError::Refused)?),
        };
        let thread = Thread::new().map_err(|it| SharedError::Unreachable(it.to_string()))?;
        let connected = async {
            let connected = address.config.connect(Connector(config)).await;
            let (mut client, connection) = connected.map_err(|it| failure(&it))?;
            // It ends with the client; what goes wrong is what the next request reports.
            tokio::spawn(connection);
            let id = schema::ready(&mut client).await?;
            Ok((client, id))
        };
        let (client, id) = thread.within(limit, connected)?;
        Ok(PostgresJournal { id, client, thread })
    }
}

impl fmt::Debug for PostgresJournal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresJournal").field("id", &self.id).finish_non_exhaustive()
    }
}

impl SharedJournal for PostgresJournal {
    fn id(&self) -> &str {
        &self.id
    }

    fn find(&mut self, keys: &[EffectKey]) -> Result<Vec<(EffectKey, JournalAnswer)>, SharedError> {
        let keys: Vec<&[u8]> = keys.iter().map(|it| it.0.as_slice()).collect();
        let select = "SELECT DISTINCT ON (key) key, at_ms, served, outcome FROM jurat_answer WHERE key = ANY($1) ORDER BY key, at_ms DESC, digest";
        let client = &self.client;
        let rows = self.thread.within(ANSWER, async {
            client.query_typed(select, &[(&keys, Type::BYTEA_ARRAY)]).await.map_err(|it| failure(&it))
        })?;
        Ok(rows.iter().filter_map(answer).collect())
    }

    fn add(&mut self, answers: &[PaidAnswer], limit: Duration) -> Result<u64, SharedError> {
        let mut new: Vec<Sent<'_>> = answers.iter().filter(|it| can_be_sent(it)).map(Sent::of).collect();
        // In one order: processes that add the same answers in two would wait for each other.
        new.sort_unstable_by_key(Sent::name);
        new.dedup_by(|a, b| a.name() == b.name());
        let client = &self.client;
        self.thread.within(limit, async {
            let known = known(client, &new).await.map_err(|it| failure(&it))?;
            new.retain(|it| !known.contains(&it.name()));
            if new.is_empty() { Ok(0) } else { insert(client, &new).await.map_err(|it| failure(&it)) }
        })
    }
}

/// An answer with the digest of what it says.
struct Sent<'a> {
    answer: &'a PaidAnswer,
    at_ms: i64,
    digest: [u8; 16],
}

impl<'a> Sent<'a> {
    fn of(answer: &'a PaidAnswer) -> Sent<'a> {
        let mut digest = [0; 16];
        digest.copy_from_slice(&blake3::hash(answer.outcome.as_bytes()).as_bytes()[..16]);
        Sent { answer, at_ms: i64::try_from(answer.at_ms).unwrap_or(i64::MAX), digest }
    }

    fn name(&self) -> ([u8; 32], i64, [u8; 16]) {
        (self.answer.key.0, self.at_ms, self.digest)
    }
}

/// PostgreSQL has no texts with zero bytes. A provider that names its model so is not worth a column of bytes: such an answer stays where it is.
fn can_be_sent(answer: &PaidAnswer) -> bool {
    let PaidAnswer { kind, model, served, request, outcome, .. } = answer;
    ![kind, model, request, outcome].into_iter().chain(served).any(|it| it.contains('\0'))
}

/// Which of these answers the journal has. Most that are not new were read from it, and need not be sent to learn that.
async fn known(
    client: &Client,
    answers: &[Sent<'_>],
) -> Result<HashSet<([u8; 32], i64, [u8; 16])>, tokio_postgres::Error> {
    let (keys, times, digests) = names(answers);
    let select = "SELECT key, at_ms, digest FROM jurat_answer JOIN unnest($1, $2, $3) AS sent (key, at_ms, digest) USING (key, at_ms, digest)";
    let parameters: [(&(dyn tokio_postgres::types::ToSql + Sync), Type); 3] =
        [(&keys, Type::BYTEA_ARRAY), (&times, Type::INT8_ARRAY), (&digests, Type::BYTEA_ARRAY)];
    let rows = client.query_typed(select, &parameters).await?;
    let name =
        |row: &Row| Some((bytes(row, 0)?.try_into().ok()?, row.try_get(1).ok()?, bytes(row, 2)?.try_into().ok()?));
    Ok(rows.iter().filter_map(name).collect())
}

async fn insert(client: &Client, answers: &[Sent<'_>]) -> Result<u64, tokio_postgres::Error> {
    let (keys, times, digests) = names(answers);
    let texts = |of: fn(&PaidAnswer) -> &str| answers.iter().map(|it| of(it.answer)).collect::<Vec<&str>>();
    let (kinds, models) = (texts(|it| &it.kind), texts(|it| &it.model));
    let (requests, outcomes) = (texts(|it| &it.request), texts(|it| &it.outcome));
    let served: Vec<Option<&str>> = answers.iter().map(|it| it.answer.served.as_deref()).collect();
    let insert = "INSERT INTO jurat_answer (key, at_ms, digest, kind, model, served, request, outcome)
                  SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING";
    let parameters: [(&(dyn tokio_postgres::types::ToSql + Sync), Type); 8] = [
        (&keys, Type::BYTEA_ARRAY),
        (&times, Type::INT8_ARRAY),
        (&digests, Type::BYTEA_ARRAY),
        (&kinds, Type::TEXT_ARRAY),
        (&models, Type::TEXT_ARRAY),
        (&served, Type::TEXT_ARRAY),
        (&requests, Type::TEXT_ARRAY),
        (&outcomes, Type::TEXT_ARRAY),
    ];
    client.execute_typed(insert, &parameters).await
}

fn names<'s>(answers: &'s [Sent<'_>]) -> (Vec<&'s [u8]>, Vec<i64>, Vec<&'s [u8]>) {
    let keys = answers.iter().map(|it| it.answer.key.0.as_slice()).collect();
    (keys, answers.iter().map(|it| it.at_ms).collect(), answers.iter().map(|it| it.digest.as_slice()).collect())
}

/// The answer in a row; `None` when another program wrote something else there.
fn answer(row: &Row) -> Option<(EffectKey, JournalAnswer)> {
    let key = EffectKey(bytes(row, 0)?.try_into().ok()?);
    let at_ms = u64::try_from(row.try_get::<_, i64>(1).ok()?).ok()?;
    Some((key, JournalAnswer { outcome: row.try_get(3).ok()?, at_ms, served: row.try_get(2).ok()? }))
}

fn bytes(row: &Row, column: usize) -> Option<&[u8]> {
    row.try_get(column).ok()
}
