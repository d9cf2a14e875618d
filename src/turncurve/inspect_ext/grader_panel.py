"""Who grades in an evaluation: models by name or as they are, or those of a role."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from inspect_ai.model import Model, get_model, model_roles

from turncurve.grading.inspect_model import InspectModel
from turncurve.grading.model import Member, Panel

Models: TypeAlias = str | Model | Sequence[str | Model] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Graders:
    """A panel, and what to know of it."""

    panel: Panel
    notes: tuple[str, ...] = ()


def graders(models: Models, role: str, *, samples: int, keep_prompts: bool) -> Graders:
    """The panel of a scorer, found when it scores, since roles are bound by then.

    Args:
        models: One model or several, by name or as they are; None: those of the role.
        role: A role; where no model is bound to it, the model under evaluation grades.
        samples: Answers that each gives of a turn.
        keep_prompts: Whether the log is to hold what graders were asked and said.
    """
    notes: tuple[str, ...] = ()
    if models is None:
        bound = model_roles().get(role)
        found = list(bound) if isinstance(bound, list) else [get_model(role=role)]
        if bound is None:
            notes = (
                f"no model is named or has the role {role!r}: the evaluated one graded itself",
            )
    else:
        named = [models] if isinstance(models, str | Model) else models
        found = [get_model(one) for one in named]
    times: Counter[str] = Counter()
    panel = []
    for model in found:
        name = str(model)
        times[name] += 1
        # Two of one name, set otherwise, are two voters.
        of_same_name = f"#{times[name]}" if times[name] > 1 else ""
        grader = grader_of(model, name=name + of_same_name, keep_prompts=keep_prompts)
        panel.append(Member(model=grader, samples=samples))
    return Graders(panel=panel, notes=notes)


def grader_of(model: Model, *, name: str | None = None, keep_prompts: bool) -> InspectModel:
    """One of Inspect's models as a grader, with what was set for it."""
    given = model.config.model_dump(exclude_none=True)
    parameters = {key: value for key, value in given.items() if isinstance(value, _SIMPLE)}
    return InspectModel(model, name=name, parameters=parameters, isolated=not keep_prompts)


_SIMPLE = (str, int, float, bool)
