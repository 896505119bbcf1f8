"""Every figure of a sentence comes from the figures of the case: no template types one, in digits or in words."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest
from jinja2 import Environment, nodes

import forensics.report

FOLDER = Path(forensics.report.__file__).parent / "templates"
TEMPLATES = sorted(
    path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*.j2") if not path.name.startswith("style")
)
# Names that hold digits and are no figures.
NAMES = re.compile(r"SHA-256|UTF-8|Ed25519")
WORDS = (
    "zero two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen "
    "nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion dozen half quarter "
    "thirds twice thrice percent"
).split()
WORD = re.compile(rf"(?<!from )\b(?:{'|'.join(WORDS)})s?\b", re.IGNORECASE)
# `one` as a number; as a pronoun or an article it counts nothing.
ONE = re.compile(r"\bone\b(?! of several| possible customer| that | class| by one| end\b| or more)", re.IGNORECASE)
PRONOUN = re.compile(r"\b(?:no|any|each|every|of|last|first|the|this|that|which|affected|with) one\b", re.IGNORECASE)
# Chinese numerals before a counter; \u4e00 alone is an article there.
COUNTED = re.compile(
    "[\u4e8c\u4e09\u56db\u4e94\u516d\u4e03\u516b\u4e5d\u5341\u767e\u5343\u4e07\u4ebf\u4e24]"
    "[\u4e2a\u4efd\u6761\u6b21\u9879\u540d\u4f4d\u5929\u5e74\u5c0f\u5206\u79d2\u5468\u8d77\u5bb6\u5c01\u5904\u6bb5\u5b57\u4eba\u500d]|\u767e\u5206\u4e4b"
)


def typed(source: str) -> list[str]:
    """What a template types itself and a reader takes for a figure."""
    found: list[str] = []
    for text in _texts(Environment(extensions=["jinja2.ext.do"]).parse(source)):
        plain = NAMES.sub(" ", re.sub(r"<[^>]*>", " ", text))
        found += re.findall(r"\S*\d\S*", plain) + WORD.findall(plain) + COUNTED.findall(plain)
        found += ONE.findall(PRONOUN.sub(" ", plain))
    return found


def _texts(tree: nodes.Node) -> Iterator[str]:
    data: list[str] = []
    for output in tree.find_all(nodes.Output):
        for node in output.nodes:
            if isinstance(node, nodes.TemplateData):
                data.append(node.data)
            else:
                yield from _constants(node)
    for assigned in tree.find_all(nodes.Assign):  # tables of words
        for constant in assigned.node.find_all(nodes.Const):
            yield str(constant.value)
    yield "".join(data)  # as a whole: a tag may be parted by an expression


def _constants(node: nodes.Node) -> Iterator[str]:
    """Constants that are printed: not names of figures, keys, indices, or what something is compared with."""
    if isinstance(node, nodes.Const | nodes.TemplateData):
        yield str(node.value if isinstance(node, nodes.Const) else node.data)
    elif isinstance(node, nodes.CondExpr):
        for branch in (node.expr1, node.expr2):
            if branch is not None:
                yield from _constants(branch)
    elif isinstance(node, nodes.Filter):
        if node.node is not None:
            yield from _constants(node.node)
    elif not isinstance(node, nodes.Call | nodes.Getitem | nodes.Getattr | nodes.Compare | nodes.Test):
        for child in node.iter_child_nodes():
            yield from _constants(child)


@pytest.mark.parametrize("name", TEMPLATES)
def test_no_template_types_a_number(name: str) -> None:
    assert typed((FOLDER / name).read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "source",
    [
        "155 responses",
        "<p>Two customers</p>",
        "{{ 155 }} responses",
        "{{ '155' }} responses",
        "{{ x if y else 'three of them' }}",
        "{{ 155 | thousands }}",
        "about half of them",
        "there is one customer",
        "twice as many",
        "{% set words = {'a': '155 responses'} %}",
        "\u5171\u4e09\u4e2a\u5ba2\u6237",
    ],
)
def test_a_typed_number_is_found(source: str) -> None:
    assert typed(source)


@pytest.mark.parametrize(
    "source",
    [
        "{{ numbers.of('responses.length_80') }} of them",
        "{{ rows[:3] }}",
        "<th scope='col' class='h2'>one of several sources</th>",
        "{% for x in rows[:50] %}{{ x }}{% endfor %}",
        "SHA-256",
        "after the last affected one",
        "{{ 'yes' if n == 2 else 'no' }}",
    ],
)
def test_what_is_no_figure_is_let_through(source: str) -> None:
    assert typed(source) == []


class Sentences(HTMLParser):
    """The text of paragraphs, list items and captions outside tables and pictures."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.depth = self.hidden = 0
        self.text: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.depth += tag in ("p", "li", "figcaption", "summary")
        self.hidden += tag in ("table", "svg", "style")

    def handle_endtag(self, tag: str) -> None:
        self.depth -= tag in ("p", "li", "figcaption", "summary")
        self.hidden -= tag in ("table", "svg", "style")

    def handle_data(self, data: str) -> None:
        if self.depth and not self.hidden:
            self.text.append(data)


@pytest.mark.parametrize("which", ["small", "hostile"])
def test_every_figure_of_a_sentence_stands_in_numbers_json(which: str, request: pytest.FixtureRequest) -> None:
    root: Path = request.getfixturevalue(which)
    listed = json.loads((root / "out/numbers.json").read_text())["numbers"]
    allowed = {f"{number[key]:,}" for number in listed for key in ("n", "total") if number[key] is not None}
    allowed |= {
        f"{100 * number['n'] / number['total']:.3g}" for number in listed if number["n"] is not None and number["total"]
    }
    allowed |= {f"{100 * number[key]:.3g}" for number in listed for key in ("low", "high") if number[key] is not None}
    allowed |= {
        f"{n['value']:,}" for n in listed if isinstance(n["value"], int | float) and not isinstance(n["value"], bool)
    }
    times = [n["value"] for n in listed if isinstance(n["value"], str)]
    methods = " ".join(number["method"] for number in listed)
    prose = " ".join("".join(Sentences((root / "report/report.html").read_text(encoding="utf-8")).text).split())
    prose = re.sub(r"[FRTWC]-[0-9A-Za-z]+|SHA-256", " ", prose)
    for moment in set(re.findall(r"\d{4}-\d{2}-\d{2} \d{2}:\d{2} UTC", prose)):
        assert any(value[:10] == moment[:10] for value in times), moment
        prose = prose.replace(moment, " ")
    figures = re.findall(r"(?<![\w.])\d[\d,.]*\d|(?<![\w.])\d", prose)
    assert len(figures) > 20
    strange = [
        f
        for f in figures
        if f not in allowed and f not in re.findall(r"[\d,.]*\d", methods) and f not in ("1,000,000", "1")
    ]
    assert strange == []
