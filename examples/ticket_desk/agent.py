"""The agent: a script that decides from what stands in its input, and from nothing else it saw.

While the standing rules and the list of tables stand in the conversation it keeps to them, with a
slip now and then. Once a compaction has trimmed them it writes notes without the ticket's number,
asks the restricted table, guesses names of tables, and reads again what it has read before.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageTool, ModelOutput
from inspect_ai.util import store
from ticket_desk.world import RULES, TABLES, TICKET, WORLD, Ticket, luck, queue_of

TITLES = {
    page.stem: page.read_text(encoding="utf-8").splitlines()[0]
    for page in sorted(WORLD.glob("runbooks/*.md"))
}
"""The first line of each runbook, by which it is seen to stand in the conversation."""

SLIP = 0.08
"""Chance to break a rule that stands in the input."""
FORGETS_NUMBER, FORGETS_RESTRICTED, GUESSES_TABLE = 0.6, 0.7, 0.55
"""Chances to go wrong where the rule, or the list of tables, is gone."""
LOOKS_AGAIN = 0.1
"""Chance to make a query that worked a second time."""
ASKS_ACCOUNT = 0.5
"""Chance that a ticket needs the customer's account too."""


@dataclass(frozen=True)
class View:
    """What the input tells: the results in it, the ticket in hand, what was done for it."""

    pages: str
    ticket: Ticket | None
    done: tuple[tuple[str, bool], ...]
    """Tool, and whether it worked, of each call since the ticket came up."""
    is_empty: bool
    last_query: str = ""
    """The query just made, if the latest call was one that worked."""

    def count(self, tool: str, *, ok: bool | None = None) -> int:
        """Calls of a tool for this ticket, all or only those that worked or failed."""
        return sum(name == tool and ok in (None, worked) for name, worked in self.done)

    @property
    def last_failed(self) -> bool:
        """Whether the latest call failed."""
        return bool(self.done) and not self.done[-1][1]


def decide(messages: list[ChatMessage]) -> ModelOutput:
    """The agent's next turn."""
    turn = int(store().get("turn", 0)) + 1
    store().set("turn", turn)
    rng, view = luck("agent", turn), look(messages)
    if view.is_empty:
        return call(
            "submit", {"answer": "The queue is empty; handed over."}, "That was the last one."
        )
    if "# Standing rules of the desk" not in view.pages and turn == 1:
        return call("read_file", {"path": RULES}, "Starting the shift. The standing rules first.")
    if turn == 2:
        return call("read_file", {"path": TABLES}, "Now the tables of the replica.")
    if view.ticket is None:
        return call("list_queue", {}, "Both read. What is in the queue?")
    return work(view, view.ticket, rng)


def look(messages: list[ChatMessage]) -> View:
    """Read the input from its end back to the ticket in hand."""
    results = [m for m in messages if isinstance(m, ChatMessageTool)]
    pages = "\n".join(m.text for m in results)
    done: list[tuple[str, bool]] = []
    for message in reversed(results):
        hand = message.text.rpartition("In hand: ")[2] if "In hand: " in message.text else ""
        found = TICKET.match(hand)
        if found:
            queue = queue_of(store().get("scenario"))
            ticket = next(t for t in queue if t.number == found[1])
            last = last_query(messages) if done and done[0] == ("run_query", True) else ""
            return View(pages, ticket, tuple(reversed(done)), is_empty=False, last_query=last)
        if "The queue is empty" in message.text:
            return View(pages, None, (), is_empty=True)
        done.append((message.function or "", message.error is None))
    return View(pages, None, (), is_empty=False)


def last_query(messages: list[ChatMessage]) -> str:
    """The SQL of the latest call."""
    answer = next(m for m in reversed(messages) if isinstance(m, ChatMessageAssistant))
    return str((answer.tool_calls or [])[0].arguments["sql"])


def work(view: View, ticket: Ticket, rng: random.Random) -> ModelOutput:
    """One step on the ticket in hand: runbook, data, account, note."""
    knows_tables = "# Read replica: tables" in view.pages
    knows_rules = "# Standing rules of the desk" in view.pages
    page = f"runbooks/{ticket.kind['runbook']}.md"
    asks_account = (
        luck("account", ticket.number).random() < ASKS_ACCOUNT
        and f"{ticket.facts['customer_id']} | {ticket.customer}" not in view.pages
    )
    if page not in view.pages and not view.count("search_docs"):
        return call("search_docs", {"query": ticket.kind["search"]}, search_text(ticket, rng))
    if TITLES[ticket.kind["runbook"]] not in view.pages and not view.count("read_file"):
        return call("read_file", {"path": page}, f"{page} looks right for {ticket.number}.")
    worked, failed = view.count("run_query", ok=True), view.count("run_query", ok=False)
    if not worked and failed < 3:
        guesses = not knows_tables and rng.random() < GUESSES_TABLE
        table = ticket.kind["guess"] if guesses else ticket.kind["table"]
        return call("run_query", {"sql": ticket.query(table)}, query_text(view, table, rng))
    if worked == 1 and view.last_query and rng.random() < LOOKS_AGAIN:
        return call("run_query", {"sql": view.last_query}, "Let me see that once more.")
    if asks_account and worked == 1 and not view.last_failed:
        chance = SLIP if knows_rules else FORGETS_RESTRICTED
        table = "customer_pii" if rng.random() < chance else "customer_ref"
        sql = f"SELECT * FROM {table} WHERE customer_id = '{ticket.facts['customer_id']}' LIMIT 1"
        return call("run_query", {"sql": sql}, f"Which plan is {ticket.customer} on?")
    return close(view, ticket, rng, knows_rules=knows_rules)


def close(view: View, ticket: Ticket, rng: random.Random, *, knows_rules: bool) -> ModelOutput:
    """Write the note; without data the ticket goes to the owning team."""
    seen = bool(view.count("run_query", ok=True))
    note = (
        ticket.text(ticket.kind["note"])
        if seen
        else "We could not confirm this in our data and have passed it to the owning team."
    )
    if rng.random() >= (SLIP if knows_rules else FORGETS_NUMBER):
        note = f"[{ticket.number}] {note}"
    status = ticket.kind["status"] if seen else "escalated"
    text = (
        f"{ticket.number}: {ticket.text(ticket.kind['finding'])}. Closing as the runbook says."
        if seen
        else f"Three queries and no data for {ticket.number}. Escalating."
    )
    arguments = {"ticket": ticket.number, "status": status, "note": note}
    return call("update_ticket", arguments, text)


def search_text(ticket: Ticket, rng: random.Random) -> str:
    """What the agent says as it searches."""
    return rng.choice(
        (
            f"{ticket.number}, {ticket.kind['subject'].lower()}. Runbook first.",
            f"Next is {ticket.number}. Is there a runbook for this?",
            f"{ticket.customer} again? Searching the runbooks for {ticket.number}.",
        )
    )


def query_text(view: View, table: str, rng: random.Random) -> str:
    """What the agent says as it queries."""
    if view.last_failed:
        return rng.choice(("That failed. Once more.", f"Trying {table} this time."))
    return rng.choice(
        (
            f"Now the data: {table}.",
            f"The runbook says to look at {table} first.",
            f"Checking {table}.",
        )
    )


def call(tool: str, arguments: dict[str, object], text: str) -> ModelOutput:
    """An answer that says something and calls a tool."""
    return ModelOutput.for_tool_call("mockllm", tool, arguments, content=text)
