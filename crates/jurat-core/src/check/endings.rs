//! `status_is` and `exit_status`: how the run ended.

use std::sync::Arc;

use jurat_format::field::Field;
use jurat_format::shape;
use jurat_format::value::{Val, shown};

use super::decision::{Decided, member, mismatch, quoted};
use super::{Rule, Seen, kind};
use crate::artifact::RunStatus;

const RUN_STATUS: Field<RunStatus> = Field::required("expected", shape::choice(), "the status").or(&["status"]);
const EXIT_STATUS_CODE: Field<i64> = Field::required("expected", shape::integer::<{ i64::MIN }>(), "the exit status");

kind! {
    STATUS_IS = "status_is": "passes if the run ended with this status",
    keys: [RUN_STATUS.key],
    read: |reading, it| Some(Arc::new(StatusIs(it.read(reading, &RUN_STATUS)?))),
    dimensions: ["process"],
    note: "`status` is read for `expected`.",
}

kind! {
    EXIT_STATUS = "exit_status": "passes if the agent's program ended with this exit status",
    keys: [EXIT_STATUS_CODE.key],
    read: |reading, it| Some(Arc::new(ExitStatus(it.read(reading, &EXIT_STATUS_CODE)?))),
    dimensions: ["process"],
    note: "It is read from `runner_metadata.exit_status`.",
}

#[derive(Debug)]
struct StatusIs(RunStatus);

impl Rule for StatusIs {
    fn decide(&self, evidence: &Val<'_>, _: &[Seen]) -> Decided {
        let (wanted, found) = (self.0.name(), member(evidence, &["status"])?);
        Ok((found.as_str() != Some(wanted)).then(|| mismatch(quoted(wanted), shown(found))))
    }
}

#[derive(Debug)]
struct ExitStatus(i64);

impl Rule for ExitStatus {
    fn decide(&self, evidence: &Val<'_>, _: &[Seen]) -> Decided {
        let (wanted, found) = (self.0, member(evidence, &["runner_metadata", "exit_status"])?);
        Ok((*found != Val::I(wanted)).then(|| mismatch(format!("exit status {wanted}"), shown(found))))
    }
}
