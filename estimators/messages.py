"""What a request says: its messages, with their texts, images and calls."""

from __future__ import annotations

from dataclasses import dataclass, field

from .fields import fail
from .images import Image

ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function", "model"})


@dataclass(frozen=True, slots=True)
class Call:
    """A function the model called. ``legacy``: in the form of ``function_call``, whose counts are published."""

    name: str
    arguments: str
    legacy: bool = False
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """Which call a message answers, and where it says so. What the call gave is text of the message."""

    call_id: str
    path: str


@dataclass(frozen=True, slots=True)
class Message:
    """One message: its texts and images in order, the calls it makes, and those it answers."""

    role: str
    texts: tuple[str, ...] = ()
    name: str | None = None
    calls: tuple[Call, ...] = ()
    images: tuple[Image, ...] = ()
    results: tuple[Result, ...] = ()

    def own_texts(self) -> tuple[str, ...]:
        """Every text the message holds, its name and calls among them."""
        calls = (text for call in self.calls for text in (call.name, call.arguments))
        return (*((self.name,) if self.name else ()), *self.texts, *calls)


@dataclass(slots=True)
class Content:
    """What the parts of one message add up to while it is read."""

    texts: list[str] = field(default_factory=list)
    images: list[Image] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)

    def message(self, role: str, name: str | None = None) -> Message:
        return Message(role, tuple(self.texts), name, tuple(self.calls), tuple(self.images), tuple(self.results))


def check_role(role: str, path: str) -> None:
    if role not in ROLES:
        fail(path, f"unknown role {role[:40]!r}; known: {', '.join(sorted(ROLES))}")


def check_results(messages: tuple[Message, ...]) -> None:
    """Refuse a result whose call no earlier message makes, as OpenAI and Anthropic do.

    Where a call has no id, nothing can be said.
    """
    made: set[str] = set()
    for message in messages:
        for result in message.results:
            if result.call_id not in made:
                fail(result.path, f"no earlier message makes the call {result.call_id[:80]!r}")
        for call in message.calls:
            if call.id is None:
                return
            made.add(call.id)
