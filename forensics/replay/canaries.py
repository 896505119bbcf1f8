"""Where does a surrogate carry its canaries? Chooses the places and makes the identifiers; writes no text.

A canary takes the place of something exactly as long in a text of one tenant: an identifier that stands there already,
or a stretch of words, behind all that the text shares with other tenants' texts. Its place is known by all that comes
before it, so that texts which begin alike carry the same one.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise, product

from forensics.replay.segments import Segment
from forensics.replay.stand_ins import Tokens, shared_length

_CANARY_TOKENS, _CANARY_CHARACTERS = range(9, 19), range(9, 29)
_IN_IDENTIFIER = frozenset("-_./#")
_WORDED = ("word", "sign", "number")


@dataclass(frozen=True)
class Original:
    """A text to replace. `owners`: tenants that used it; `leaked`: `[start, end)` of passages that others received."""

    text_id: str
    text: str
    owners: frozenset[str]
    leaked: tuple[tuple[int, int], ...] = ()


class Places:
    """Where a canary stands: known by all that comes before it, so that texts which begin alike carry the same one."""

    def __init__(
        self, originals: Sequence[Original], pieces: Mapping[str, list[Segment]], seed: str, tokens: Tokens | None
    ) -> None:
        self.canaries: list[str] = []
        self._seed, self._tokens = seed, tokens
        self._at: dict[bytes, tuple[str, tuple[str, ...]]] = {}
        self._everything = "\0".join(one.text for one in originals)
        own = _own_starts(originals, pieces)
        for one in sorted(originals, key=lambda one: one.text_id):
            if len(one.owners) <= 1:
                self._place(one, pieces[one.text_id], own[one.text_id])

    def at(self, beginning: bytes, pieces: Sequence[Segment], place: int) -> tuple[str, int] | None:
        """The canary that stands at this place, and how many segments it takes."""
        found = self._at.get(beginning)
        if found is None or tuple(piece.text for piece in pieces[place : place + len(found[1])]) != found[1]:
            return None
        return found[0], len(found[1])

    def _place(self, one: Original, pieces: Sequence[Segment], own: int) -> None:
        taken: list[tuple[int, int]] = []
        keys = beginnings(pieces)
        inside = [_range(pieces, low, high) for low, high in one.leaked]
        for stretch in (*inside[:1], (0, len(pieces))):
            low, high = max(stretch[0], own), stretch[1]
            for start, stop in chain(_identifiers(pieces, low, high), _stretches(pieces, low, high, self._fits)):
                apart = all(stop <= other[0] or start >= other[1] for other in taken)
                if apart and self._put(pieces, keys[start], start, stop):
                    taken.append((start, stop))
                    break

    def _put(self, pieces: Sequence[Segment], key: bytes, start: int, stop: int) -> bool:
        window = tuple(piece.text for piece in pieces[start:stop])
        if key in self._at:
            return self._at[key][1] == window  # the same place of the same tenant's other text
        before = " " if start and pieces[start - 1].kind == "space" else ""
        canary = self._canary("".join(window), before)
        if canary is None:
            return False
        self._at[key] = (canary, window)
        self.canaries.append(canary)
        return True

    def _fits(self, text: str) -> int:
        """Whether something of this length can be a canary: below 0 too short, above 0 too long."""
        size = len(text) if self._tokens is None else self._tokens.count(" " + text)
        bounds = _CANARY_CHARACTERS if self._tokens is None else _CANARY_TOKENS
        return 0 if size in bounds else -1 if size < bounds.start else 1

    def _canary(self, window: str, before: str) -> str | None:
        """An identifier that is as long as `window`, and stands nowhere else; None: there is none."""
        if self._fits(window) != 0:
            return None
        count: Callable[[str], int] = len if self._tokens is None else self._tokens.count
        wanted = count(before + window)
        for number, (letters, first, second) in enumerate(product((2, 3, 4), range(3, 12), range(2, 12))):
            if self._tokens is None and letters + first + second + 2 != len(window):
                continue
            digest = hashlib.blake2b(f"{self._seed}|{len(self.canaries)}|{number}".encode(), digest_size=32).digest()
            name = "".join("BCDFGHJKLMNPQRSTVWXZ"[byte % 20] for byte in digest[:letters])
            digits = str(int.from_bytes(digest[4:], "big"))
            canary = f"{name}-{digits[:first]}-{digits[first : first + second]}"
            if count(before + canary) == wanted and canary not in self._everything:
                return canary
        return None


def _encoded(text: str) -> bytes:
    data = text.encode("utf-8", "surrogatepass")
    return len(data).to_bytes(4, "big") + data


def beginnings(pieces: Sequence[Segment]) -> list[bytes]:
    """Per segment, a digest of all before it."""
    beginning = hashlib.blake2b(digest_size=12)
    keys: list[bytes] = []
    for piece in pieces:
        keys.append(beginning.digest())
        beginning.update(_encoded(piece.text))
    return keys


def _own_starts(originals: Sequence[Original], pieces: Mapping[str, list[Segment]]) -> dict[str, int]:
    """How many first segments each text shares with a text of another tenant, at the most."""
    keys = [one.text_id for one in originals]
    words = {key: [piece.text for piece in pieces[key]] for key in keys}
    owners = {one.text_id: one.owners for one in originals}
    order = sorted(keys, key=lambda key: (words[key], key))
    shared = dict.fromkeys(keys, 0)
    # Among texts in order, what one shares with a far one is the least that neighbours between share.
    for direction in (order, order[::-1]):
        for place, key in enumerate(direction):
            common = 1 << 60
            for former, later in pairwise(direction[place::-1]):
                common = min(common, shared_length(words[former], words[later]))
                if common <= shared[key]:
                    break
                if owners[later] != owners[key]:
                    shared[key] = common
                    break
    return shared


def _range(pieces: Sequence[Segment], low: int, high: int) -> tuple[int, int]:
    """The segments that lie wholly in `[low, high)` code points."""
    start = bisect_left(pieces, low, key=lambda piece: piece.start)
    stop = bisect_right(pieces, high, key=lambda piece: piece.start + len(piece.text))
    return start, max(start, stop)


def _identifiers(pieces: Sequence[Segment], low: int, high: int) -> Iterable[tuple[int, int]]:
    """Runs without a space that hold a number: what looks like an identifier already."""
    start = low
    while start < high:
        stop = start
        while stop < high and (pieces[stop].kind in ("word", "number") or pieces[stop].text in _IN_IDENTIFIER):
            stop += 1
        end = stop
        while end > start and pieces[end - 1].kind == "other":
            end -= 1
        whole = start == 0 or pieces[start - 1].kind not in ("word", "number")
        if whole and end - start > 1 and any(piece.kind == "number" for piece in pieces[start:end]):
            yield start, end
        start = max(stop, start) + 1


def _stretches(pieces: Sequence[Segment], low: int, high: int, fits: Callable[[str], int]) -> Iterable[tuple[int, int]]:
    """Runs of words with single spaces between them that are as long as a canary."""
    for start in range(low, high):
        first = pieces[start].kind
        if first != "sign" and (first != "word" or (start and pieces[start - 1].kind not in ("space", "mark"))):
            continue
        text = ""
        for stop in range(start, high):
            piece = pieces[stop]
            if piece.kind not in _WORDED and piece.text != " ":
                break
            text += piece.text
            if piece.text == " ":
                continue
            verdict = fits(text)
            if verdict == 0:
                yield start, stop + 1
            if verdict > 0:
                break
