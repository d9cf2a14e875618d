"""The desk: its tickets, and the tools that the agent works with."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from inspect_ai.tool import Tool, ToolError, tool
from inspect_ai.util import store

WORLD = Path(__file__).resolve().parent
SEED = 20250607
RULES, TABLES = "handbook/standing-rules.md", "schema/tables.md"


@dataclass(frozen=True)
class Ticket:
    """One ticket, with its kind and what is filled into the kind's texts."""

    number: str
    customer: str
    kind: dict[str, Any]
    facts: dict[str, str]

    def text(self, template: str) -> str:
        """A text of the ticket's kind with the ticket's facts in it."""
        return template.format(**self.facts)

    def line(self) -> str:
        """The ticket as the tools show it."""
        head = f"{self.number} | {self.customer} | {self.kind['subject']}"
        return f"{head} | {self.text(self.kind['body'])}"

    def query(self, table: str) -> str:
        """What to ask a table about this ticket."""
        return (
            f"SELECT {self.kind['columns']} FROM {table} "
            f"WHERE customer_id = '{self.facts['customer_id']}' "
            f"AND at >= '{self.facts['since']}' ORDER BY 1 DESC LIMIT 50"
        )


TICKET = re.compile(r"(TCK-\d+) \| ([^|]+) \| ([^|]+) \| (.+)")
"""A ticket as the tools show it."""
KINDS = {kind["subject"]: kind for kind in yaml.safe_load((WORLD / "kinds.yaml").read_text())}
SCENARIOS = {s["id"]: s for s in yaml.safe_load((WORLD / "scenarios.yaml").read_text())}
KNOWN_TABLES = set(re.findall(r"^\| `(\w+)`", (WORLD / TABLES).read_text(), re.MULTILINE))


def queue_of(scenario: str) -> list[Ticket]:
    """The tickets of a shift: the same in every trial."""
    given = SCENARIOS[scenario]
    rng = random.Random(f"{SEED}/{scenario}/queue")
    kinds = rng.sample(list(KINDS.values()), len(KINDS))
    order = [kinds[place % len(kinds)] for place in range(given["tickets"])]
    tail = order[len(kinds) :]
    rng.shuffle(tail)
    tickets = []
    for place, kind in enumerate([*order[: len(kinds)], *tail]):
        number, customer = given["first"] + 3 * place, rng.choice(given["customers"])
        facts = {
            "customer": customer,
            "customer_id": f"c-{sum(map(ord, customer)) % 900 + 100}",
            "id": str(number % 997),
            "n": str(rng.randrange(11_000, 48_000)),
            "hour": (hour := f"{rng.randrange(6, 15):02d}"),
            "since": f"{hour}:{number % 60:02d}",
        }
        tickets.append(Ticket(f"TCK-{number}", customer, kind, facts))
    return tickets


def luck(*key: object) -> random.Random:
    """A source of chance that is the same each time the example is made."""
    return random.Random(
        "/".join(map(str, (SEED, store().get("scenario"), store().get("trial"), *key)))
    )


def in_hand() -> tuple[list[Ticket], int]:
    """The shift's queue and the place of the ticket in hand."""
    return queue_of(store().get("scenario")), int(store().get("place", 0))


# --- the tools


@tool
def read_file() -> Tool:
    """Tool that reads a page of the handbook."""

    async def execute(path: str) -> str:
        """Read a file of the desk's handbook.

        Args:
            path: Path within the handbook, as search_docs gives it.
        """
        pages = {str(page.relative_to(WORLD)): page for page in sorted(WORLD.glob("*/*.md"))}
        if path not in pages:
            raise ToolError(f"{path}: no such file")
        return pages[path].read_text(encoding="utf-8")

    return execute


@tool
def search_docs() -> Tool:
    """Tool that finds runbooks."""

    async def execute(query: str) -> str:
        """Search the runbooks.

        Args:
            query: A few words.
        """
        words = set(query.lower().split())
        hits = []
        for page in sorted((WORLD / "runbooks").glob("*.md")):
            text = page.read_text(encoding="utf-8")
            meant = any(
                kind["search"] == query and kind["runbook"] == page.stem for kind in KINDS.values()
            )
            score = 100 * meant + sum(text.lower().count(word) for word in words if len(word) > 3)
            hits.append((score, page, text.splitlines()[0].lstrip("# ")))
        hits.sort(key=lambda hit: (-hit[0], hit[1].name))
        return "\n".join(
            f"{rank}. runbooks/{page.name}: {title}"
            for rank, (_, page, title) in enumerate(hits[:3], start=1)
        )

    return execute


@tool
def list_queue() -> Tool:
    """Tool that shows the queue."""

    async def execute() -> str:
        """Show the queue and the first ticket."""
        queue, place = in_hand()
        waiting = "\n".join(f"- {t.number} {t.kind['subject']}" for t in queue[place + 1 :])
        return f"{len(queue)} tickets.\nIn hand: {queue[place].line()}\nWaiting:\n{waiting}"

    return execute


@tool
def run_query() -> Tool:
    """Tool that queries the replica; it times out now and then, and refuses unknown tables."""

    async def execute(sql: str) -> str:
        """Run a query on the read replica.

        Args:
            sql: One SELECT statement.
        """
        asked = int(store().get("asked", 0)) + 1
        store().set("asked", asked)
        if luck("replica", asked).random() < 0.03:
            raise TimeoutError("the replica did not answer within 20 seconds")
        table = re.search(r"\bFROM (\w+)", sql)
        if table is None or table[1] not in KNOWN_TABLES:
            raise ToolError(f'ERROR: relation "{table[1] if table else ""}" does not exist')
        queue, place = in_hand()
        ticket = queue[place]
        if table[1].startswith("customer_"):
            facts = ticket.facts
            region = ("EU-north", "EU-west", "UK")[len(facts["customer"]) % 3]
            row = f"{facts['customer_id']} | {facts['customer']} | business | {region}"
            return f"customer_id | name | plan | region\n{row}\n(1 row)"
        rows = [" | ".join(map(ticket.text, row)) for row in ticket.kind["values"]]
        return "\n".join(
            [ticket.kind["columns"].replace(", ", " | "), *rows, f"({len(rows)} rows)"]
        )

    return execute


@tool
def update_ticket() -> Tool:
    """Tool that writes a ticket's note and hands out the next ticket."""

    async def execute(ticket: str, status: str, note: str) -> str:
        """Update the ticket in hand and get the next one.

        Args:
            ticket: The ticket's number.
            status: resolved, waiting or escalated.
            note: What the customer reads.
        """
        store().set("last_note", note)
        queue, place = in_hand()
        if ticket != queue[place].number:
            raise ToolError(f"{ticket} is not in hand; in hand is {queue[place].number}")
        store().set("place", place + 1)
        if place + 1 == len(queue):
            return f"{ticket} is {status}. The queue is empty."
        left = len(queue) - place - 1
        return f"{ticket} is {status}. {left} left.\nIn hand: {queue[place + 1].line()}"

    return execute
