//! Which cases of a run are meant, and in which order: one language for the viewer, `jurat show --where` and `jurat export --where`.

mod order;

pub use order::Sort;
