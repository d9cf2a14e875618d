"""Reading `turns` JSONL into the turn table, beside decoding the same bytes with msgspec.

Also: does the cost grow linearly with the turns? The same number of turns a run, four times the
runs, must take about four times as long.
"""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

import msgspec
from timing import cpu_seconds, print_ratio

from turncurve import read


def write_turns(path: Path, *, runs: int, turns: int) -> None:
    """Per-turn records of made-up runs with a quality, tokens and an action."""
    rng = random.Random(7)
    encoder = msgspec.json.Encoder()
    with path.open("wb") as out:
        for run in range(runs):
            for turn in range(1, turns + 1):
                record = {
                    "run": f"run-{run}",
                    "scenario": f"scenario-{run % 20}",
                    "turn": turn,
                    "quality": round(rng.random(), 3),
                    "context_tokens": 3000 + 850 * turn,
                    "output_tokens": rng.randrange(20, 400),
                    "action": f"search:q{rng.randrange(200)}",
                    "tool_error": rng.random() < 0.1,
                }
                out.write(encoder.encode(record) + b"\n")


def decode(path: Path) -> int:
    """The least that any reader must do: decode every line."""
    decoder = msgspec.json.Decoder()
    with path.open("rb") as lines:
        return sum(1 for line in lines if decoder.decode(line))


def main() -> None:
    """Print the ratio to the limit, and the growth from 100 to 400 runs."""
    with tempfile.TemporaryDirectory() as folder:
        small, large = Path(folder) / "small.jsonl", Path(folder) / "large.jsonl"
        write_turns(small, runs=100, turns=100)
        write_turns(large, runs=400, turns=100)
        limit = cpu_seconds("msgspec decode", lambda: decode(large))
        ours = cpu_seconds("turncurve.read, 40,000 turns", lambda: read([large]))
        print_ratio(ours, limit)
        quarter = cpu_seconds("turncurve.read, 10,000 turns", lambda: read([small]))
        print_ratio(ours, quarter)


if __name__ == "__main__":
    main()
