"""In which language is each part of a text, as far as its function words tell? Where does a passage switch?

Function words (articles, pronouns, prepositions) make up a third of ordinary prose and differ between languages of one
script (Ingle 1976; Grefenstette 1995). Each word of the lists below is a vote; a passage in another language is the run
of words with most votes for that language over those for the main one. Names, code and lists have few function words
and cast few votes. Han, kana, Hangul and other scripts of one language are `scripts`' business.

Neighbouring languages (Danish and Norwegian, Spanish and Portuguese) share many words: which of two it is may be wrong;
that it is not the main one is what counts.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cache
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from forensics.text.fold import Ints, fold_table
from forensics.text.seed_search import SeedTable, _id
from forensics.text.words import _words, words

_LISTS = {
    "english":
    "the of and to in is an am that it for was on are as with his they at be this have from or had by not but "
    "what all were "
    "when your can said there use an each which she do how their if will up other about out many then them these so "
    "some her would make like him into time has look two more write go see number no way could people my than first "
    "been who its now find long down day did get come made may part over new after also back any such our very just "
    "where most die man war hat bin dies den des son per sin fin tan dos van men",
    "german":
    "der die das und ist nicht ich sie wir ein eine einen einem einer den dem des mit auf fur von zu im sich auch "
    "wird werden wurde haben hat sind war als aber oder wenn nach bei noch nur uber aus wie kann durch mehr diese "
    "dieser dieses sein seine ihr ihre ihren vor zum zur bis dass habe unser unsere muss bitte keine kein schon "
    "sehr hier am",
    "french":
    "le les des une est et dans que qui pour pas sur avec plus par sont vous nous mais ou cette ces ete etre avoir "
    "fait comme elle ils leur leurs aux au du sans entre deux aussi bien peut tout tous toute ont votre notre dont "
    "ainsi apres avant chez encore alors donc tres cela ce se",
    "spanish":
    "el los las una que por con para del como mas pero sus este esta esto entre cuando muy sin sobre tambien hasta "
    "hay donde quien desde todo nos durante todos uno les ni contra otros ese eso ante ellos porque han ser es fue "
    "son tiene puede su lo al y se usted nuestro nuestra cada",
    "portuguese":
    "os as uma que nao por com para mais dos das como mas foi ao ele ela seu sua ou quando muito nos ja eu tambem "
    "so pelo pela ate isso entre depois sem mesmo aos seus quem nas esse essa voce tem sao ser esta nosso nossa do "
    "da em no na um",
    "italian":
    "il gli una che di non per con sono dei delle della nel nella alla dal dalla piu anche come questo questa ma ha "
    "hanno essere stato era suo sua loro ogni dove quando molto tutti tutto prima dopo senza ancora perche cosi lo "
    "ed del al degli dello sul",
    "dutch":
    "het een van en is dat niet zijn op aan met voor als er maar om hem dan zou wat mijn men dit zo door over ze "
    "hij ook bij naar nog uit kan worden werd wordt heeft hebben deze haar onze wij geen meer onder omdat zich tot "
    "of moet kunnen de te in",
    "polish":
    "nie jest sie na ze do to jak ale co przez dla po od tym przy oraz ktory ktora ktore ich jego jej byc bylo tak "
    "tylko juz moze bardzo gdy aby lub czy ten ta te tego jako sa bedzie zostal zostala wszystkie nas nam prosze w "
    "z i",
    "swedish":
    "och att det som en ar av for den med till ett om har inte jag han men var fran kan nar hade vid hon sig sa "
    "eller alla under efter ut upp blir mycket skulle finns denna dessa mot sin sitt vara maste vi ni pa",
    "danish":
    "og at det som en er af den med til et om har ikke jeg han men var fra kan nar havde ved hun sig eller alle "
    "under efter blev meget skulle denne disse mod sin sit vaere skal vi der hvor",
    "czech":
    "a se na je ze to v s z do o ale jako za by pro po jsou tak byl jeho jen nebo az jsem ktery ktera ktere jejich "
    "podle take jeste pri bylo byla kdyz co uz vsak ani jsme musi muze tento tato",
    "hungarian":
    "a az egy hogy nem is es van meg de csak ha mint vagy mert volt ezt azt kell lesz ami aki minden mar majd "
    "nagyon ezek azok utan szerint lehet ennek annak itt ott",
    "romanian":
    "si in la cu pe nu este care din sa pentru mai ca au fost sau prin dar lui acest aceasta unui unei sunt fi dupa "
    "fara intre cand toate foarte poate trebuie noastra noastre",
    "turkish":
    "ve bir bu icin ile de da cok daha olan gibi ne ama kadar sonra olarak her ya veya degil var yok en iki "
    "tarafindan ancak once bunu onun onlar biz siz",
    "indonesian":
    "yang dan di dari untuk dengan ini itu pada adalah tidak dalam akan ke oleh juga atau sebagai karena bisa dapat "
    "saya anda kami mereka telah sudah ada lebih tersebut seperti",
    "russian":
    "и в не на я что он с как это по но они мы из у за вы так же от для о его к до когда если или был была было "
    "быть уже бы только ее мне еще нет при чтобы который которая которые также может после",
    "ukrainian":
    "і в не на що з та у до як це за він для від але або є про його вони ми ви який яка які також може після було "
    "була був бути тільки ще якщо коли щоб при своїх",
}  # fmt: skip
LANGUAGES = tuple(sorted(_LISTS))
# A language that an answer is asked for in, without accents: behind a word that leads to it, or by itself where its
# name or form can mean nothing else.
_ASKED_IN = re.compile(
    r"\b(?:in|into|to|auf|ins|en|au|em|al|po|na|het|по|на)[ -]"
    r"(?:english|englisch|anglais|ingles|inglese|angiels|engels|английск|german|deutsch|allemand|aleman|tedesco|niemieck"
    r"|немецк|french|franzosisch|francais|frances|francuz|французск|spanish|spanisch|espagnol|espanol|spagnolo|hiszpan"
    r"|испанск|polish|polnisch|polonais|polsk|польск|chinese|chinesisch|chinois|chino|chinsk|китайск|japanese|japanisch"
    r"|japonais|japones|japonsk|японск|korean|koreanisch|coreen|корейск|arabic|arabisch|arabe|arabsk|арабск|hebrew"
    r"|hebraisch|hebreu|hebrajsk|иврит|russian|russisch|russe|ruso|rosyjsk|русск|italian|italienisch|italien"
    r"|portuguese|portugiesisch|portugais|portugues|dutch|niederlandisch|neerlandais|turkish|turkisch|ukrainian|українськ)"
    r"|по-(?:англ|нем|франц|испан|русск)|ingilizce|turkce|almanca|angolul|nemetul|magyarul"
    r"|英语|英語|英文|德语|德文|法语|法文|西班牙语|日语|日文|韩语|中文|汉语|漢語|ドイツ語|フランス語|スペイン語|日本語|中国語|韓国語"
    r"|영어|독일어|프랑스어|일본어|중국어|한국어|انجليزي|إنجليزي|ألماني|بالعربي|اللغة|אנגלית|גרמנית|צרפתית|עברית|ערבית|रूसी|अंग्रेज"
)
SHORTEST = 2  # units of a word that votes: single letters are variables and bullets
ASKED = 160  # code points at the end of a question in which it may name a language
OTHER_COST = 0.12  # of a word that is no vote, in a passage
MAIN_COST = 1.5  # of a word that only the main language has


@dataclass(frozen=True)
class Switches:
    """Per document: the main language and the best passage in another one (-1 where there is none).

    `language`, `main` index LANGUAGES; `start`, `end` are units; `votes` of the passage's words are the other
    language's and not the main one's, `against` the other way round; `words` of the passage.
    """

    main: Ints
    language: Ints
    start: Ints
    end: Ints
    votes: Ints
    against: Ints
    words: Ints
    all_votes: Ints  # of the main language in the document


@cache
def _table() -> tuple[SeedTable, npt.NDArray[np.uint32]]:
    """Word hashes, and the languages of each, by its id, as bits."""
    masks: dict[int, int] = {}
    for bit, language in enumerate(LANGUAGES):
        for key in set(words(_LISTS[language]).hashes.tolist()):
            masks[key] = masks.get(key, 0) | (1 << bit)
    table = SeedTable.over(np.array(sorted(masks), dtype=np.uint64).view(np.int64))
    return table, np.array([masks[key] for key in table.keys.view(np.uint64).tolist()], dtype=np.uint32)


def votes_of(text: str, language: int, main: int) -> int:
    """Words of a text that are `language`'s and not `main`'s (indexes of LANGUAGES)."""
    table, masks = _table()
    found = words(text)
    hashes = found.hashes[~found.single & (found.ends - found.starts >= SHORTEST)]
    ids = table.ids(hashes.view(np.int64))
    met = masks[ids[ids >= 0]]
    return int(((met >> language & 1) & ~(met >> main & 1) & 1).sum())


def switches(buffer: npt.NDArray[np.uint8], offsets: Ints) -> Switches:
    """The best passage in another language of each document `buffer[offsets[i]:offsets[i+1]]` (UTF-8). Linear."""
    (table, masks), fold = _table(), fold_table()
    found = _switches(
        buffer, offsets, table.keys, table.slots, table.filter, masks, len(LANGUAGES), fold.table, fold.expansions
    )
    return Switches(*(found[:, column].copy() for column in range(found.shape[1])))


@numba.njit(cache=True, nogil=True)
def _switches(
    buffer: Any, offsets: Any, keys: Any, slots: Any, sieve: Any, masks: Any, languages: int, table: Any,
    expansions: Any,
) -> Any:  # fmt: skip
    out = np.full((offsets.size - 1, 8), -1, dtype=np.int64)
    one = np.uint32(1)
    for document in range(offsets.size - 1):
        starts, ends, hashes, single = _words(buffer, offsets[document], offsets[document + 1], table, expansions)
        bits = np.zeros(hashes.size, dtype=np.uint32)
        counts = np.zeros(languages, dtype=np.int64)
        for i in range(hashes.size):
            if single[i] or ends[i] - starts[i] < SHORTEST:
                continue
            at = _id(hashes[i], keys, slots, sieve)
            if at >= 0:
                bits[i] = masks[at]
                for language in range(languages):
                    counts[language] += np.int64((masks[at] >> np.uint32(language)) & one)
        main = int(np.argmax(counts))
        out[document, 0] = main
        out[document, 7] = counts[main]
        best = 0.0
        for language in range(languages):
            if language == main or counts[language] < 4:
                continue
            total = 0.0
            low = 0
            votes = against = 0
            for i in range(hashes.size):
                mine = (bits[i] >> np.uint32(language)) & one
                its = (bits[i] >> np.uint32(main)) & one
                if mine and not its:
                    total += 1.0
                    votes += 1
                elif its and not mine:
                    total -= MAIN_COST
                    against += 1
                elif not mine:
                    total -= OTHER_COST
                if total <= 0.0:
                    total, low, votes, against = 0.0, i + 1, 0, 0
                elif total > best and mine and not its:
                    best = total
                    out[document, 1] = language
                    out[document, 2] = starts[low]
                    out[document, 3] = ends[i]
                    out[document, 4] = votes
                    out[document, 5] = against
                    out[document, 6] = i + 1 - low
    return out


def asks_language(question: str) -> bool:
    """Does the end of a question ask for an answer in some language? (What in a whole prompt may explain another
    language or script is asked elsewhere, with looser words.)"""
    signs = unicodedata.normalize("NFKD", question[-ASKED:].casefold())
    plain = "".join(sign for sign in signs if not "\u0300" <= sign <= "\u036f")
    return _ASKED_IN.search(unicodedata.normalize("NFKC", plain)) is not None
