//! Serving JavaScript.

use crate::orders::Orders;
use crate::worker::Channel;

pub(super) fn serve(_: &mut Channel, _: &Orders) -> Result<(), Vec<String>> {
    Err(vec!["only Python is run".to_owned()])
}
