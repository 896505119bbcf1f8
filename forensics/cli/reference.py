"""The pages that are made from the code: docs/cli.md, docs/questions.md, and the table in docs/formats.md.

`python -m forensics.cli.reference docs` writes them; a test compares them with the code.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import typer

CLI_HEAD = """# Command line

Made from the commands' own help by `make docs`; a test keeps it true. `forensics VERB --help` says the same.

Every verb takes `--json` (one object `{schema, case, ok, data, warnings}` on stdout); stdout is the result, stderr
progress and log. A table that does not fit the window is printed as one block of `name: value` lines per row; a pipe
counts as 100 columns wide, or COLUMNS. `NO_COLOR` is respected. `forensics --install-completion` sets up the shell.
Exit codes: [exit-codes.md](exit-codes.md).
"""

QUESTIONS_HEAD = """# Questions

`forensics ask CASE QUESTION` answers each of these from the case; `--format csv` or `json` for other programs.
Made from the headers of `queries/ask/*.sql` and from `queries/questions.toml` by `make docs`; a test keeps it true. How
to add one: [how-to-add.md](how-to-add.md). What every case must answer stands
[at the end](#what-every-case-must-answer).

A parameter is given as `--param NAME=VALUE`. An answer without rows is one row that says why: which stage
has not run, and what the last column here says.
"""

ACCEPTANCE_HEAD = """
## What every case must answer

The questions of those who read a case, and what answers each: a named question, a file of the case, or both. A test
asks all of them of a sample incident and fails where one is without an answer; where the evidence cannot answer, the
answer says so in a row."""


FORMATS_START = "<!-- made by `make docs` from the parsers, profiles and wrappers -->"
FORMATS_END = "<!-- end of the table -->"


@dataclass(frozen=True)
class Parameter:
    """One argument or option as it is declared: how it is written, and what it is for."""

    written: str
    purpose: str
    is_option: bool


def commands() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Every verb with its full name and its function, in the order of the help."""
    from forensics.cli.main import app

    yield from _verbs("forensics", app)


def _verbs(prefix: str, app: typer.Typer) -> Iterator[tuple[str, Callable[..., Any]]]:
    for command in app.registered_commands:
        if command.callback is not None:
            yield f"{prefix} {command.name or command.callback.__name__}", command.callback
    for group in app.registered_groups:
        if group.typer_instance is not None:
            yield from _verbs(f"{prefix} {group.typer_instance.info.name}", group.typer_instance)


def cli_page() -> str:
    """docs/cli.md."""
    return CLI_HEAD + "".join(_command(name, command) for name, command in commands())


def questions_page() -> str:
    """docs/questions.md."""
    from forensics.case.ask import questions

    lines = [QUESTIONS_HEAD, "| question | what it asks | one row per | parameters | no row means |"]
    lines.append("|---|---|---|---|---|")
    for known in questions():
        grain = known.grain.removeprefix("one row per ")
        parameters = ", ".join(f"`{name}`" for name in known.parameters) or "-"
        lines.append(f"| `{known.name}` | {known.question} | {grain} | {parameters} | {known.empty} |")
    return "\n".join(lines) + "\n" + _acceptance()


def _acceptance() -> str:
    from forensics.case.acceptance import acceptance

    lines = [ACCEPTANCE_HEAD]
    reader = ""
    for asked in acceptance():
        if asked.reader != reader:
            reader = asked.reader
            lines += [
                "",
                f"### {reader.capitalize()}",
                "",
                "| | question | answered by | tested by |",
                "|---|---|---|---|",
            ]
        answers = [f"`ask {name}`" for name in asked.queries] + [f"`{name}`" for name in asked.files]
        tests = [_ROWS_TESTS] if asked.queries else []
        cell = ", ".join(f"`{path}`" for path in (*tests, _WALK))
        lines.append(f"| {asked.number} | {asked.asks} | {', '.join(answers)} | {cell} |")
    return "\n".join(lines) + "\n"


_ROWS_TESTS = "tests/case/test_ask.py"
_WALK = "tests/case/test_acceptance.py"


def formats_page(page: str) -> str:
    """docs/formats.md with its table made anew; the rest of `page` stays as it is."""
    from forensics.ingest import transcoders, wrappers
    from forensics.ingest.registry import registry

    known = registry()
    lines = ["| name | read by | what it is | versions | source of knowledge | sample and expected result |"]
    lines += ["|---|---|---|---|---|---|"]
    every = [(_sort(parser), parser.NAME, parser) for parser in (*known.objects, *known.texts)]
    every += [("wrapper", name, wrappers.load(name)) for name in wrappers.NAMES]
    every += [("transcoder", name, transcoders.load(name)) for name in transcoders.NAMES]
    for sort, name, parser in sorted(every, key=lambda entry: (_SORTS.index(entry[0]), entry[1])):
        cells = (f"`{name}`", sort, parser.TITLE, parser.VERSIONS, parser.SOURCE)
        sample = f"`tests/ingest/formats/{name}/`"
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in (*cells, sample)) + " |")
    head, rest = page.split(FORMATS_START)
    return head + FORMATS_START + "\n" + "\n".join(lines) + "\n" + FORMATS_END + rest.split(FORMATS_END)[1]


_SORTS = ("object parser", "line parser", "log parser", "profile", "wrapper", "transcoder")


def _sort(parser: Any) -> str:
    return "profile" if type(parser).__name__ == "Profile" else f"{parser.KIND} parser"


def _command(name: str, function: Callable[..., Any]) -> str:
    parameters = list(_parameters(function))
    arguments = [parameter.written for parameter in parameters if not parameter.is_option]
    lines = ["", f"## {name}", "", "    " + " ".join([name, "[OPTIONS]", *arguments]), "", _one_line(function.__doc__)]
    if parameters:
        lines += ["", "| | |", "|---|---|", *(f"| `{p.written}` | {p.purpose} |" for p in parameters)]
    return "\n".join(lines) + "\n"


def _parameters(function: Callable[..., Any]) -> Iterator[Parameter]:
    """Read from the signature, not from Typer's own tree, which changes between its releases."""
    hints = get_type_hints(function, include_extras=True)
    for name, parameter in inspect.signature(function).parameters.items():
        annotation = hints[name]
        if get_origin(annotation) is not Annotated:
            continue
        kind, info = get_args(annotation)[:2]
        purpose = _one_line(info.help)
        if isinstance(info, typer.models.ArgumentInfo):
            optional = parameter.default is not inspect.Parameter.empty
            written = str(info.metavar)
            optional = optional and not written.startswith("[")
            yield Parameter(f"[{written}]" if optional else written, purpose, is_option=False)
            continue
        parts = list(_parts(kind))
        choices = [choice.value for part in parts for choice in _choices(part)]
        flag = bool in parts or info.count
        value = "" if flag else f" {'/'.join(choices) or info.metavar or 'N'}"
        default = parameter.default
        silent = flag or default in (None, "")
        if default is inspect.Parameter.empty:
            purpose += " Required."
        elif not silent:
            purpose += f" Default: `{getattr(default, 'value', default)}`."
        # In the Annotated style Typer keeps the first name of an option as its default.
        yield Parameter(", ".join((info.default, *info.param_decls)) + value, purpose, is_option=True)


def _parts(kind: Any) -> Iterator[Any]:
    """The type and all that it is made of: `list[Rule] | None` holds Rule."""
    yield kind
    for part in get_args(kind):
        yield from _parts(part)


def _choices(kind: Any) -> Iterator[Enum]:
    if isinstance(kind, type) and issubclass(kind, Enum):
        yield from kind


def _one_line(text: str | None) -> str:
    return " ".join((text or "").split())


def main(folder: Path) -> None:
    """Write the pages into `folder`."""
    (folder / "cli.md").write_text(cli_page(), encoding="utf-8")
    (folder / "questions.md").write_text(questions_page(), encoding="utf-8")
    page = folder / "formats.md"
    page.write_text(formats_page(page.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
