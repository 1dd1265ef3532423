//! The tables of a shared journal. They are made by the first who comes, and have a format, as files of jurat do.

use jurat_store::journal::SharedError;
use tokio_postgres::Client;

use crate::failure::failure;

/// The format that this version writes, and the latest that it can read.
const FORMAT: i64 = 1;

/// An answer is known by its request, its time and what it says. Texts are JSON, which has no zero bytes; the server compresses long ones.
const TABLES: &str = "
CREATE TABLE jurat_journal (key text PRIMARY KEY, value text NOT NULL);
CREATE TABLE jurat_answer (
  key bytea NOT NULL, at_ms bigint NOT NULL, digest bytea NOT NULL, kind text NOT NULL, model text NOT NULL, served text,
  request text NOT NULL, outcome text NOT NULL, stored_at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (key, at_ms, digest)
);
";

/// Whether they are there.
const IS_THERE: &str = "SELECT to_regclass('jurat_journal') IS NOT NULL";

/// What `jurat_journal` holds from the beginning.
fn first_rows() -> String {
    format!(
        "INSERT INTO jurat_journal (key, value) VALUES ('format', '{FORMAT}'), ('min_reader', '{FORMAT}'), ('id', gen_random_uuid()::text)"
    )
}

/// Names the lock under which tables are made: `jurat` in ASCII.
const LOCK: i64 = 0x6a_75_72_61_74;

/// Makes the tables where there are none, and returns the name of the journal.
pub(crate) async fn ready(client: &mut Client) -> Result<String, SharedError> {
    if !is_there(client).await? {
        make(client).await?;
    }
    let select = "SELECT (SELECT value FROM jurat_journal WHERE key = 'min_reader')::bigint, (SELECT value FROM jurat_journal WHERE key = 'id')";
    let row = client.query_typed_one(select, &[]).await.map_err(|it| failure(&it))?;
    let (min_reader, id): (Option<i64>, Option<String>) = (row.get(0), row.get(1));
    match (min_reader, id) {
        (Some(..=FORMAT), Some(id)) => Ok(id),
        (Some(_), _) => Err(SharedError::Refused(
            "a later version of jurat made its tables; use that version or a later one".to_owned(),
        )),
        _ => Err(SharedError::Refused("its table `jurat_journal` is not one of jurat".to_owned())),
    }
}

async fn is_there(client: &Client) -> Result<bool, SharedError> {
    let row = client.query_typed_one(IS_THERE, &[]).await.map_err(|it| failure(&it))?;
    Ok(row.get(0))
}

/// Of several who come at the same time one makes the tables, and the others wait for it.
async fn make(client: &mut Client) -> Result<(), SharedError> {
    let made = async {
        let transaction = client.transaction().await?;
        transaction.batch_execute(&format!("SELECT pg_advisory_xact_lock({LOCK})")).await?;
        if !transaction.query_typed_one(IS_THERE, &[]).await?.get::<_, bool>(0) {
            transaction.batch_execute(TABLES).await?;
            transaction.batch_execute(&first_rows()).await?;
        }
        transaction.commit().await
    };
    made.await.map_err(|it| failure(&it))
}
