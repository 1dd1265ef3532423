"""What is probably a mistake, or certainly one, is said in the words of Python, at the line of the caller."""

from __future__ import annotations

import typing
import warnings
from datetime import timedelta
from typing import Any

import pytest

import jurat
from jurat.errors import (
    DataError,
    DuplicateIdError,
    MissingDirectoryError,
    PlanWarning,
    RunError,
    ScenarioError,
    SuiteError,
    SuiteNotFoundError,
    UsageError,
)
from jurat.evaluate import AssertionTask, ComparisonOperator, GenAIEvalDataset
from jurat.scenario import END, Question, Scenario, first_turn

NUMBER = {"id": "large", "field_path": "n", "operator": "greater_than", "expected_value": 1}


def probe(**edge: Any) -> Scenario:
    scenario = Scenario("probe")
    scenario.add_node("ask", question=Question("Why?", "Because."))
    scenario.add_edge("ask", "ask", **edge)
    scenario.add_edge("ask", END)
    scenario.set_entry("ask")
    return scenario


class TestWarnings:
    def test_a_suite_warns_where_it_is_made(self) -> None:
        judge = {"id": "kind", "judge": {"prompt": "${n}", "output": {"kind": {"enum": ["kitchen", "bath"]}}}}
        gate = {"id": "gate", "depends_on": ["kind"], "field_path": "kind.kind", "operator": "equals", "expected_value": "kichen"}
        with pytest.warns(PlanWarning, match=r"\[plan::outside_enum\]") as found:
            suite = jurat.Suite({"tasks": [judge, gate]}, models={"judge": lambda _: {"kind": "bath"}})
        assert {it.filename for it in found} == {__file__}
        assert "plan::outside_enum" in [it["code"] for it in suite.problems]
        assert suite.problems == suite.warnings

    def test_a_dataset_and_a_file_do_so_too(self, tmp_path: Any) -> None:
        task = AssertionTask(id="n", field_path="other.n", operator=ComparisonOperator.IsNumeric, depends_on=["first"])
        first = AssertionTask(id="first", field_path="n", operator=ComparisonOperator.IsNumeric)
        other = AssertionTask(id="other", field_path="n", operator=ComparisonOperator.IsNumeric)
        with pytest.warns(PlanWarning, match=r"\[plan::not_a_dependency\]"):
            GenAIEvalDataset([{"n": 1}], [first, other, task])
        file = tmp_path / "suite.yaml"
        file.write_text("{suite: s, records: [{a: 1}], tasks: [{id: t, field_path: b, operator: equals, expected_value: 1}]}")
        with pytest.warns(PlanWarning):
            jurat.Suite.load(file)

    def test_a_scenario_warns_of_a_field_that_the_state_never_has(self) -> None:
        with pytest.warns(PlanWarning, match="verifyresult"):
            probe(when={"verifyresult": True}).validate()

    def test_what_is_made_again_in_another_process_does_not_warn_twice(self) -> None:
        import pickle

        with pytest.warns(PlanWarning, match=r"\[plan::not_a_dependency\]"):
            suite = jurat.Suite({"tasks": [NUMBER, {**NUMBER, "id": "other", "field_path": NUMBER["id"]}]})
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            pickle.loads(pickle.dumps(suite))

    def test_functions_that_give_scores_alone_are_no_mistake(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            suite = jurat.Suite({}, evaluators=[len])
        assert [it["code"] for it in suite.problems] == ["plan::nothing_judged"]

    def test_a_sound_definition_is_silent(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            jurat.Suite({"tasks": [NUMBER]})
            probe(when={"verify_result": True}).validate().run(subject=lambda _: "No.")


class TestRows:
    def test_a_dict_holds_columns(self) -> None:
        run = jurat.Suite({"tasks": [NUMBER]}).run({"n": [1, 2, 3], "id": ["a", "b", "c"]})
        assert [(it.id, it.verdict) for it in run] == [("a", "failed"), ("b", "passed"), ("c", "passed")]

    def test_so_does_an_array_of_numpy_with_named_fields(self) -> None:
        numpy = pytest.importorskip("numpy")
        rows = numpy.array([(1, 0.5), (2, 0.7)], dtype=[("n", "i4"), ("x", "f8")])
        assert [it.verdict for it in jurat.Suite({"tasks": [NUMBER]}).run(rows)] == ["failed", "passed"]
        batch = jurat.evaluate_batch(jurat.Suite({"tasks": [NUMBER]}), {"n": numpy.arange(3)})
        assert batch.num_rows == 3

    def test_a_single_row_is_refused(self) -> None:
        with pytest.raises(UsageError, match=r"`n` is a `int`; put a single row into a list: `\[row\]`"):
            jurat.Suite({"tasks": [NUMBER]}).run({"n": 1})

    def test_columns_of_different_lengths_are_refused(self) -> None:
        with pytest.raises(UsageError, match="different lengths: `n` 2, `m` 1"):
            jurat.Suite({"tasks": [NUMBER]}).run({"n": [1, 2], "m": [1]})

    @pytest.mark.parametrize("value", [b"bytes", timedelta(1), object(), dict])
    def test_a_value_that_cannot_be_stored_loses_its_row_alone(self, value: Any) -> None:
        rows: list[Any] = [{"n": number} for number in range(1000)]
        rows[500] = {"n": 2, "deep": {"list": [0, value]}}
        run = jurat.Suite({"tasks": [NUMBER]}).run(rows)
        assert (run.counts.passed, run.counts.failed, run.counts.error) == (997, 2, 1)
        (case,) = run.errors
        assert case.id == "rows:501"
        assert case["large"].message.startswith("row 501 cannot be judged: `deep.list[1]`: ")

    def test_one_with_a_key_of_ours_is_not_mistaken_for_it(self) -> None:
        run = jurat.Suite({"tasks": [NUMBER]}).run([{"@refused": "by me", "n": 2}])
        assert run.passed

    def test_definitions_name_the_field(self) -> None:
        with pytest.raises(DataError, match=r"`tasks\[0\].expected_value`: a value of type `bytes` cannot be written as JSON"):
            jurat.Suite({"tasks": [{**NUMBER, "expected_value": b"1"}]})

    def test_rows_are_not_called_standard_input(self) -> None:
        suite = jurat.Suite({"tasks": [NUMBER]})
        assert "cases from the given rows" in suite.plan()
        with pytest.raises(UsageError, match="the suite takes its rows when it is run: give the run some"):
            suite.run()
        with pytest.raises(DuplicateIdError, match="row 1 of the given rows and row 2 of the given rows have the same id") as raised:
            suite.run([{"id": "a", "n": 1}, {"id": "a", "n": 2}])
        assert isinstance(raised.value, RunError) and isinstance(raised.value, ValueError)


class TestOptions:
    def test_an_unknown_one_has_a_suggestion(self) -> None:
        with pytest.raises(UsageError, match="there is no option `concurency`; did you mean `concurrency`?"):
            jurat.Suite({"tasks": [NUMBER]}).run([], concurency=3)  # type: ignore[call-arg]

    def test_a_value_of_the_wrong_kind_names_its_option(self) -> None:
        with pytest.raises(TypeError, match="the option `concurrency` does not take 'many'"):
            jurat.Suite({"tasks": [NUMBER]}).run([], concurrency="many")  # type: ignore[arg-type]

    def test_a_directory_that_is_not_there(self) -> None:
        with pytest.raises(MissingDirectoryError, match="which is no directory; runs are stored there, so make it first") as raised:
            jurat.Suite({"tasks": [NUMBER]}).run([], directory="/nowhere/at/all")
        assert isinstance(raised.value, OSError) and isinstance(raised.value, ValueError)

    def test_their_types_are_known_at_run_time(self) -> None:
        assert "rows" in typing.get_type_hints(jurat.Suite.run)
        assert "options" in typing.get_type_hints(jurat.Suite.run_async)


class TestFiles:
    def test_a_suite_that_is_not_there_is_an_error_of_files(self) -> None:
        with pytest.raises(FileNotFoundError, match=r"there is no file `nope.yaml`") as raised:
            jurat.Suite.load("nope.yaml")
        assert isinstance(raised.value, SuiteNotFoundError) and isinstance(raised.value, SuiteError)


class TestDefinitions:
    def test_places_are_those_of_the_text_of_the_definition(self) -> None:
        with pytest.raises(SuiteError, match=r"--> <suite.definition>:\d+:\d+"):
            jurat.Suite({"tasks": [{**NUMBER, "operator": "eqals"}]})


class TestScenarios:
    def test_text_in_place_of_a_question(self) -> None:
        with pytest.raises(ScenarioError, match=r"the question of `a` is a `str`; give a `Question\(question, raw_answer\)`"):
            Scenario("s").add_node("a", question="What?")  # type: ignore[arg-type]

    def test_two_outcomes_of_one_name(self) -> None:
        scenario = probe()
        scenario.add_outcome("right", first_turn(verify_result=True))
        scenario.add_outcome("right", first_turn(verify_result=False))
        with pytest.raises(ValueError, match="right"):
            scenario.validate()


def test_a_plan_is_shown_as_it_is_printed() -> None:
    plan = jurat.Suite({"tasks": [NUMBER]}).plan()
    assert repr(plan) == str(plan)
