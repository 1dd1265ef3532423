//! Groups of runs that were recorded before groups were stored: a thread reads all rows once, and pages say how far it has come.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use jurat_engine::view::query::{ColumnCache, Columns};
use jurat_engine::view::{RunView, ViewError};

use super::{Failure, Shared};
use crate::page::cases::Grouping;

/// The passes over rows that were begun, by the file of the run.
#[derive(Debug, Default)]
pub(super) struct Passes(Mutex<HashMap<PathBuf, Arc<Pass>>>);

#[derive(Debug, Default)]
struct Pass {
    done: AtomicU64,
    has_ended: AtomicBool,
}

/// How far the groups of a run are computed. Nothing where they are known, or there are none. The first call begins.
pub(super) fn progress(shared: &Shared, view: &RunView, columns: &Columns<'_>) -> Result<Option<Grouping>, Failure> {
    let of = view.reader().state().map_err(ViewError::from)?.n_cases;
    if of == 0 || !lacks_groups(view, columns)? {
        return Ok(None);
    }
    let path = view.reader().path();
    let mut passes = shared.groups.0.lock().unwrap_or_else(PoisonError::into_inner);
    let known = passes.get(path).filter(|it| !it.has_ended.load(Ordering::Acquire)).cloned();
    let pass = known.unwrap_or_else(|| {
        let pass = begin(path, &shared.columns);
        passes.insert(path.to_owned(), Arc::clone(&pass));
        pass
    });
    Ok(Some(Grouping { done: pass.done.load(Ordering::Relaxed).min(of), of }))
}

fn lacks_groups(view: &RunView, columns: &Columns<'_>) -> Result<bool, Failure> {
    for path in &view.plan().group_by {
        if columns.groups(view, &path.to_string())?.is_none() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Computes the groups of a run on a thread of its own. A run that cannot be read stays without them.
fn begin(path: &Path, cache: &Arc<ColumnCache>) -> Arc<Pass> {
    let pass = Arc::new(Pass::default());
    let (own, path, cache) = (Arc::clone(&pass), path.to_owned(), Arc::clone(cache));
    let work = move || {
        let computed = RunView::open(&path).and_then(|view| {
            let columns = cache.of(&view)?;
            let mut count = || {
                own.done.fetch_add(1, Ordering::Relaxed);
            };
            columns.compute_groups(&view, &mut count)
        });
        drop(computed);
        own.has_ended.store(true, Ordering::Release);
    };
    if std::thread::Builder::new().name("jurat-view-groups".to_owned()).spawn(work).is_err() {
        pass.has_ended.store(true, Ordering::Release);
    }
    pass
}
