//! One vocabulary of comparison: operators and verification primitives, with their operands.
//!
//! An [`Operator`] is what an author names, with its parameters read. Bound to the expected value it is a [`Comparison`],
//! which judges values: passed, failed with what was expected and found, or an error when it cannot be applied. Patterns,
//! dates and sets are compiled first, so judging a value that passes allocates nothing for the simple comparisons.
//!
//! Each family has a file that holds everything about it: what its members are called, what they take, how they judge
//! and what they say. `families!` below is the one list; the schema, the reference page and the reader follow from it.

mod args;
mod assertion;
mod catalogue;
pub mod expression;
mod judgement;
pub mod normalise;
pub mod pattern;

mod boolean_match;
mod date;
mod emptiness;
mod equality;
mod exact_match;
mod exists;
mod format;
mod graded;
mod kind;
mod length;
mod letters;
mod literal_match;
mod matches;
mod membership;
mod numeric;
mod order;
mod ordered_match;
mod range;
mod regex_match;
mod semantic_match;
mod set_containment;
mod substrings;
mod text;
mod text_forms;
mod trace;

pub use args::{ArgError, Args, Flaw};
pub use assertion::{Assertion, Expected, Fill, WhenMissing};
pub use catalogue::{Arrays, Entry, Family, Operand, Origin, Param, entries, families, find, snake_case};
pub use judgement::{Fault, Inapplicable, Judgement, Mismatch};

use judgement::{Parameters, Test};
use jurat_format::value::{Kind, Node, Val, Value};

/// Makes the two enums and their dispatch from the list of families, so that the list stands once. A family whose comparisons
/// hold their operand says so with `<'v>`.
macro_rules! families {
    ($($family:ident in $module:ident $(<$operand:lifetime>)?),* $(,)?) => {
        /// What distinguishes an operator within its family, with its parameters.
        #[derive(Debug, Clone, PartialEq)]
        enum Rule { $($family($module::Operator)),* }

        /// A family's comparison, with its operand.
        #[derive(Debug, Clone)]
        enum Bound<'v> { $($family($module::Comparison $(<$operand>)?)),* }

        $(impl From<$module::Operator> for Rule {
            fn from(operator: $module::Operator) -> Rule {
                Rule::$family(operator)
            }
        })*

        impl Rule {
            fn bind<'v>(&self, expected: Val<'v>) -> Result<Bound<'v>, Inapplicable> {
                match self { $(Rule::$family(rule) => rule.bind(expected).map(Bound::$family)),* }
            }

            fn parameters(&self) -> Vec<(&'static str, Value)> {
                match self { $(Rule::$family(rule) => rule.parameters()),* }
            }
        }

        impl Bound<'_> {
            fn test(&self) -> &dyn Test {
                match self { $(Bound::$family(comparison) => comparison),* }
            }

            // Not through `test`: a direct call lets the compiler see the whole of a simple comparison. It is called from two places, and
            // would cost each comparison a call more if it stood once.
            #[inline(always)]
            fn holds(&self, value: &Val<'_>) -> Result<bool, Inapplicable> {
                match self { $(Bound::$family(comparison) => comparison.holds(value)),* }
            }
        }

        /// Every comparison there is, family by family.
        const FAMILIES: &[Family] = &[$(Family { name: stringify!($family), entries: $module::ENTRIES }),*];
    };
}

families! {
    Equality in equality<'v>,
    Order in order<'v>,
    Membership in membership<'v>,
    Text in text<'v>,
    Matches in matches,
    TextForms in text_forms,
    Length in length<'v>,
    Kind in kind,
    Emptiness in emptiness,
    Format in format,
    Range in range<'v>,
    Letters in letters,
    Exists in exists,
    BooleanMatch in boolean_match,
    ExactMatch in exact_match<'v>,
    Substrings in substrings,
    RegexMatch in regex_match,
    SemanticMatch in semantic_match,
    Numeric in numeric,
    Graded in graded,
    SetContainment in set_containment<'v>,
    OrderedMatch in ordered_match<'v>,
    LiteralMatch in literal_match<'v>,
    Date in date<'v>,
    Trace in trace,
}

/// A comparison by name with its parameters, before it knows what to compare with.
#[derive(Debug, Clone)]
pub struct Operator {
    entry: &'static Entry,
    rule: Rule,
}

impl PartialEq for Operator {
    fn eq(&self, other: &Self) -> bool {
        self.entry.name == other.entry.name && self.rule == other.rule
    }
}

impl Operator {
    /// The operator of this entry, with the parameters that `node` holds besides its name.
    ///
    /// Collects in `args` what is suspicious without being unreadable; the caller decides what becomes of it.
    pub fn read(entry: &'static Entry, args: &mut Args<'_, '_>) -> Result<Operator, ArgError> {
        Ok(Operator { entry, rule: (entry.read)(args)? })
    }

    /// Reads the stored form `{"type": "NumericRange", "min": 1}` of Karenina, which ignores unknown parameters.
    pub fn from_stored(node: &Node<'_>) -> Result<Operator, ArgError> {
        let mut args = Args::new(node)?;
        let name = args.required_text("type")?;
        let primitive = find(&name).into_iter().find(|it| it.origin == Origin::Primitive);
        let entry = primitive.ok_or_else(|| ArgError::at(node.span, format!("there is no primitive `{name}`")))?;
        Operator::read(entry, &mut args)
    }

    /// What the catalogue says about it.
    pub fn entry(&self) -> &'static Entry {
        self.entry
    }

    /// The parameters with their defaults filled in.
    pub fn parameters(&self) -> Vec<(&'static str, Value)> {
        self.rule.parameters()
    }

    /// Whether text is never what it looks for, so that a reply that is text has to be read as JSON first.
    pub fn needs_value(&self, operand: Option<&Val<'_>>) -> bool {
        match self.entry.name {
            "Equals" | "NotEqual" | "LiteralMatch" | "ExactMatch" => operand.is_some_and(|it| it.kind() != Kind::Text),
            // Every text but the empty one counts as true, `false` too.
            "BooleanMatch" => true,
            _ => !self.entry.passes.contains(Kind::Text),
        }
    }

    /// Fixes what to compare with. The operand is compiled here, once.
    pub fn bind<'v>(&self, expected: Val<'v>) -> Result<Comparison<'v>, Inapplicable> {
        let whole = match self.entry.arrays {
            Arrays::Whole => true,
            Arrays::Each => false,
            Arrays::WholeAgainstList => matches!(expected, Val::List(_)),
        };
        Ok(Comparison { entry: self.entry, whole, bound: self.rule.bind(expected)? })
    }
}

/// An operator with its operand: something that judges values.
#[derive(Debug, Clone)]
pub struct Comparison<'v> {
    entry: &'static Entry,
    /// Whether a list is one value rather than many.
    whole: bool,
    bound: Bound<'v>,
}

impl Comparison<'_> {
    /// What the catalogue says about it.
    pub fn entry(&self) -> &'static Entry {
        self.entry
    }

    /// Judges a value. Operators that are not about lists are applied to each item of one, and all must pass.
    #[inline]
    pub fn judge(&self, value: &Val<'_>) -> Judgement {
        match value {
            Val::List(items) if !self.is_whole(items) => self.judge_each(items),
            _ => self.judge_one(value),
        }
    }

    /// Whether this list is judged as one value.
    fn is_whole(&self, items: &[Val<'_>]) -> bool {
        self.whole || (items.is_empty() && self.entry.arrays == Arrays::WholeAgainstList)
    }

    /// Whether a value passes: what [`judge`](Self::judge) says, without the words for one that does not.
    pub fn holds(&self, value: &Val<'_>) -> Result<bool, Inapplicable> {
        match value {
            Val::List(items) if !self.is_whole(items) => {
                for (ix, item) in items.iter().enumerate() {
                    let at_item =
                        |it: Inapplicable| Inapplicable { reason: format!("{} at item [{ix}]", it.reason), ..it };
                    if !self.bound.holds(item).map_err(at_item)? {
                        return Ok(false);
                    }
                }
                Ok(!items.is_empty())
            }
            _ => self.bound.holds(value),
        }
    }

    /// Judges one value, a list included, as it is.
    #[inline]
    pub fn judge_one(&self, value: &Val<'_>) -> Judgement {
        match self.bound.holds(value) {
            Ok(true) => Judgement::Passed,
            Ok(false) => {
                let test = self.bound.test();
                Judgement::Failed(Box::new(Mismatch { expected: test.expected_of(value), found: test.found(value) }))
            }
            Err(inapplicable) => Judgement::Error(Box::new(inapplicable)),
        }
    }

    fn judge_each(&self, items: &[Val<'_>]) -> Judgement {
        if items.is_empty() {
            // Passing here would let an answer without any document pass "every document is recent".
            let expected = format!("items, each {}", self.bound.test().expected());
            return Judgement::Failed(Box::new(Mismatch { expected, found: "an empty list".to_owned() }));
        }
        let judged = items.iter().map(|item| self.judge_one(item)).enumerate();
        judged.into_iter().find(|(_, it)| *it != Judgement::Passed).map_or(Judgement::Passed, |(ix, it)| it.of_item(ix))
    }

    /// The graded credit of a value, between 0 and 1; comparisons without grades give 1 or 0. None of those that are
    /// applied to each item of a list has grades.
    pub fn score(&self, value: &Val<'_>) -> Result<f64, Inapplicable> {
        match value {
            Val::List(items) if !self.is_whole(items) => match self.judge_each(items) {
                Judgement::Passed => Ok(1.0),
                Judgement::Failed(_) => Ok(0.0),
                Judgement::Error(inapplicable) => Err(*inapplicable),
            },
            _ => self.bound.test().score(value),
        }
    }

    /// What is odd about the operand, when this comparison cannot mean what was written.
    pub fn flaw(&self) -> Option<String> {
        self.bound.test().flaw()
    }

    /// A boolean as this comparison takes it: the boolean itself, or text in the operand's own spelling where text is compared.
    pub fn spelled(&self, truth: bool) -> Value {
        let label = if truth { "True" } else { "False" };
        match self.bound.test().operand() {
            Some(Val::Str(text)) if text.eq_ignore_ascii_case(label) => Val::from(text.to_string()),
            Some(Val::Str(_)) => Val::from(label),
            None if !self.entry.passes.contains(Kind::Boolean) => Val::from(label),
            Some(_) | None => Val::Bool(truth),
        }
    }

    /// What a value must be to pass, in words.
    pub fn expected(&self) -> String {
        self.bound.test().expected()
    }
}
