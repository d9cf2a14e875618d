"""What the judges of a set of labels knew, which two sets must share to be compared."""

from __future__ import annotations

from collections.abc import Mapping

from turncurve.errors import ConstructError
from turncurve.model import Construct

WORDS: Mapping[Construct, str] = {
    "hindsight": "hindsight (judged knowing how the run went on)",
    "no_hindsight": "no hindsight (judged from the turns up to the judged one)",
}


def one_construct(
    name: str, stated: Mapping[Construct, str], given: Construct | None
) -> Construct | None:
    """The construct of a set of labels; None where nothing states it.

    Args:
        name: What to call the set.
        stated: Each construct that its files state, to the first file that does.
        given: What the caller states of the set.

    Raises:
        ConstructError: The files contradict each other or the caller.
    """
    if len(stated) > 1:
        told = "; ".join(f"{path}: {WORDS[construct]}" for construct, path in stated.items())
        raise ConstructError(
            f"{name} mixes two kinds of label, which measure different things: {told}",
            fix="give the files of one kind",
        )
    found = next(iter(stated), None)
    if found is not None and given is not None and found != given:
        raise ConstructError(
            f"{name} was given as {WORDS[given]}, but {stated[found]} states {WORDS[found]}",
            fix="leave the option out, or give files of the other kind",
        )
    return found if found is not None else given


def shared_construct(
    name: str, own: Construct | None, other_name: str, other: Construct | None
) -> tuple[Construct | None, tuple[str, ...]]:
    """The construct of two sets, and a warning where one of them does not say.

    Raises:
        ConstructError: The two differ.
    """
    if own is not None and other is not None and own != other:
        raise ConstructError(
            f"{name} are labels with {WORDS[own]}, {other_name} with {WORDS[other]}: the two "
            "measure different things, and their agreement would say nothing of the grader",
            fix=f"give labels of the kind of {name}",
        )
    silent = [label for label, one in ((name, own), (other_name, other)) if one is None]
    if not silent:
        return own, ()
    return own or other, (
        f"{' and '.join(silent)} {'do' if len(silent) > 1 else 'does'} not say whether turns were "
        "judged with or without hindsight; if the two sides differ in that, their disagreement is "
        "no error of the grader",
    )
