"""How long `import turncurve` and `turncurve --help` take, beside the bare interpreter."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time


def wall_seconds(*arguments: str, times: int = 7) -> float:
    """Median wall time of a Python process with these arguments."""
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def main() -> None:
    """Print the three times and the ratios to the bare interpreter."""
    bare = wall_seconds("-c", "pass")
    print(f"bare interpreter: {bare * 1000:.0f} ms")
    for name, arguments in {
        "import turncurve": ("-c", "import turncurve"),
        "turncurve --help": ("-m", "turncurve", "--help"),
    }.items():
        seconds = wall_seconds(*arguments)
        print(f"{name}: {seconds * 1000:.0f} ms; ratio {seconds / bare:.2f} (medians of 7)")


if __name__ == "__main__":
    main()
