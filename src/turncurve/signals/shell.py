"""What a shell command does: looks around, changes something, or neither for sure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Literal, TypeAlias

Phase: TypeAlias = Literal["explore", "act"]

_EXPLORE = frozenset(
    {
        *("cat", "ls", "grep", "egrep", "fgrep", "rg", "ag", "ack", "find", "fd", "head", "tail"),
        *("less", "more", "wc", "tree", "file", "stat", "pwd", "which", "whereis", "type", "du"),
        *("df", "diff", "cmp", "sort", "uniq", "cut", "awk", "nl", "printenv", "ps", "env"),
        "whoami",
        *("uname", "hostname", "date", "id", "jq", "column", "od", "xxd", "hexdump", "strings"),
        *("readlink", "realpath", "basename", "dirname", "man", "top", "free", "lsof", "history"),
        *("sha256sum", "md5sum", "zcat", "zgrep", "ping", "dig", "nslookup", "ss", "netstat"),
    }
)
_ACT = frozenset(
    {
        *("python", "python2", "python3", "pytest", "tox", "nox", "pip", "pip3", "uv", "poetry"),
        *("node", "npm", "npx", "yarn", "pnpm", "deno", "bun", "make", "cmake", "ninja", "cargo"),
        *("go", "rustc", "gcc", "g++", "clang", "javac", "java", "mvn", "gradle", "ruby", "perl"),
        *("php", "dotnet", "R", "Rscript", "julia", "rm", "mv", "cp", "mkdir", "rmdir", "touch"),
        *("chmod", "chown", "ln", "tee", "patch", "dd", "install", "tar", "unzip", "zip", "gzip"),
        *("apt", "apt-get", "yum", "dnf", "brew", "conda", "docker", "kubectl", "systemctl"),
        *("service", "kill", "pkill", "killall", "truncate", "rsync", "scp", "ssh", "wget"),
        *("source", ".", "apply_patch", "submit", "createdb", "psql", "mysql", "sqlite3", "ed"),
        *("vi", "vim", "nano", "django-admin", "crontab", "useradd", "git-apply", "black", "ruff"),
        *("pylint", "flake8", "mypy", "coverage", "sphinx-build", "eslint", "tsc", "jest"),
    }
)
_NEITHER = frozenset({"cd", "export", "set", "true", "false", "sleep", "wait", "exit", "unset"})
_GIT_EXPLORE = frozenset(
    {
        *("status", "log", "diff", "show", "blame", "grep", "ls-files", "branch", "rev-parse"),
        *("shortlog", "describe", "remote", "config", "reflog", "ls-tree", "cat-file"),
    }
)
_WRAPPERS = frozenset(
    {"sudo", "env", "time", "nohup", "command", "exec", "xargs", "nice", "stdbuf"}
)
_SHELLS = frozenset({"bash", "sh", "zsh", "dash"})

_HEREDOC = re.compile(r"<<-?\s*(['\"]?)(\w+)\1")
_QUOTED = re.compile(r"'[^']*'|\"(?:\\.|[^\"\\])*\"")
_SEPARATOR = re.compile(r"\|\||&&|[;|\n]|(?<![<>&\d])&(?![>&])")
_TO_FILE = re.compile(r"(?<![<>=\-])\d?&?>>?\s*(?!&\d)(?!/dev/null)[^\s>&]")
_ASSIGNMENT = re.compile(r"\w+=\S*$")
_INNER = re.compile(r"\s*(?:/bin/)?(?:ba|z|da)?sh\s+-\w*c\s+(['\"])(.*)\1\s*$", re.DOTALL)
_PYTHON = re.compile(r"python[\d.]+")
_NOT_PLAIN = re.compile(r"[^\w./=-]")
LONGEST = 20_000
"""Characters of a command that are looked at."""


def shell_phase(command: str) -> Phase | None:
    """Whether a shell command explores or acts; None where that is not known.

    It acts if any part of it writes to a file or starts a program that changes things or runs code
    (`sed -i`, `python`, `pytest`, `git apply`, `> file`); it explores if all that is known of it
    only looks (`cat`, `ls`, `grep`, `sed -n`, `git log`). The words of a here-document and of a
    quoted text are no commands. Of a long command the first 20,000 characters are looked at.
    """
    return _phase(command[:LONGEST])


@lru_cache(maxsize=1024)
def _phase(command: str) -> Phase | None:
    inner = _INNER.match(command)
    phases = {_part_phase(part) for part in _parts(inner[2] if inner else command)}
    if "act" in phases:
        return "act"
    return "explore" if "explore" in phases else None


def _parts(command: str) -> Iterator[str]:
    """The simple commands, with each quoted text as one word without anything special in it."""
    bare = _QUOTED.sub(lambda quoted: _plain(quoted.group()), _without_heredocs(command))
    for part in _SEPARATOR.split(bare):
        if part.strip():
            yield part.strip().lstrip("({ ").rstrip(")} ")


def _without_heredocs(command: str) -> str:
    command = command.replace("\\\n", " ")
    if "<<" not in command:
        return command
    kept: list[str] = []
    end: str | None = None
    for line in command.split("\n"):
        if end is not None:
            end = None if line.strip() == end else end
            continue
        opened = _HEREDOC.search(line)
        end = opened.group(2) if opened else None
        kept.append(_HEREDOC.sub(" ", line))
    return "\n".join(kept)


def _plain(quoted: str) -> str:
    return _NOT_PLAIN.sub("_", quoted[1:-1][:200]) or "_"


def _part_phase(part: str) -> Phase | None:
    if ">" in part and _TO_FILE.search(part):
        return "act"
    words = _command_words(part.split())
    if not words:
        return None
    head, arguments = words[0].rsplit("/", 1)[-1], words[1:]
    special = _SPECIAL.get(head)
    if special is not None:
        return special(arguments)
    if head in _EXPLORE:
        return "explore"
    is_program = "/" in words[0] or _PYTHON.fullmatch(head) is not None
    return "act" if head in _ACT or is_program else None


def _command_words(words: list[str]) -> list[str]:
    """The words from the command on: without assignments, wrappers and their options."""
    while words:
        first = words[0]
        if first == "timeout":
            words = [w for i, w in enumerate(words[1:]) if i or not w[:1].isdigit()]
            while words and words[0].startswith("-"):
                words = words[2:]
        elif first in _WRAPPERS and len(words) > 1:
            words = words[1:]
            while words and words[0].startswith("-"):
                words = words[1:]
        elif _ASSIGNMENT.match(first) or first in ("do", "then", "else", "if", "while", "!"):
            words = words[1:]
        else:
            break
    return words


def _sed(arguments: list[str]) -> Phase:
    writes = any(a.startswith(("-i", "--in-place")) for a in arguments)
    return "act" if writes else "explore"


def _find(arguments: list[str]) -> Phase:
    writes = "-delete" in arguments
    runs = any(flag.startswith("-exec") and word in _ACT for flag, word in pairwise(arguments))
    return "act" if writes or runs else "explore"


def _git(arguments: list[str]) -> Phase | None:
    words = [a for a in arguments if not a.startswith("-")]
    if not words:
        return None
    return "explore" if words[0] in _GIT_EXPLORE else "act"


def _shell(arguments: list[str]) -> Phase:
    del arguments  # a script, or a quoted command that was made one word
    return "act"


def _curl(arguments: list[str]) -> Phase:
    sends = ("-X", "-d", "--data", "-F", "-T", "-o", "-O", "--request", "--output")
    return "act" if any(a.startswith(sends) for a in arguments) else "explore"


def _neither(arguments: list[str]) -> None:
    del arguments


_SPECIAL = {
    "sed": _sed,
    "find": _find,
    "git": _git,
    "curl": _curl,
    **dict.fromkeys(_SHELLS, _shell),
    **dict.fromkeys(_NEITHER, _neither),
}
