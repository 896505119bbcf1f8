"""The things that traffic is made of: tenants, messages, responses, requests. Holds data only.

A `Message` is one object wherever a conversation repeats it, so that the truth knows every use of a text.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True, eq=False)
class Tenant:
    """One account. Sister accounts share an `organisation`. `template` numbers the house template it uses."""

    name: str
    organisation: str
    legal_name: str
    contact: str
    country: str
    languages: tuple[str, ...]
    template: int
    system_prompt: str
    lexicon: dict[str, tuple[str, ...]]
    key_prefix: str


@dataclass(slots=True, eq=False)
class ToolCall:
    """A call of a tool; `arguments` is JSON text."""

    name: str
    arguments: str


@dataclass(slots=True, eq=False)
class Message:
    """One message of a conversation.

    `private`: the text was written for its tenant alone. `tainted`: it holds leaked text (a victim's answer, a
    complaint), so that holding it makes nobody a source. `particulars` stand in the text literally. `joint` names the
    tenants that supplied the very same text, where there are several on purpose. `details` are (type, value) of the
    particulars, filled where all kinds of leak are asked for.
    """

    role: str
    content: str | None
    tenant: Tenant | None = None
    private: bool = False
    tainted: bool = False
    particulars: tuple[str, ...] = ()
    language: str = "en"
    tool_call: ToolCall | None = None
    joint: tuple[str, ...] = ()
    details: tuple[tuple[str, str], ...] = ()


@dataclass(slots=True, eq=False)
class Planted:
    """Foreign text in one part of a response. `part` is content, reasoning, arguments or tool_name.

    `label` is the class of an incident with all kinds. `origin` is what stands in the source where the copy was
    altered; `pieces` are the parts of `text` that are foreign where not all of it is; `chain` is (number, place).
    """

    part: str
    choice: int
    text: str
    fault: str
    kind: str
    source: Request | None
    source_side: str | None
    source_text: str
    unlogged: bool = False
    label: str = ""
    origin: str = ""
    pieces: tuple[tuple[int, int], ...] = ()
    language: str = ""
    chain: tuple[int, int] | None = None


@dataclass(slots=True, eq=False)
class Lookalike:
    """Innocent shared text. `text` stands in the response of the request; `others` are requests that hold it too."""

    kind: str
    request: Request
    text: str
    others: tuple[str, ...] = ()


@dataclass(slots=True, eq=False)
class Choice:
    """One answer. A tool call may stand alone, with `content` None."""

    content: str | None
    reasoning: str | None = None
    tool_call: ToolCall | None = None


@dataclass(slots=True, eq=False)
class Request:
    """One inference call, from arrival to the last byte. Times are seconds from the start of the log.

    `shape` and `blocks` are the form of the answer and its own parts, where all kinds of leak are asked for. `retried`:
    the client asks the same again; `given`: the answer went to another request, so the client does not.
    """

    rid: str
    tenant: Tenant
    session: int
    turn: int
    messages: list[Message]
    choices: list[Choice]
    stream: bool
    user: str
    received: float
    prompt_chars: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    host_tokens: int = 0
    worker: int = 0
    connection: int = 0
    slot: int = -1
    admitted: float = -1.0
    finished: float = -1.0
    aborted: bool = False
    logged: bool = True
    key: str = ""
    language: str = "en"
    planted: list[Planted] = field(default_factory=list)
    previous_in_slot: Request | None = None
    response_messages: list[Message] = field(default_factory=list)
    shape: str = ""
    blocks: tuple[str, ...] = ()
    retried: bool = False
    given: bool = False
