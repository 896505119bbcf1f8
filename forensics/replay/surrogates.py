"""Texts that take the place of customers' texts in a replay: same shape, nothing of what they say. Sends nothing.

What stays: chat marks, line breaks, white space, punctuation, and words of instruction, but never eight words in a
row. What goes: every other word, number and sign (`stand_ins`). The same piece always becomes the same piece, so that
prompts which begin alike begin alike afterwards and part where they parted. Each text of one tenant that is its own
gets canary identifiers in place of something as long, one of them inside the passage that leaked, where there is one.
In scripts without spaces, with a tokenizer, what comes before a piece decides as well.
Deterministic: texts, owners and seed decide.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from forensics.case.errors import MissingInput, UsageError
from forensics.replay.canaries import Original, Places, beginnings
from forensics.replay.segments import GRAM, Segment, segments, word_grams
from forensics.replay.stand_ins import StandIns, Tokens, is_kept, shared_length

if TYPE_CHECKING:
    from tokenizers import Tokenizer

LIMIT = 0.01  # of the token length that a surrogate may be off
_KEPT_IN_A_ROW = GRAM - 2  # and what an apostrophe joins to the last of them
_REPLACED = ("word", "sign", "number")
_SEEDS = 5
_SHORT_FORMS = frozenset("s t m d re ve ll".split())
_MENDS = 3
_SPACES = ("\u0120", "\u2581")  # what stands for a space in vocabularies: byte-level and sentencepiece
_RUN = 64  # code points of a run that are counted together
_OTHERS = 40


class TokenizerFile:
    """Counts tokens with a `tokenizer.json`. Raises UsageError where the library is absent or the file is none."""

    def __init__(self, path: Path) -> None:
        if not path.is_file():
            raise MissingInput(f"--tokenizer {path} is not there; give the model's tokenizer.json")
        try:
            from tokenizers import Tokenizer
        except ImportError:
            raise UsageError("--tokenizer needs the library: pip install 'leak-forensics[replay]'") from None
        try:
            self._tokenizer: Tokenizer = Tokenizer.from_file(str(path))
        except Exception:  # the library raises nothing narrower
            raise UsageError(f"{path.name} is no tokenizer.json of the tokenizers library") from None

    def ids(self, text: str) -> list[int]:
        """The tokens of a text, without any that a model puts around it."""
        return list(self._tokenizer.encode(text, add_special_tokens=False).ids)

    def count(self, text: str) -> int:
        """How many they are."""
        return len(self.ids(text))

    def signs(self) -> list[str]:
        """Runs of letters beyond ASCII that are one token each."""
        found = {self._tokenizer.decode([number]) for number in self._tokenizer.get_vocab().values()}
        return sorted(one for one in found if one and one.isalpha() and not any(letter.isascii() for letter in one))

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where the tokens of a text stand; tokens that are parts of one character are one span."""
        found: list[tuple[int, int]] = []
        for start, end in self._tokenizer.encode(text, add_special_tokens=False).offsets:
            if found and start < found[-1][1]:
                start = found.pop()[0]
            if end > start:
                found.append((start, end))
        return found

    def words(self) -> list[str]:
        """Lower-case words of the vocabulary, each one token after a space."""
        found = (name[1:] for name in self._tokenizer.get_vocab() if name.startswith(_SPACES))
        return sorted(name for name in found if len(name) > 2 and _is_plain(name))

    def endings(self) -> list[str]:
        """Runs of letters of the vocabulary that stand inside words."""
        return sorted(name for name in self._tokenizer.get_vocab() if len(name) > 1 and _is_plain(name))


def _is_plain(name: str) -> bool:
    return name.isascii() and name.isalpha() and name.islower()


@dataclass(frozen=True)
class Surrogates:
    """`texts` and `canaries` by text id; `lengths`: tokens before and after, by text id, empty without a tokenizer."""

    texts: dict[str, str]
    canaries: dict[str, tuple[str, ...]]
    lengths: dict[str, tuple[int, int]]
    prefixes_off: int  # pairs of neighbouring texts that share fewer or more first tokens than before

    @property
    def worst(self) -> float:
        """The greatest share of a text's tokens by which its surrogate is longer or shorter."""
        return max((abs(after - before) / before for before, after in self.lengths.values() if before), default=0.0)


def surrogates(originals: Sequence[Original], seed: int, tokens: Tokens | None = None) -> Surrogates:
    """Surrogates of all texts of a plan at once, since what they share must stay shared."""
    forbidden = {gram for one in originals for gram in word_grams(one.text)}
    for attempt in range(_SEEDS):
        made = _made(originals, f"{seed}|{attempt}", tokens)
        if not any(gram in forbidden for text in made.texts.values() for gram in word_grams(text)):
            return made
    raise UsageError(f"no surrogates without {GRAM} words in a row of an original were found; try another --seed")


def _made(originals: Sequence[Original], seed: str, tokens: Tokens | None) -> Surrogates:
    pieces = {one.text_id: segments(one.text) for one in originals}
    if tokens is not None:
        pieces = {key: _by_token(found, tokens) for key, found in pieces.items()}
    stand_ins = StandIns(_words(pieces.values()), seed, tokens)
    places = Places(originals, pieces, seed, tokens)

    def written() -> dict[str, str]:
        return {key: _written(found, stand_ins, places, tokens) for key, found in sorted(pieces.items())}

    texts = written()
    off = 0
    lengths: dict[str, tuple[int, int]] = {}
    if tokens is not None:
        for _ in range(_MENDS):
            if not _mend(originals, pieces, texts, stand_ins, tokens):
                break
            texts = written()
        lengths = {one.text_id: (tokens.count(one.text), tokens.count(texts[one.text_id])) for one in originals}
        off = len(_strays(originals, texts, tokens))
    canaries = {key: tuple(mark for mark in places.canaries if mark in text) for key, text in texts.items()}
    return Surrogates(texts, canaries, lengths, off)


def _by_token(pieces: Sequence[Segment], tokens: Tokens) -> list[Segment]:
    """The same segments, with runs of signs cut as the tokenizer cuts them: there one token is often several signs."""
    found: list[Segment] = []
    run: list[Segment] = []
    for piece in (*pieces, None):
        if piece is not None and piece.kind == "sign":
            run.append(piece)
            continue
        if run:
            text, first = "".join(sign.text for sign in run), run[0].start
            spans = tokens.spans(text)
            whole = "".join(text[start:end] for start, end in spans) == text
            found += [Segment("sign", text[start:end], first + start) for start, end in spans] if whole else run
            run = []
        if piece is not None:
            found.append(piece)
    return found


def _words(texts: Iterable[Sequence[Segment]]) -> dict[str, frozenset[str]]:
    """All that is replaced, with the characters that come before it."""
    found: dict[str, set[str]] = {}
    for pieces in texts:
        before = ""
        for piece in pieces:
            if piece.kind in _REPLACED:
                found.setdefault(piece.text, set()).add(before)
            before = piece.text[-1] if piece.kind in ("space", "other") and piece.text[-1] != "\n" else ""
    return {word: frozenset(before) for word, before in found.items()}


def _written(pieces: Sequence[Segment], stand_ins: StandIns, places: Places, tokens: Tokens | None) -> str:
    made: list[str] = []
    kept = 0  # words in a row that stayed
    skip = 0
    signs = _Signs(stand_ins, tokens)
    for place, (piece, beginning) in enumerate(zip(pieces, beginnings(pieces), strict=True)):
        canary = places.at(beginning, pieces, place) if skip == 0 else None
        if canary is not None:
            made.append(canary[0])
            skip, kept = canary[1], 0
        if skip:
            skip -= 1
            continue
        if piece.kind not in _REPLACED:
            made.append(piece.text)
        elif _joined(pieces, place) or (piece.kind == "word" and is_kept(piece.text) and kept < _KEPT_IN_A_ROW):
            made.append(piece.text)
            kept += 1
        else:
            made.append(signs.of(piece.text) if piece.kind == "sign" else stand_ins.of(piece.text))
            kept = 0
        if piece.kind != "sign":
            signs.end()
    return "".join(made)


class _Signs:
    """Stand-ins in scripts without spaces, where tokens run across pieces and lengths do not add up.

    The piece's own stand-in where the tokens of what was written since the run began come out right, else another one:
    which, what comes before decides, so that texts which begin alike stay alike.
    """

    def __init__(self, stand_ins: StandIns, tokens: Tokens | None) -> None:
        self._stand_ins, self._tokens = stand_ins, tokens
        self._read = self._written = ""
        self._off = 0  # tokens too many in the runs before

    def of(self, text: str) -> str:
        """The stand-in of the next piece."""
        own = self._stand_ins.of(text)
        if self._tokens is None:
            return own
        if len(self._read) > _RUN:
            self.end()
        self._read += text
        wanted = self._tokens.count(self._read) - self._off
        best, distance = own, 1 << 30
        for attempt in range(_OTHERS):
            one = own if attempt == 0 else self._stand_ins.other(text, attempt)
            off = abs(self._tokens.count(self._written + one) - wanted)
            if off < distance:
                best, distance = one, off
            if off == 0:
                break
        self._written += best
        return best

    def end(self) -> None:
        """The run is over."""
        if self._read and self._tokens is not None:
            self._off += self._tokens.count(self._written) - self._tokens.count(self._read)
        self._read = self._written = ""


def _joined(pieces: Sequence[Segment], place: int) -> bool:
    """Whether this is the `s`, `t`, `re` of a short form such as `it's`."""
    return place > 1 and pieces[place].text in _SHORT_FORMS and pieces[place - 1].text in ("'", "\u2019")


# -- shared beginnings, token by token --------------------------------------------------------------------------------


def _strays(originals: Sequence[Original], texts: Mapping[str, str], tokens: Tokens) -> list[tuple[str, str]]:
    """Neighbouring texts, in the order of their tokens, that share another number of first tokens than before."""
    ids = {one.text_id: list(tokens.ids(one.text)) for one in originals}
    order = sorted(ids, key=lambda key: (ids[key], key))
    made = {key: list(tokens.ids(texts[key])) for key in order}
    return [
        (one, other)
        for one, other in pairwise(order)
        if shared_length(ids[one], ids[other]) != shared_length(made[one], made[other])
    ]


def _mend(
    originals: Sequence[Original],
    pieces: Mapping[str, list[Segment]],
    texts: Mapping[str, str],
    stand_ins: StandIns,
    tokens: Tokens,
) -> int:
    """Give words where texts part other stand-ins, that part after as many tokens as the words do; how many."""
    redrawn = 0
    for one, other in _strays(originals, texts, tokens):
        first, second = pieces[one], pieces[other]
        place = next(
            (at for at, pair in enumerate(zip(first, second, strict=False)) if pair[0].text != pair[1].text), None
        )
        if place is None or first[place].kind not in _REPLACED or second[place].kind not in _REPLACED:
            continue
        word, beside = second[place].text, first[place].text
        wanted = shared_length(tokens.ids(" " + word), tokens.ids(" " + beside))
        redrawn += stand_ins.redraw(word, beside, wanted)
    return redrawn
