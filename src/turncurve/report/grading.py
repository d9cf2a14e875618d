"""A grading, a plan of one, and a canary in words and JSON; what casts doubt stands first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from turncurve.grading.account import Grading
from turncurve.grading.canary import Canary, CanaryRound
from turncurve.grading.carry_out import Outcome
from turncurve.grading.plan import Plan
from turncurve.report.blocks import Block, Facts, Said, Table
from turncurve.report.figures import amount, counted, interval, signed, usd
from turncurve.report.layout import visible
from turncurve.report.plain import plain
from turncurve.stats.estimate import Estimate

SCHEMA_VERSION = "1.0"
TITLE, PLAN_TITLE = "grading", "what grading would take"
SHOWN_TURNS = 12


def grading_json(outcome: Outcome) -> dict[str, Any]:
    """The result as plain values."""
    return {"schema_version": SCHEMA_VERSION, **plain(outcome)}


def plan_json(plan: Plan) -> dict[str, Any]:
    """The plan as plain values."""
    return {"schema_version": SCHEMA_VERSION, **plain(plan)}


def grading_blocks(outcome: Outcome, path: str) -> tuple[Block, ...]:
    """Findings, then what was graded, then the facts.

    Args:
        outcome: The result.
        path: The grade file.
    """
    grading, canary = outcome.grading, outcome.canary
    said = [Said(words) for words in _doubts(grading, canary)]
    blocks: list[Block] = [*said, Said(_graded(grading))]
    if grading.stopped is not None:
        blocks.append(Said(_stopped(grading)))
    blocks.append(Facts(title="Grades", pairs=tuple(_facts(grading, path))))
    if canary is not None:
        blocks.append(Facts(title="Canary", pairs=tuple(_canary_facts(canary))))
    return tuple(blocks)


def plan_blocks(plan: Plan) -> tuple[Block, ...]:
    """How many calls, tokens and dollars, and of which grader."""
    cost = "a cost that is not known" if plan.usd is None else f"about {usd(plan.usd)}"
    before = f"; {counted(plan.n_before, 'vote')} had before" if plan.n_before else ""
    if plan.n_shared:
        before += f"; {counted(plan.n_shared, 'vote')} shared by runs that begin alike"
    first = (
        f"{counted(plan.n_calls, 'call')} for {counted(plan.n_turns, 'turn')} of "
        f"{counted(plan.n_runs, 'run')}: {cost}{before}."
    )
    rows = tuple(
        (
            visible(name, 36),
            f"{one.n_calls:,}",
            f"{one.input_tokens:,}",
            f"{one.output_tokens:,}",
            usd(one.usd),
        )
        for name, one in plan.by_grader.items()
    )
    notes = [
        "Tokens are estimated at 3.5 bytes each, an answer at 100 tokens. Reasoning and repairs "
        "come on top; a provider's prompt cache makes input cheaper."
    ]
    if plan.usd is None:
        notes.append("For the cost of a model that the price table does not know: --price IN OUT.")
    table = Table(
        title="By grader",
        header=("grader", "calls", "input", "output", "cost"),
        rows=rows,
        align="<>>>>",
        notes=tuple(notes),
    )
    facts = [("longest prompt", f"about {plan.longest_prompt:,} tokens.")]
    facts.append(("left out", _elided(plan.n_elided, plan.first_elided)))
    return Said(first), table, Facts(title="Prompts", pairs=tuple(facts))


def _doubts(grading: Grading, canary: Canary | None) -> Iterator[str]:
    if canary is not None and canary.verdict in ("finding", "watch"):
        yield _canary_doubt(canary)
    for finding in grading.findings:
        if finding == "nothing graded":
            yield "No turn was graded."
        elif finding == "missing above limit":
            yield (
                f"{_percent(grading.missing_share.value)} of the grades are missing, above the "
                f"limit of {_percent(grading.most_missing)}: {_reasons(grading)}. Run the same "
                "command again to try them once more."
            )
        else:
            trend = grading.missing_trend
            yield (
                f"Missing grades grow with position, by {_points(trend)} over ten turns: a curve "
                "of these grades may show the grader's limits and not the agent's."
            )


def _canary_doubt(canary: Canary) -> str:
    opening = (
        "The grader has changed"
        if canary.verdict == "finding"
        else "The grader may have changed (watch)"
    )
    return (
        f"{opening}: {_round(canary.last)} against {_round(canary.baseline)} in the first check. "
        "Grades from before and after are not comparable without labels."
    )


def _round(one: CanaryRound | None) -> str:
    if one is None or one.agreement is None:
        return "no step"
    share = one.agreement
    return (
        f"{share.n_successes} of {share.n} steps graded as at first "
        f"{interval(share.low, share.high)}"
    )


def _graded(grading: Grading) -> str:
    by = " and ".join(
        name + (f" ({votes} times)" if votes > 1 else "") for name, votes in grading.panel.items()
    )
    sentence = (
        f"{grading.n_graded:,} of {counted(grading.n_chosen, 'turn')} of "
        f"{counted(grading.n_runs, 'run')} have a grade by {grading.rubric} from {by}"
    )
    where = _turns(grading.turns)
    return f"{sentence}{where}."


def _turns(turns: Sequence[int]) -> str:
    """Which turns, where they are not all up to the last one."""
    if not turns or list(turns) == list(range(1, len(turns) + 1)):
        return ""
    shown = ", ".join(map(str, turns[:SHOWN_TURNS]))
    more = f" and {len(turns) - SHOWN_TURNS:,} more" if len(turns) > SHOWN_TURNS else ""
    return f", at turns {shown}{more}"


def _stopped(grading: Grading) -> str:
    return (
        f"Grading stopped at {grading.stopped}. What was had is kept: run the same command with a "
        "higher limit to go on."
    )


def _facts(grading: Grading, path: str) -> Iterator[tuple[str, str]]:
    yield "construct", f"{grading.construct}."
    if grading.restated_by is not None:
        yield "restated by", f"{grading.restated_by}, in copies of the turns' states."
    missing = f"{counted(grading.n_missing, 'turn')}"
    if grading.n_missing:
        missing += f"; {_over_runs(grading.missing_share)}; {_reasons(grading)}"
    yield "missing", f"{missing}."
    if sum(grading.panel.values()) > 1:
        yield "ties", f"{counted(grading.n_ties, 'turn')} without a majority, which have no grade."
        yield "agreement of votes", _over_runs(grading.agreement)
    yield "left out of prompts", _elided(grading.n_elided, grading.first_elided)
    for reason, n in grading.excluded.items():
        yield "not graded", f"{counted(n, 'run')}: {reason}."
    yield "calls", _calls(grading)
    yield "tokens", f"{grading.input_tokens:,} sent, {grading.output_tokens:,} received."
    yield "cost", _cost(grading)
    yield "grades are in", path
    yield "read them with", f"turncurve report PATH... --grades {path}"


def _calls(grading: Grading) -> str:
    words = f"{counted(grading.n_calls, 'call')} now"
    if grading.n_before:
        words += f"; {counted(grading.n_before, 'vote')} had before, or shared by runs that begin "
        words += "alike, at no cost"
    if grading.n_repaired:
        words += f"; {counted(grading.n_repaired, 'reply', 'replies')} mended on the second try"
    return f"{words}."


def _cost(grading: Grading) -> str:
    if grading.n_unpriced and grading.n_unpriced == grading.n_calls:
        return "not known: no price of the grader is (--price IN OUT gives one)."
    more = f", without {counted(grading.n_unpriced, 'call')} whose price is not known"
    return f"{usd(grading.usd)}{more if grading.n_unpriced else ''}."


def _elided(n: int, first: int | None) -> str:
    if not n:
        return "no turn is without its earlier turns."
    return (
        f"{counted(n, 'turn')}, from turn {first} on, without some earlier turns: raise "
        "--context-tokens, or compare runs of like length."
    )


def _canary_facts(canary: Canary) -> Iterator[tuple[str, str]]:
    yield "steps", f"{canary.n_steps:,}, fixed when the canary was made."
    for one in canary.rounds[-3:]:
        name = "first check" if one is canary.baseline else f"round {one.number}"
        missing = f"; {counted(one.n_missing, 'step')} without a grade" if one.n_missing else ""
        yield name, f"{_round(one)}{missing}."
    yield "verdict", f"{canary.verdict}{'' if canary.was_due else '; no round was due'}."


def _reasons(grading: Grading) -> str:
    return ", ".join(f"{n:,} {reason}" for reason, n in grading.reasons.items())


def _over_runs(estimate: Estimate) -> str:
    if estimate.value is None:
        return f"not known: {estimate.reason}."
    ends = interval(estimate.low, estimate.high)
    return f"{amount(estimate.value)} {ends} over {counted(estimate.n_runs, 'run')}"


def _points(trend: Estimate) -> str:
    ends = f"[{signed(trend.low)}, {signed(trend.high)}]"
    return f"{signed(trend.value)} {ends} (a share, over {counted(trend.n_runs, 'run')})"


def _percent(share: float | None) -> str:
    return "none" if share is None else f"{100 * share:.3g} %"
