"""Is a passage a quotation that the recipient asked for and that its answer presents as one?

Two tenants may quote the same public words though only one of them appears in the logs as their supplier: a line of a
poem, a verse, a proverb. Nothing in the text tells them from a private sentence, but the conversation does: the
question asks for a quotation, a poem, a verse; the answer introduces the passage (a colon, quotation marks, a block
quotation, a title, a name after a dash) and no number or address stands in it. It only ever makes a verdict weaker.
"""

from __future__ import annotations

import re

ASKED = 160  # code points at the end of the question in which it may ask for one
INTRODUCED = 6  # code points before the passage in which the sign of its introduction may stand
CHANCE = 8  # code points at its edges that may agree by chance
# Latin script: whole words, so that "verse" is not found in "converse". Elsewhere words take prefixes and suffixes.
_WORDS = re.compile(
    r"\b(quot(e|es|ation|ations)|recit\w*|poems?|poetry|verses?|psalms?|proverbs?|sayings?|lyrics|stanzas?|sonnets?|haiku"
    r"|epigraphs?|maxims?|aphorisms?|scripture|rhymes?|zitat\w*|zitier\w*|gedicht\w*|sprichw\w+|spruch|sprüche|vers|verse"
    r"|bibelvers\w*|psalm\w*|citations?|poèmes?|vers(et|ets)|proverbes?|dictons?|citas?|poemas?|versos?"
    r"|versículos?|proverbios?|refr[aá]n\w*|citazion\w*|poesi[ae]|proverbi\w*|versett\w+|provérbios?|citaç\w+|cytat\w*"
    r"|wiersz\w*|przysłow\w*|werset\w*|citaat|citaten|spreekwoord\w*|gedichten|citat\w*|ordspråk|dikt\w*)\b"
)
_PARTS = (
    "引用", "名言", "名句", "古诗", "古詩", "诗句", "詩句", "首诗", "首詩", "谚语", "諺語", "背诵", "背誦", "俳句",
    "和歌", "短歌", "ことわざ", "格言", "詩を", "명언", "속담", "인용", "구절", "פסוק", "ציטוט", "לצטט", "שיר ", "פתגם",
    "תהילים", "اقتباس", "اقتبس", "قصيدة", "بيت شعر", "آية", "مثل شعبي", "حكمة", "цитат", "стих",
    "послович", "поговорк", "श्लोक", "उद्धरण",
)  # fmt: skip
_OPENS = frozenset(':："“„«‹「『《>—–')
_CLOSES = frozenset('.!?。！？…"”“»›」』》\n;；—–')
_PARTICULAR = re.compile(r"\d{3,}|\S@\S|https?:|\w/\w+/")


def is_quotation(question: str, answer: str, start: int, end: int) -> bool:
    """Of the passage `[start, end)` (code points) of an answer to a question that ends as given."""
    asked = question[-ASKED:].casefold()
    if not (_WORDS.search(asked) or any(part in asked for part in _PARTS)):
        return False
    if _PARTICULAR.search(answer[start:end]):
        return False
    before = answer[max(0, start - INTRODUCED) : start].rstrip(" \t*_")
    line = before.rpartition("\n")[2] + answer[start : start + CHANCE]
    after = answer[end - 1 : end + 3].strip(" \t*_")
    introduced = start == 0 or any(sign in _OPENS for sign in line)
    return introduced and (end >= len(answer.rstrip()) - 1 or any(sign in _CLOSES for sign in after))
