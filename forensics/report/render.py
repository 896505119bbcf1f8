"""How do values get into HTML and Markdown without becoming markup? Knows no report.

HTML: everything is escaped; only pictures made here are markup. Markdown: every value is escaped on output, so that no
template can forget it; `code` puts an id into a code span of its own.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from forensics.text.safe_text import safe_text

if TYPE_CHECKING:
    from jinja2 import Environment

NOT_MEASURED = "not measured"
_WHOLE = 1000  # from which on a fraction is not shown
# What can start markup in the middle of a line, a bare link, or a list or heading at its beginning.
_ACTIVE = re.compile(r"[\\`*_\[\]<>|~&!#@$]|:(?=/)|(?<=www)\.|^[-+=]|(?<=^\d)[.)]", re.IGNORECASE)


class Markdown(str):
    """Markdown that was made here and is not escaped again."""

    __slots__ = ()


def markdown_text(value: Any) -> Any:
    """A value as plain Markdown text: controls visible, line breaks gone, punctuation escaped."""
    if isinstance(value, Markdown):
        return value
    return Markdown(_ACTIVE.sub(r"\\\g<0>", safe_text(value))) if isinstance(value, str) else value


def markdown_code(value: str) -> Markdown:
    """An id as a code span that nothing in it can end. Not for tables: a bar inside would end the cell."""
    text = safe_text(value)
    fence = "`" * (max((len(run) for run in re.findall("`+", text)), default=0) + 1)
    pad = " " if text.startswith("`") or text.endswith("`") or not text else ""
    return Markdown(f"{fence}{pad}{text}{pad}{fence}")


def html_code(value: str) -> Any:
    """An id in a code element."""
    from markupsafe import Markup

    return Markup("<code>{}</code>").format(safe_text(value))


def html_value(value: Any) -> Any:
    """A value as text for HTML, controls visible; the environment escapes it afterwards."""
    from markupsafe import Markup

    return safe_text(value) if isinstance(value, str) and not isinstance(value, Markup) else value


@cache
def environment(markup: str) -> Environment:
    """The template environment for `html` or `md`, made once. Undefined names are errors, not blanks."""
    from jinja2 import BaseLoader, StrictUndefined, TemplateNotFound
    from jinja2 import Environment as JinjaEnvironment

    class Shipped(BaseLoader):
        def get_source(self, environment: Environment, template: str) -> tuple[str, None, None]:
            if template not in template_names():
                raise TemplateNotFound(template)
            return template_source(template), None, None

    html = markup == "html"
    made = JinjaEnvironment(
        loader=Shipped(),
        autoescape=html,  # noqa: S701 - Markdown has its own escaping, in finalize
        undefined=StrictUndefined,
        finalize=html_value if html else markdown_text,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters.update(
        thousands=thousands,
        minute_down=minute_down,
        minute_up=minute_up,
        percent_range=percent_range,
        capitalized=capitalized,
    )
    made.filters["code"] = safe_text if html else markdown_code
    made.filters["ident"] = html_code if html else markdown_code
    # What a macro wrote is markup already: its values were escaped inside it.
    made.filters["said"] = (lambda text: text) if html else Markdown
    return made


@cache
def template_names() -> tuple[str, ...]:
    """Every shipped template, sorted."""
    folder = files("forensics.report") / "templates"
    return tuple(sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".j2")))


def languages() -> tuple[str, ...]:
    """Languages that letters have words for."""
    return tuple(sorted(name.split(".")[1] for name in template_names() if name.startswith("words.")))


@cache
def template_source(name: str) -> str:
    """The source of a shipped template."""
    return (files("forensics.report") / "templates" / name).read_text(encoding="utf-8")


@cache
def template_texts() -> tuple[str, ...]:
    """The words of our own in the templates, without expressions: with their markup, as a file is written (any page
    begins like ours), and without it, as it is read; and the labels and phrases of languages."""
    written = [re.sub(r"\{[{%#].*?[}%#]\}", " ", template_source(name), flags=re.DOTALL) for name in template_names()]
    read = (re.sub(r"<[^>]*>", " ", text) for text in written)
    words = (name for name in template_names() if name.startswith("words."))
    return (*written, *read, *(" | ".join(re.findall(r'"([^"\n]*)"', template_source(name))) for name in words))


def thousands(value: int | float | None) -> str:
    """A count with separators; `not measured` for None."""
    if value is None:
        return NOT_MEASURED
    if isinstance(value, int) or value == int(value):
        return f"{int(value):,}"
    return f"{round(value):,}" if value >= _WHOLE else f"{value:.4g}"


def capitalized(text: str) -> str:
    """A sentence with its first letter large; the rest as it is."""
    return text[:1].upper() + text[1:]


def percent_range(low: float | None, high: float | None) -> str:
    """Limits of a share, 0..1, as `0.1 % to 2.3 %`; `not known` without them."""
    return "not known" if low is None or high is None else f"{100 * low:.2g} % to {100 * high:.3g} %"


def minute_down(microseconds: int | None) -> str:
    """A time, in microseconds since 1970, down to the minute, UTC."""
    return "unknown" if microseconds is None else _minute(_moment(microseconds))


def minute_up(microseconds: int | None) -> str:
    """A time, in microseconds since 1970, up to the minute, UTC."""
    if microseconds is None:
        return "unknown"
    moment = _moment(microseconds)
    whole = moment.replace(second=0, microsecond=0)
    return _minute(whole if whole == moment else whole + timedelta(minutes=1))


def _moment(microseconds: int) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=microseconds)


def _minute(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%d %H:%M UTC")
