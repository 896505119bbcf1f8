"""Passages that everybody may quote: works whose authors died long ago. Two tenants who quote one prove no leak."""

from __future__ import annotations

# Shakespeare, Austen, Dickens, Lincoln, Goethe, Kafka, Mickiewicz, Li Bai, Laozi, Soseki, Yun Dong-ju, Genesis,
# al-Mutanabbi, Melville. All in the public domain.
QUOTES: tuple[tuple[str, str], ...] = (
    ("en", "Shall I compare thee to a summer's day? Thou art more lovely and more temperate: Rough winds do shake the "
     "darling buds of May, And summer's lease hath all too short a date."),
    ("en", "It is a truth universally acknowledged, that a single man in possession of a good fortune, must be in want "
     "of a wife."),
    ("en", "It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of "
     "foolishness, it was the epoch of belief, it was the epoch of incredulity."),
    ("en", "Four score and seven years ago our fathers brought forth on this continent, a new nation, conceived in "
     "Liberty, and dedicated to the proposition that all men are created equal."),
    ("en", "Call me Ishmael. Some years ago, never mind how long precisely, having little or no money in my purse, and "
     "nothing particular to interest me on shore, I thought I would sail about a little and see the watery part of "
     "the world."),
    ("de", "Habe nun, ach! Philosophie, Juristerei und Medizin, und leider auch Theologie durchaus studiert, mit "
     "heißem Bemühn. Da steh ich nun, ich armer Tor, und bin so klug als wie zuvor."),
    ("de", "Jemand mußte Josef K. verleumdet haben, denn ohne daß er etwas Böses getan hätte, wurde er eines Morgens "
     "verhaftet."),
    ("pl", "Litwo! Ojczyzno moja! ty jesteś jak zdrowie. Ile cię trzeba cenić, ten tylko się dowie, kto cię stracił."),
    ("zh", "床前明月光，疑是地上霜。举头望明月，低头思故乡。"),
    ("zh", "道可道，非常道。名可名，非常名。无名天地之始；有名万物之母。"),
    ("ja", "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。"),
    ("ko", "죽는 날까지 하늘을 우러러 한 점 부끄럼이 없기를, 잎새에 이는 바람에도 나는 괴로워했다."),
    ("he", "בראשית ברא אלהים את השמים ואת הארץ והארץ היתה תהו ובהו וחשך על פני תהום"),
    ("ar", "على قدر أهل العزم تأتي العزائم وتأتي على قدر الكرام المكارم"),
)  # fmt: skip
