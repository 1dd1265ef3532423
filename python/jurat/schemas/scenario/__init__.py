"""Names of scenarios at the places where programs of another origin look for them."""

from jurat.scenario import Scenario, ScenarioDefinition, ScenarioExecutionResult, StateCheck, TurnRecord

__all__ = ["Scenario", "ScenarioDefinition", "ScenarioExecutionResult", "StateCheck", "TurnRecord"]
