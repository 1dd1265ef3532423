//! Tests of the crate as a whole: processes are started and spoken to as a run would.

mod attacks;
mod calling;
mod hostile;
mod jails;
mod orphans;
mod pools;
mod refusing;
mod typescript;
