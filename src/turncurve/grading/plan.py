"""What grading would take: calls, tokens and cost, without a call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from turncurve.grading.anchors import Goals
from turncurve.grading.grade import why_not
from turncurve.grading.items import Item, turn_items
from turncurve.grading.journal import Held
from turncurve.grading.model import Panel
from turncurve.grading.prompt import goal_parts, settings_digest
from turncurve.grading.restate import judged_items, request, text_of
from turncurve.grading.rubric import Rubric
from turncurve.grading.session import ANSWER_TOKENS, GradeSettings
from turncurve.grading.turn_choice import TurnChoice
from turncurve.model import Run, Usage
from turncurve.readers.grade_lines import GradeLine


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """What a first pass over the runs tells.

    Attributes:
        n_runs: Runs that can be graded.
        n_turns: Turns of theirs that are chosen.
        goals: Goals by scenario.
    """

    n_runs: int
    n_turns: int
    goals: Goals


def survey(runs: Iterable[Run], rubric: Rubric, choice: TurnChoice) -> Survey:
    """Count what is to be graded, and gather the goals that a floor is asked of."""
    found: dict[str, Run] = {}
    n_runs = n_turns = 0
    for run in runs:
        if why_not(run, rubric) is not None:
            continue
        n_runs += 1
        n_turns += len(choice.positions(run))
        if rubric.kind == "fidelity":
            found.setdefault(run.scenario or run.id, _opening(run))
    return Survey(n_runs=n_runs, n_turns=n_turns, goals=Goals.of(found.values()))


@dataclass(frozen=True, slots=True, kw_only=True)
class GraderPlan:
    """What one grader would be asked; `usd` is None where its price is not known."""

    n_calls: int
    input_tokens: int
    output_tokens: int
    usd: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What grading would take.

    Attributes:
        n_runs: Runs that would be graded.
        n_turns: Turns.
        n_calls: Calls, without repairs.
        n_before: Votes that are in the grade file already.
        n_shared: Votes that a run has for nothing, as another one had the same content so far.
        by_grader: The calls by grader.
        longest_prompt: Tokens of the longest prompt.
        n_elided: Turns with earlier turns left out of the prompt.
        first_elided: The first turn with which that happens.
        usd: All of it; None where one price is not known.
    """

    n_runs: int
    n_turns: int
    n_calls: int
    n_before: int
    n_shared: int
    by_grader: Mapping[str, GraderPlan]
    longest_prompt: int
    n_elided: int
    first_elided: int | None
    usd: float | None


def plan(
    runs: Iterable[Run],
    rubric: Rubric,
    panel: Panel,
    settings: GradeSettings,
    journal: Held | None = None,
) -> Plan:
    """Count calls and tokens as they would be sent; tokens are estimated.

    Costs are those of every token at its full price: a provider's prompt cache makes them less,
    reasoning and repairs make them more.

    Raises:
        GradeError: The budget leaves no room for a run beside the rubric.
    """
    names = [member.model.name for member in panel]
    if settings.restater is not None:
        names.append(settings.restater.model.name)
    count = _Count(names, journal)
    n_runs = n_turns = n_elided = longest_judged = 0
    first_elided: int | None = None
    goals: set[str] = set()
    for run in runs:
        if why_not(run, rubric) is not None:
            continue
        n_runs += 1
        if rubric.kind == "fidelity":
            goals.add("\0".join(part.text for part in goal_parts(run)))
        for items in _questions(run, rubric, panel, settings, count):
            n_turns += 1
            elided = items[0].prompt.elided.turns
            n_elided += elided > 0
            if elided:
                first_elided = min(items[0].turn, first_elided or items[0].turn)
            longest_judged = max(longest_judged, items[0].tokens)
    for member in panel if len(goals) > 1 else ():
        # Floor and ceiling of each goal; the paraphrase is asked of the first of the panel.
        n = 2 * member.samples * len(goals)
        count.calls[member.model.name] += n + (len(goals) if member is panel[0] else 0)
        count.tokens[member.model.name] += n * longest_judged
    calls = count.calls
    by_grader = {name: _grader(name, calls[name], count.tokens[name], settings) for name in calls}
    costs = [one.usd for one in by_grader.values()]
    return Plan(
        n_runs=n_runs,
        n_turns=n_turns,
        n_calls=sum(calls.values()),
        n_before=count.n_before,
        n_shared=count.n_shared,
        by_grader=by_grader,
        longest_prompt=count.longest,
        n_elided=n_elided,
        first_elided=first_elided,
        usd=None if None in costs else sum(cost for cost in costs if cost is not None),
    )


class _Count:
    """Counts calls and tokens by grader.

    Args:
        names: The graders.
        journal: Answers that were had before.
    """

    def __init__(self, names: Sequence[str], journal: Held | None) -> None:
        self.calls = dict.fromkeys(names, 0)
        self.tokens = dict(self.calls)
        self.n_before = self.n_shared = self.longest = 0
        self._journal = journal
        self._asked: set[str] = set()

    def had(self, item: Item) -> GradeLine | None:
        """The answer that was had before."""
        return None if self._journal is None else self._journal.had(item.key)

    def add(self, item: Item, *, after: str = "") -> None:
        """Count a question, unless it was answered before or is another run's too.

        Args:
            item: The question.
            after: Key of a question whose answer, not known yet, will be part of this one.
        """
        self.longest = max(self.longest, item.tokens)
        if not after and self.had(item) is not None:
            self.n_before += 1
        elif after + item.key in self._asked:
            self.n_shared += 1
        else:
            self._asked.add(after + item.key)
            self.calls[item.member.model.name] += 1
            self.tokens[item.member.model.name] += item.tokens + (ANSWER_TOKENS if after else 0)


def _questions(
    run: Run, rubric: Rubric, panel: Panel, settings: GradeSettings, count: _Count
) -> Iterator[tuple[Item, ...]]:
    """The questions to judges about each chosen turn, once all that they take is counted."""
    context_tokens, restater = settings.context_tokens, settings.restater
    if restater is None:
        for items in turn_items(
            run, rubric, panel, choice=settings.choice, context_tokens=context_tokens
        ):
            for item in items:
                count.add(item)
            yield items
        return
    digest = settings_digest(rubric, context_tokens)
    for position in settings.choice.positions(run):
        asked = request(run, position, restater, digest)
        count.add(asked)
        known = count.had(asked)
        said = None if known is None else text_of(known)
        items = judged_items(run, position, said or "", rubric, panel, context_tokens)
        for item in items:
            count.add(item, after=asked.key if said is None else "")
        yield items


def _grader(name: str, n_calls: int, tokens: int, settings: GradeSettings) -> GraderPlan:
    # Some prices depend on how long a call is, so it is that of a mean call that counts.
    mean = Usage(input_uncached=round(tokens / max(1, n_calls)), output=ANSWER_TOKENS)
    price = settings.price(name, mean)
    return GraderPlan(
        n_calls=n_calls,
        input_tokens=tokens,
        output_tokens=n_calls * ANSWER_TOKENS,
        usd=None if price is None else n_calls * price,
    )


def _opening(run: Run) -> Run:
    """The run without all but its first turn, which has its goal."""
    return Run(
        id=run.id,
        turns=run.turns[:1],
        format=run.format,
        path=run.path,
        scenario=run.scenario,
    )
