"""May these files leave the house? Every check of outgoing bytes in one place; does not decide what happens then.

Three things hold a file back: text that leaked (`egress`), text, numbers or names of a tenant other than the one it is
for (`corpus_check`), and what no check can read (`decoded`). Files under `notify/<tenant_ref>/` are for that tenant,
all others for nobody in particular.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from forensics.case.errors import EgressBlocked
from forensics.case.pseudonyms import load_pseudonyms
from forensics.case.store import Case
from forensics.case.words import counted
from forensics.report import corpus_check, egress
from forensics.report.corpus_check import Outgoing
from forensics.report.decoded import View, unfold
from forensics.report.duties import words_of_rules
from forensics.report.egress import Hit
from forensics.report.fields import ADDRESS, words_of_fields
from forensics.report.figures import Numbers
from forensics.report.pictures import words_of_pictures
from forensics.report.render import template_names, template_source, template_texts
from forensics.report.steps import words_of_steps
from forensics.report.tables import words_of_tables


@dataclass(frozen=True)
class Allowed:
    """Words of our own. `digests`: (name, SHA-256) of each shipped file they come from."""

    texts: tuple[str, ...]
    digests: tuple[tuple[str, str], ...]


def allowed_texts(case: Case) -> Allowed:
    """Templates, rules, field texts, heads of pictures, and the sentences of figures, mechanisms and replays."""
    methods = [number.method for number in Numbers.load(case).rows.values()]
    findings = [text for row in case.rows("report/mechanisms") for text in row if isinstance(text, str)]
    findings += [because for _, _, _, _, because, _ in case.rows("report/replays")]
    for query in ("ask/earlier_detection", "ask/records"):
        findings += [text for row in case.rows(query) for text in row if isinstance(text, str)]
    digests = tuple((name, hashlib.sha256(template_source(name).encode()).hexdigest()) for name in template_names())
    return Allowed(
        (
            *template_texts(),
            *words_of_rules(),
            *words_of_fields(),
            *words_of_tables(),
            *words_of_steps(),
            *words_of_pictures(),
            *methods,
            *findings,
        ),
        digests,
    )


def held_back(case: Case, files: Mapping[str, bytes], allowed: tuple[str, ...]) -> list[Hit]:
    """The files that must not leave, each with one reason, sorted by path."""
    tenant_of = {code: tenant for tenant, code in load_pseudonyms(case).tenants.items()}
    names: dict[str, list[str]] = {}
    for tenant, name in case.rows("report/names_of_tenants"):
        if name:
            names.setdefault(tenant, []).append(name)
    for tenant_ref, key, value, *_ in case.rows("report/notice_facts"):
        if key in ADDRESS and tenant_ref in tenant_of:
            names.setdefault(tenant_of[tenant_ref], []).append(value)
    outgoing: list[Outgoing] = []
    views: list[View] = []
    hits: dict[str, Hit] = {}
    for path, data in sorted(files.items()):
        parts = path.split("/")
        tenant = tenant_of.get(parts[1]) if parts[0] == "notify" and len(parts) > 2 else None
        outgoing.append(Outgoing(path, data, tenant, tuple(names.get(tenant or "", ()))))
        unfolded = unfold(path, data)
        views += unfolded.views
        if unfolded.unread:
            hits[path] = Hit(path, "", place=unfolded.unread[0], what="unread")
    for hit in (
        *egress.check_views(views, egress.passages(case), allowed),
        *corpus_check.check_views(case, outgoing, views, allowed),
    ):
        if hit.path not in hits or hits[hit.path].what == "unread":
            hits[hit.path] = hit
    return [hits[path] for path in sorted(hits)]


def blocked(hits: Sequence[Hit]) -> EgressBlocked:
    """The error of whoever writes nothing where one file may not leave."""
    return EgressBlocked(
        f"{counted(len(hits), 'file')} would let out text; the first is {hits[0].path}: it holds {hits[0].why}; "
        "nothing was written. `forensics explain CASE FRAGMENT` shows a fragment"
    )
