//! An operator applied to a value and an operand: pass, fail or error.

use jurat_compare::{Args, Judgement, Operator, Origin, find};
use jurat_format::value::{Val, Value};

use super::{Answer, compared, part, text_part, with_node};

pub(super) fn run(case: &Val<'_>) -> Result<Answer, String> {
    let input = part(case, "input")?;
    let name = text_part(input, "operator")?;
    let entry =
        find(name).into_iter().find(|it| it.origin == Origin::Operator).ok_or(format!("there is no `{name}`"))?;
    let operator = with_node(&Val::Map(Default::default()), |node| {
        Operator::read(entry, &mut Args::new(node).expect("an object"))
    })?
    .map_err(|error| error.to_string())?;
    let judgement = match operator.bind(part(input, "expected")?.borrowed()) {
        Ok(comparison) => comparison.judge(part(input, "actual")?),
        Err(inapplicable) => Judgement::Error(Box::new(inapplicable)),
    };
    let got: Value = Val::from(match judgement {
        Judgement::Passed => "pass",
        Judgement::Failed(_) => "fail",
        Judgement::Error(_) => "error",
    });
    Ok(compared(case, part(part(case, "expect")?, "result")?, &got, |expected, got| expected == got))
}
