"""What kinds of delicate content does a text seem to hold? Labels with place, detector and score.

Detectors: detect-secrets' patterns for credentials, phonenumbers for phone numbers, check digits (`check_digits`) for
cards, accounts and national numbers, words (data/sensitive_words.toml) for health, special categories and children,
shapes for e-mail, account numbers behind a word that announces them, and code. Why these: docs/categories.md.

A score ranks how much a detector saw (check digits and a word before them: high; words alone: low). It is no
probability, and no label is no proof of anything: labels tell a person where to look. Nothing that keeps text from
leaving rests on them. No files but its own word list, no network, no clock.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from forensics.text import check_digits

CATEGORIES = (
    "credential",
    "email",
    "phone",
    "payment",
    "government_id",
    "account_id",
    "health",
    "special_category",
    "child",
    "code",
)
MOST = 100_000  # code points of one text that are read
LINE = 4_096  # of one line that patterns of others are run over
BEFORE = 40  # code points before a number in which a word may announce it


@dataclass(frozen=True, order=True)
class Label:
    """A place `[start, end)` in code points, what it seems to be, who says so, and how strongly (0 to 1)."""

    start: int
    end: int
    category: str
    detector: str
    score: float


def labels(text: str) -> list[Label]:
    """Every label of a text, sorted; only the first MOST code points are read."""
    text = text[:MOST]
    found: set[Label] = set()
    for detector in (_secrets, _told_secrets, _emails, _phones, _numbers, _announced, _worded, _code):
        found.update(detector(text))
    taken = {(label.start, label.end) for label in found if label.category in ("payment", "government_id")}
    return sorted(label for label in found if label.category != "phone" or not _inside(label, taken))


def _inside(label: Label, taken: set[tuple[int, int]]) -> bool:
    return any(start <= label.start and label.end <= end for start, end in taken)


# -- credentials ------------------------------------------------------------------------------------------------------

_TOLD = re.compile(
    r"(?:\b(?:pass(?:word|phrase|code)|passwd|pwd|pin code|secret key|access key|api[ _-]?key|api[ _-]?token|"
    r"auth(?:entication)? token|bearer|passwort|kennwort|mot de passe|contrase[nñ]a|senha)\b|"
    r"密码|口令|密钥|パスワード|비밀번호)"
    r"\s{0,3}(?:[:=：]|\bis\b|\blautet\b|\best\b|\bes\b|为|是|は)?\s{0,3}[\"'`“「]?([^\s\"'`”」,;，。]{6,200})",
    re.IGNORECASE,
)


@cache
def _plugins() -> tuple[tuple[str, Any], ...]:
    """Detectors of detect-secrets that know the shape of one issuer's keys. Those that only see high entropy or a
    word before a value are left out: prose sets them off."""
    from detect_secrets.plugins import (
        aws,
        azure_storage_key,
        basic_auth,
        cloudant,
        discord,
        github_token,
        gitlab_token,
        ibm_cloud_iam,
        jwt,
        mailchimp,
        npm,
        openai,
        private_key,
        pypi_token,
        sendgrid,
        slack,
        square_oauth,
        stripe,
        telegram_token,
        twilio,
    )  # fmt: skip

    classes = (
        aws.AWSKeyDetector, azure_storage_key.AzureStorageKeyDetector, basic_auth.BasicAuthDetector,
        cloudant.CloudantDetector, discord.DiscordBotTokenDetector, github_token.GitHubTokenDetector,
        gitlab_token.GitLabTokenDetector, ibm_cloud_iam.IbmCloudIamDetector, jwt.JwtTokenDetector,
        mailchimp.MailchimpDetector, npm.NpmDetector, openai.OpenAIDetector, private_key.PrivateKeyDetector,
        pypi_token.PypiTokenDetector, sendgrid.SendGridDetector, slack.SlackDetector, square_oauth.SquareOAuthDetector,
        stripe.StripeDetector, telegram_token.TelegramBotTokenDetector, twilio.TwilioKeyDetector,
    )  # fmt: skip
    return tuple((made.__name__.removesuffix("Detector"), made()) for made in classes)


def _secrets(text: str) -> Iterator[Label]:
    for offset, line in _lines(text):
        if not re.search(r"[A-Za-z0-9+/_-]{16}|://|BEGIN", line):
            continue
        for name, plugin in _plugins():
            # Only the pattern is asked for: the library's verification, which would call the issuer, is never reached.
            for secret in sorted(set(plugin.analyze_string(line))):
                at = line.find(secret)
                if secret and at >= 0:
                    yield Label(offset + at, offset + at + len(secret), "credential", f"detect-secrets:{name}", 0.9)


def _told_secrets(text: str) -> Iterator[Label]:
    for match in _TOLD.finditer(text):
        value = match.group(1)
        if re.search(r"[\d!@#$%^&*_+=-]", value) and not re.fullmatch(r"[a-z]+(-[a-z]+)*[.!?]?", value):
            yield Label(*match.span(1), "credential", "announced secret", 0.6)


# -- e-mail and phone -------------------------------------------------------------------------------------------------

_EMAIL = re.compile(r"(?<![\w.+:/-])[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,8}[A-Za-z\u00a1-\uffff][\w-]{1,62}(?!\w)")
_PHONE_WORD = re.compile(
    r"(?:\b(?:tel|phone|call|mobile|cell|fax|ring|dial|whatsapp|sms|telefon|handy|rufnummer|anruf|téléphone|portable|"
    r"teléfono|móvil|telefone|celular)\b|电话|手机|致电|電話|携帯|전화)",
    re.IGNORECASE,
)
_REGIONS = ("US", "GB", "DE", "FR", "ES", "BR", "IN", "CN", "JP", "KR")


def _emails(text: str) -> Iterator[Label]:
    if "@" in text:
        for match in _EMAIL.finditer(text):
            yield Label(*match.span(), "email", "e-mail shape", 0.9)


def _phones(text: str) -> Iterator[Label]:
    """International numbers anywhere; national ones only behind a word that announces them, in a few large plans."""
    if len(re.findall(r"\d", text)) < 7:
        return
    import phonenumbers

    spans: dict[tuple[int, int], float] = {}
    if re.search(r"[+＋]\s?\d", text):
        for match in phonenumbers.PhoneNumberMatcher(text, None):
            spans[match.start, match.end] = 0.8
    announced = [match.end() for match in _PHONE_WORD.finditer(text)]
    for end in announced[:200]:
        window = text[end : end + BEFORE]
        for region in _REGIONS:
            for match in phonenumbers.PhoneNumberMatcher(window, region):
                spans.setdefault((end + match.start, end + match.end), 0.7)
    for (start, end), score in spans.items():
        yield Label(start, end, "phone", "phonenumbers", score)


# -- numbers with check digits ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Number:
    """A kind of number: its shape, its check, and words one of which must stand before it where the check is weak."""

    name: str
    category: str
    shape: re.Pattern[str]
    check: Callable[[str], bool]
    words: re.Pattern[str] | None = None


def _words(*words: str) -> re.Pattern[str]:
    plain = "|".join(re.escape(word) for word in words if word.isascii())
    other = "|".join(re.escape(word) for word in words if not word.isascii())
    return re.compile(rf"\b(?:{plain})\b" + (f"|{other}" if other else ""), re.IGNORECASE)


def _digits(spaced: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w.]){spaced}(?![\w]|[.,]\d)")


_S = r"[ -]?"
_NUMBERS = (
    _Number("card number", "payment", _digits(r"\d{4}(?:[ -]?\d){9,15}"), check_digits.card),
    _Number("IBAN", "payment", _digits(r"[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]){11,28}"), check_digits.iban),
    _Number("US SSN", "government_id", _digits(r"\d{3}-\d{2}-\d{4}"), check_digits.us_ssn),
    _Number("US SSN", "government_id", _digits(r"\d{9}"), check_digits.us_ssn, _words("ssn", "social security")),
    _Number(
        "UK NHS number", "government_id", _digits(rf"\d{{3}}{_S}\d{{3}}{_S}\d{{4}}"), check_digits.uk_nhs, _words("nhs")
    ),
    _Number(
        "UK NINO",
        "government_id",
        _digits(
            rf"(?!BG|GB|NK|KN|TN|NT|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z]{_S}\d{{2}}{_S}\d{{2}}{_S}\d{{2}}{_S}[A-D]"
        ),
        lambda number: True,
    ),
    _Number("Chinese resident ID", "government_id", re.compile(r"(?<!\d)\d{17}[\dXx](?!\d)"), check_digits.cn_resident),
    _Number(
        "Japanese My Number",
        "government_id",
        re.compile(r"(?<!\d)\d{4}[ -]?\d{4}[ -]?\d{4}(?!\d)"),
        check_digits.jp_my_number,
        _words("my number", "マイナンバー", "個人番号"),
    ),
    _Number(
        "German tax ID",
        "government_id",
        _digits(r"\d{2}[ ]?\d{3}[ ]?\d{3}[ ]?\d{3}"),
        check_digits.de_tax,
        _words("steuer-id", "steuer-identifikationsnummer", "steueridentifikationsnummer", "idnr", "tax id"),
    ),
    _Number(
        "Indian Aadhaar",
        "government_id",
        _digits(rf"\d{{4}}{_S}\d{{4}}{_S}\d{{4}}"),
        check_digits.in_aadhaar,
        _words("aadhaar", "aadhar", "uidai", "आधार"),
    ),
    _Number("Brazilian CPF", "government_id", _digits(r"\d{3}\.\d{3}\.\d{3}-\d{2}"), check_digits.br_cpf),
    _Number("Brazilian CPF", "government_id", _digits(r"\d{11}"), check_digits.br_cpf, _words("cpf")),
    _Number("Spanish DNI", "government_id", _digits(r"[XYZ\d]\d{7}[ -]?[A-Z]"), check_digits.es_dni),
    _Number(
        "French NIR",
        "government_id",
        _digits(r"[12](?:[ ]?\d){14}"),
        check_digits.fr_nir,
        _words("nir", "sécurité sociale", "securite sociale", "insee"),
    ),
    _Number(
        "passport number",
        "government_id",
        _digits(r"[A-Z]{0,2}\d{6,9}[A-Z]?"),
        lambda number: True,
        _words("passport", "reisepass", "passeport", "pasaporte", "护照", "旅券", "パスポート", "여권"),
    ),
    _Number(
        "driving licence",
        "government_id",
        _digits(r"[A-Z0-9]{6,18}"),
        lambda number: sum(c.isdigit() for c in number) >= 4,
        _words("driving licence", "driver's license", "drivers license", "führerschein", "驾驶证", "運転免許"),
    ),
)


def _numbers(text: str) -> Iterator[Label]:
    for kind in _NUMBERS:
        at = 0
        while (match := kind.shape.search(text, at)) is not None:
            start = match.start()
            parts = [start + gap.start() for gap in re.finditer("[ -]", match.group())]
            end = next((end for end in (match.end(), *reversed(parts)) if _holds(kind, text, start, end)), None)
            if end is not None:
                yield Label(start, end, kind.category, kind.name, 0.9 if kind.words is None else 0.8)
            at = end or (parts[0] + 1 if parts else match.end())


def _holds(kind: _Number, text: str, start: int, end: int) -> bool:
    """Is the passage such a number? What stands beside one, such as a date or a code, may look like more of it."""
    if kind.words is not None and not kind.words.search(text[max(0, start - BEFORE) : start]):
        return False
    return kind.check(re.sub(r"[^0-9A-Za-z]", "", text[start:end]).upper())


# -- numbers that a word announces ------------------------------------------------------------------------------------

_ANNOUNCED = re.compile(
    r"(?:\b(?:account|acct|customer|client|contract|policy|invoice|member(?:ship)?|subscriber|meter|loan|case|chart|"
    r"badge|order|reference|claim|file|konto|kunden|vertrags?|rechnungs?|policen?|mitglieds?|compte|contrat|facture|"
    r"cuenta|contrato|factura|conta)(?:[ -]?(?:no|number|nr|num|id|nummer|numéro|número|serial))?\b\.?|"
    r"\b(?:kontonummer|kundennummer|vertragsnummer|rechnungsnummer|mrn)\b|"
    r"账号|账户|帐号|合同编号|客户编号|保单号|订单号|口座番号|契約番号|顧客番号|계좌번호|계약번호)"
    r"(?:号|编号|\s|[:：#№]|\bis\b|\bist\b|は|为|是){0,6}"
    r"((?=(?:[A-Z/_.-]{0,80}\d){4})[A-Z0-9](?:[A-Z0-9]|[/_.-](?=[A-Z0-9])){4,40})",
    re.IGNORECASE,
)


def _announced(text: str) -> Iterator[Label]:
    for match in _ANNOUNCED.finditer(text):
        value = match.group(1)
        if not re.fullmatch(r"(19|20)\d\d[-/.]\d{1,2}[-/.]\d{1,2}", value):
            yield Label(*match.span(1), "account_id", "announced number", 0.6)


# -- words ------------------------------------------------------------------------------------------------------------


@cache
def _lists() -> tuple[tuple[str, re.Pattern[str], frozenset[str]], ...]:
    """Category, a pattern over all its words, and those that are enough alone."""
    data = tomllib.loads((Path(__file__).parent / "data" / "sensitive_words.toml").read_text(encoding="utf-8"))
    made = []
    for category in ("health", "special_category", "child"):
        words = [*data[category]["strong"], *data[category]["weak"]]
        spaced = sorted((word for word in words if not _unspaced(word)), key=len, reverse=True)
        signs = sorted((word for word in words if _unspaced(word)), key=len, reverse=True)
        pattern = r"(?<!\w)(?:" + "|".join(map(re.escape, spaced)) + r")(?!\w)|" + "|".join(map(re.escape, signs))
        made.append((category, re.compile(pattern, re.IGNORECASE), frozenset(data[category]["strong"])))
    return tuple(made)


def _unspaced(word: str) -> bool:
    return any("\u3040" <= sign <= "\u30ff" or "\u4e00" <= sign <= "\u9fff" or sign >= "\uac00" for sign in word)


def _worded(text: str) -> Iterator[Label]:
    for category, pattern, strong in _lists():
        places = [(match.start(), match.end(), match.group().lower()) for match in pattern.finditer(text)]
        different = {word for _, _, word in places}
        if different & strong or len(different) >= 2:
            score = min(0.7, (0.3 if different & strong else 0.1) + 0.1 * len(different))
            yield Label(places[0][0], places[-1][1], category, "words", round(score, 2))


# -- code -------------------------------------------------------------------------------------------------------------

_CODE = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        r"^[ \t]*(?:def|class|async def) \w+\s?[(:]",
        r"^[ \t]*(?:from [\w.]+ )?import [\w.{ ]+",
        r"[;{]\s*$",
        r"^[ \t]*(?:public|private|static|const|let|var|func|fn|func \w+|#include|package)\b.*[;{=(>]",
        r"=>|->|::|&&|\|\|",
        r"(?i)\bselect\b[^;]{1,200}\bfrom\b\s+\w+",
        r"(?i)^[ \t]*(?:create table|insert into|update \w+ set|alter table)\b",
        r"</[a-zA-Z][\w-]*>",
        r"\w\([^()\n]{0,80}\)\s*(?:[;{:]|$)",
        r"^[ \t]*(?:if|for|while)\b.{0,120}[:{]\s*$",
        r"\w\[[\w\"']+\]",
        r"^[ \t]*return\b.{0,120}$",
        r"^[ \t]*(?:\$ |#!)\S+",
        r"^[ \t]*[\w.]+\s?=\s?[\w\"'(\[{]",
    )
)


def _code(text: str) -> Iterator[Label]:
    places = [match.span() for pattern in _CODE if (match := pattern.search(text))]
    if len(places) >= 3:
        start, end = min(start for start, _ in places), max(end for _, end in places)
        yield Label(start, end, "code", "shape of code", round(min(0.9, 0.2 + 0.1 * len(places)), 2))


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Offset and text of each line; long lines in pieces that overlap by a quarter."""
    offset = 0
    for line in text.split("\n"):
        for start in range(0, max(1, len(line)), LINE * 3 // 4):
            yield offset + start, line[start : start + LINE]
            if start + LINE >= len(line):
                break
        offset += len(line) + 1
