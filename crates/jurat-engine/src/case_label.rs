//! What a case is called.

use std::fmt;

use jurat_store::run::Variant;

/// A case: a row, and what was made of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CaseLabel<'n> {
    /// The id of its row.
    pub id: &'n str,
    /// Which of the row's cases it is; `None` when a row is one case.
    pub variant: Option<&'n Variant>,
}

impl fmt::Display for CaseLabel<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id)?;
        let Some(Variant { prompt, subject, replicate }) = self.variant else { return Ok(()) };
        for part in [prompt, subject].into_iter().filter(|it| !it.is_empty()) {
            write!(f, " / {part}")?;
        }
        if *replicate > 0 { write!(f, " #{}", replicate + 1) } else { Ok(()) }
    }
}
