"""The name of one answer: a digest of all that it depends on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import blake2b

from turncurve.grading.prompt import Prompt
from turncurve.model import Run, Turn
from turncurve.model.excerpt import arguments_text
from turncurve.readers.grade_lines import MemberMark


def grade_key(
    *, settings: str, member: MemberMark, content: str, turn: int, prompt: Prompt, sample: int
) -> str:
    """The name of an answer.

    Runs of the same content share it, whatever they and their files are called.

    Args:
        settings: Digest of rubric and budget, see `settings_digest`.
        member: Grader and parameters.
        content: Digest of the run up to the turn, see `content_digests`.
        turn: Index of the turn.
        prompt: All that is sent.
        sample: Which of the grader's samples.
    """
    depends_on = [
        settings,
        member.grader,
        sorted(member.parameters.items()),
        content,
        turn,
        prompt.digest,
        sample,
    ]
    return blake2b(json.dumps(depends_on).encode(), digest_size=16).hexdigest()


def content_digests(run: Run) -> Iterator[str]:
    """For each turn the digest of all that was said and done in the run up to its end.

    So a run that goes on keeps the grades of the turns that it had.
    """
    digest = blake2b(digest_size=16)
    for turn in run.turns:
        digest.update(json.dumps(_content(turn), default=str).encode())
        yield digest.hexdigest()


def _content(turn: Turn) -> list[object]:
    return [
        turn.index,
        turn.text,
        [(message.role, message.text) for message in turn.before],
        [(call.name, arguments_text(call)) for call in turn.tool_calls],
        [(result.text, result.error) for result in turn.tool_results],
        turn.action,
    ]
