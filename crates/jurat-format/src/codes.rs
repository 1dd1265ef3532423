//! Every kind of problem there is. A code never changes its name; `docs/problems/` has a page for each.

use crate::problem::{Code, Problem, Severity};

/// Makes a constant of each code, and the list of them all, from one list.
macro_rules! codes {
    ($($constant:ident = $severity:ident $name:literal, $summary:literal;)*) => {
        $(#[doc = $summary] pub static $constant: Code = Code { name: $name, severity: Severity::$severity, summary: $summary };)*

        /// Every code, in the order of the list.
        pub static ALL: &[&Code] = &[$(&$constant),*];
    };
}

codes! {
    NOT_FOUND = Error "file::not_found", "a file that is not there, or cannot be opened";
    TOO_LARGE = Error "file::too_large", "a file larger than a definition can be";
    NOT_TEXT = Error "file::not_text", "a file that is not UTF-8 text";
    INCLUDE_CYCLE = Error "file::include_cycle", "files that include each other";
    NOT_READABLE = Error "file::not_readable", "text that is neither YAML nor JSON, or goes beyond their limits";
    BAD_ROWS = Error "file::bad_rows", "data that cannot be read as rows";
    BAD_ARTIFACT = Warning "file::bad_artifact", "a recorded run of an agent that is no run artifact";

    REPEATED_KEY = Error "suite::repeated_key", "a key that stands twice in one object";
    UNKNOWN_KEY = Error "suite::unknown_key", "a key that nothing reads";
    MISSING_KEY = Error "suite::missing_key", "a key that must be there";
    WRONG_TYPE = Error "suite::wrong_type", "a value of the wrong type";
    WRONG_VALUE = Error "suite::wrong_value", "a value that is none of the accepted ones";
    PATH_FOR_TEXT = Error "suite::path_for_text", "the name of a file in place of its text";
    ALWAYS_SAME = Warning "suite::always_same", "a check whose result never depends on what is checked";
    CONFLICT = Error "suite::conflict", "two keys that cannot stand together";
    NOT_SUPPORTED = Error "suite::not_supported", "a part of the format that this version does not run";
    BAD_ID = Error "suite::bad_id", "an id with characters that ids do not have";
    BAD_PATH = Error "suite::bad_path", "a field path that cannot be read";
    BAD_TEMPLATE = Error "suite::bad_template", "a Jinja template that cannot be rendered";
    BAD_SCHEMA = Error "suite::bad_schema", "an output schema that is not a JSON Schema";
    UNKNOWN_OPERATOR = Error "suite::unknown_operator", "an operator that does not exist";
    BAD_OPERAND = Error "suite::bad_operand", "an expected value or parameter that the operator cannot use";
    BAD_PATTERN = Error "suite::bad_pattern", "a regular expression that cannot be read";
    BAD_EXPRESSION = Error "suite::bad_expression", "an expression that cannot be read";
    BAD_OUTPUT = Error "suite::bad_output", "an output of an evaluator that makes no sense";
    BAD_CODE = Error "suite::bad_code", "code of an evaluator that cannot be read";
    NO_FUNCTION = Error "suite::no_function", "code of an evaluator without the function that is called";
    BARE_AGGREGATION = Warning "suite::bare_aggregation", "a number where outcomes are joined, which counts as no";
    UNKNOWN_PART = Warning "suite::unknown_part", "a path to a part that turns or results do not have";
    BAD_CONDITION = Error "suite::bad_condition", "a condition of an edge that cannot be read";
    UNUSED_SETTING = Warning "suite::unused_setting", "a setting of another program that is not used";
    IGNORED_OPERAND = Warning "suite::ignored_operand", "an expected value that the operator ignores";
    LITERAL_PLACEHOLDER = Warning "suite::literal_placeholder", "`${…}` that is not filled in, so it stays text";

    NO_TASKS = Error "plan::no_tasks", "a suite without a task";
    NO_CASES = Error "plan::no_cases", "a suite without anything to evaluate";
    DUPLICATE_ID = Error "plan::duplicate_id", "two tasks, scenarios, nodes or outcomes with one name";
    UNKNOWN_DEPENDENCY = Error "plan::unknown_dependency", "a dependency on a task that does not exist";
    CYCLE = Error "plan::cycle", "tasks that wait for each other";
    NARROWER_DEPENDENCY = Error "plan::narrower_dependency", "a dependency that need not apply to all cases of the task";
    NO_PLACEHOLDER = Error "plan::no_placeholder", "a judge prompt that shows the judge nothing of the case";
    MEASURED_GATE = Error "plan::measured_gate", "a gate that neither passes nor fails";
    UNKNOWN_MODEL = Error "plan::unknown_model", "a model role that is not defined";
    REPEATED_MODEL = Error "plan::repeated_model", "a model that `ask` or a panel of judges asks twice in the same way";
    UNKNOWN_EVALUATOR = Error "plan::unknown_evaluator", "an evaluator that is not defined";
    UNKNOWN_PARAMETER = Error "plan::unknown_parameter", "an argument that the evaluator does not take";
    UNKNOWN_DIMENSION = Error "plan::unknown_dimension", "a dimension that is not declared";
    UNKNOWN_TASK = Error "plan::unknown_task", "a threshold or a gate for a task that does not exist";
    UNMEASURED_THRESHOLD = Error "plan::unmeasured_threshold", "a threshold or a gate on a metric that the suite never measures";

    NO_ENTRY = Error "plan::no_entry", "a scenario that does not say where it starts";
    UNKNOWN_NODE = Error "plan::unknown_node", "a scenario that starts with, or an edge that leads to or from, a node that does not exist";
    UNREACHABLE_NODE = Error "plan::unreachable_node", "a node that no way leads to";
    NO_FALLBACK = Error "plan::no_fallback", "a node whose edges all have conditions";
    NO_CODE = Error "plan::no_code", "the text of code without the code";
    UNKNOWN_TEMPLATE = Error "plan::unknown_template", "a template that is not defined";
    UNKNOWN_RUBRIC = Error "plan::unknown_rubric", "a rubric that is not defined";
    UNKNOWN_AGENT = Error "plan::unknown_agent", "a case for an agent that is not defined";
    UNKNOWN_SERVER = Error "plan::unknown_server", "a tool server that is not defined";

    SECOND_FALLBACK = Warning "plan::second_fallback", "a second edge without a condition, which is never taken";
    SHADOWED_EDGE = Warning "plan::shadowed_edge", "an edge behind another one that is always taken instead";
    NEVER_TAKEN = Warning "plan::never_taken", "an edge whose condition can never hold";
    NO_WAY_OUT = Warning "plan::no_way_out", "nodes that are never left, so that only the turn limit ends the conversation";
    UNKNOWN_STATE = Warning "plan::unknown_state", "a condition on something that is never there";
    OUTCOME_WITHOUT_NODE = Warning "plan::outcome_without_node", "an outcome about a node that is never visited";
    FOREIGN_TEMPLATE = Warning "plan::foreign_template", "a template that is code, which is not run";
    NOTHING_CONCLUDED = Warning "plan::nothing_concluded", "a scenario without outcomes and tasks";
    NO_MODEL = Warning "plan::no_model", "a judge, an `ask` or a scenario without a model to ask";
    NO_EVALUATION = Warning "plan::no_evaluation", "expectations or a rubric that no evaluation looks at";
    NO_OUTPUT = Warning "plan::no_output", "a path into a reply whose fields are not declared by `output`";
    SAME_MODEL = Warning "plan::same_model", "a judge that is the model it judges";
    SAME_QUESTION = Warning "plan::same_question", "a question that is the same for every row";
    NO_PATH = Warning "plan::no_path", "an assertion that does not say where to look";
    NO_ROWS = Warning "plan::no_rows", "data without a row";
    UNKNOWN_FIELD = Warning "plan::unknown_field", "a path into a judge's reply that its schema does not have";
    UNKNOWN_NAME = Warning "plan::unknown_name", "a path or placeholder that no sample row supplies";
    NOT_A_DEPENDENCY = Warning "plan::not_a_dependency", "a task that reads a task it does not depend on";
    HIDDEN_NAME = Warning "plan::hidden_name", "a task id that hides a field of the data";
    HIDDEN_FIELD = Warning "plan::hidden_field", "a field of the rows that `ask` hides from tasks";
    NEVER_APPLIES = Warning "plan::never_applies", "an operator that can never pass on values of this type";
    OUTSIDE_ENUM = Warning "plan::outside_enum", "an expected value that the schema's enum does not have";
    UNEXPECTED_TYPE = Warning "plan::unexpected_type", "an expected value of another type than the values";
    NO_SUCH_CASE = Warning "plan::no_such_case", "a task that applies to none of the cases";
    TAG_WITH_COMMA = Warning "plan::tag_with_comma", "a tag with a comma in it, which is one tag and not several";
    UNUSED_GATE = Warning "plan::unused_gate", "a gate that nothing depends on";
    NEVER_RUNS = Warning "plan::never_runs", "a task behind gates that contradict each other";
    NOTHING_JUDGED = Warning "plan::nothing_judged", "tasks that measure and never judge";
    NO_THRESHOLD = Warning "plan::no_threshold", "tasks that can fail without failing the run, because thresholds are about others alone";
    UNUSED_WEIGHTS = Warning "plan::unused_weights", "weights of tasks in a pass rate that nothing asks for";
    REPEATED_DEPENDENCY = Warning "plan::repeated_dependency", "a dependency named twice";

    UNKNOWN_PROVIDER = Error "run::unknown_provider", "a model of a provider that does not exist";
    BAD_MODEL = Error "run::bad_model", "a model that cannot be asked as it is written";
    SEVERAL_MODELS = Error "run::several_models", "a role with several models where one is asked";
    NO_SCRIPT = Error "run::no_script", "a script of replies that is not there";
    BAD_SCRIPT = Error "run::bad_script", "a script of replies that cannot be read";
    NO_PROGRAM = Error "run::no_program", "a program or an interpreter that is not there";
    UNSET_VARIABLE = Note "run::unset_variable", "a key or another variable that is not set";
    NEEDS_OPTION = Note "run::needs_option", "an agent that runs with an option of `run` alone";
    MISSING_FUNCTION = Note "run::missing_function", "a function of the program that runs the suite";
}

/// The code with this name.
pub fn find(name: &str) -> Option<&'static Code> {
    ALL.iter().copied().find(|it| it.name == name)
}

/// Whether a problem says that the code of a program is not on this machine. A recording makes up for that.
pub fn is_missing_code(problem: &Problem) -> bool {
    std::ptr::eq(problem.code, &NO_CODE)
}
