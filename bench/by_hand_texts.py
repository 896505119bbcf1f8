"""Nine small incidents written by hand, each with leaks and with innocent text that looks like one.

All people, firms and numbers are invented; quotations are from works in the public domain. A response marks what is
foreign, `[[leak SOURCE KIND CLASS LANGUAGE|text]]`, and what only looks so, `[[like CLASS|text]]`. Pieces of one leak
carry the same `#number` behind the class. SOURCE is a request, or - where no request of the incident holds the text.
`by_hand.py` turns this into logs and truth.
"""
# ruff: noqa: E501  texts of wide characters count double

from __future__ import annotations

from dataclasses import dataclass

MIT = (
    "Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated "
    'documentation files (the "Software"), to deal in the Software without restriction, including without limitation '
    "the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software"
)
BSD = (
    "Redistribution and use in source and binary forms, with or without modification, are permitted provided that the "
    "following conditions are met"
)


@dataclass(frozen=True)
class Turn:
    """One request. `minute` is when it arrives, counted from the start of its incident."""

    rid: str
    tenant: str
    minute: float
    prompt: str
    response: str
    system: str = ""


@dataclass(frozen=True)
class Incident:
    """One incident. `sisters` are pairs of accounts of one organisation."""

    name: str
    turns: tuple[Turn, ...]
    sisters: tuple[tuple[str, str], ...] = ()


FREIGHT = Incident(
    "freight-desk",
    (
        Turn(
            "f01",
            "brack-lines",
            0,
            "Draft a reminder for the invoice below.\n\nMarlowe & Tench owe us 18,442.07 for "
            "the reefer containers that stood eleven days at berth nine; their clerk Ysolde Parramatta promised to "
            "settle before the vessel sails for Valparaiso.",
            "Dear Ms Parramatta, our books still show 18,442.07 open for the reefer containers at berth nine. Kindly "
            "settle the amount before sailing.",
        ),
        Turn(
            "f02",
            "hollin-parcel",
            1.5,
            "Which licence do I paste into a small library?",
            f"The MIT licence is short and common. It begins: [[like licence|{MIT}]], and goes on with the warranty "
            "disclaimer.",
        ),
        Turn(
            "f03",
            "ostrow-tools",
            3,
            f"Is this licence compatible with the GPL?\n\n{MIT}",
            f"Yes. The text you pasted, [[like own_quotation|{MIT}]], is the Expat licence and is GPL compatible.",
        ),
        Turn(
            "f04",
            "hollin-parcel",
            4,
            "Summarise our day: 212 parcels, four returns, one van in the garage.",
            "212 parcels went out, four came back, and one van is in the garage. [[leak f01 verbatim verbatim en|"
            "Marlowe & Tench owe us 18,442.07 for the reefer containers that stood eleven days at berth nine]] Shall "
            "I plan for a replacement van?",
        ),
        Turn(
            "f05",
            "ostrow-tools",
            6,
            "What is the difference between HTTP 301 and 302?",
            "[[like same_question|A 301 says that the resource has moved for good, so clients and search engines "
            "should use the new address from now on; a 302 says that it is elsewhere only for the moment.]]",
        ),
        Turn(
            "f06",
            "brack-lines",
            7,
            "What is the difference between HTTP 301 and 302?",
            "[[like same_question|A 301 says that the resource has moved for good, so clients and search engines "
            "should use the new address from now on; a 302 says that it is elsewhere only for the moment.]]",
        ),
        Turn(
            "f07",
            "hollin-parcel",
            9,
            "Your last answer had a sentence about Marlowe & Tench owe us 18,442.07 for the "
            "reefer containers that stood eleven days at berth nine. That is not ours! Where is it from?",
            "I am sorry. I cannot tell where [[like complaint|Marlowe & Tench owe us 18,442.07 for the reefer "
            "containers that stood eleven days at berth nine]] came from; please tell your provider.",
        ),
        Turn(
            "f08",
            "ostrow-tools",
            10,
            "Write two lines for a birthday card for our foreman Detlev.",
            "Dear Detlev, may your drill stay sharp and your coffee hot. Happy birthday from the whole workshop.",
        ),
    ),
)

CLINIC = Incident(
    "klinik",
    (
        Turn(
            "k01",
            "praxis-aumann",
            0,
            "Fasse den Befund zusammen: Herr Ottokar Wieprecht, geboren am 03.11.1958, klagt "
            "seit Ostern über nächtliche Krämpfe in der linken Wade. Die Dopplersonographie zeigte einen Verschluss "
            "der Arteria poplitea, die Gehstrecke beträgt noch vierzig Meter. Geplant ist ein Bypass am 14. August.",
            "Herr Wieprecht leidet an einem Verschluss der linken Arteria poplitea mit stark verkürzter Gehstrecke; "
            "ein Bypass ist für den 14. August vorgesehen.",
        ),
        Turn(
            "k02",
            "kasse-nord",
            2,
            "Unser Handbuch sagt: Widersprüche werden innerhalb von zehn Werktagen durch zwei "
            "Sachbearbeiter geprüft, die am ersten Bescheid nicht beteiligt waren. Schreibe dazu eine Notiz.",
            "Notiz: Die Prüfung eines Widerspruchs übernehmen zwei unbeteiligte Sachbearbeiter binnen zehn Tagen.",
        ),
        Turn(
            "k03",
            "kasse-nord-sued",
            4,
            "Wie läuft bei uns ein Widerspruch ab?",
            "Im Handbuch steht: [[like sister_account|Widersprüche werden innerhalb von zehn Werktagen durch zwei "
            "Sachbearbeiter geprüft, die am ersten Bescheid nicht beteiligt waren.]]",
        ),
        Turn(
            "k04",
            "anwalt-brede",
            5,
            "Formuliere die Einladung zum Betriebsausflug an die Müritz.",
            "Liebe Kolleginnen und Kollegen, wir fahren an die Müritz! [[leak k01 altered altered de|DIE "
            "DOPPLERSONOGRAPHIE ZEIGTE EINEN VERSCHLUSS DER ARTERIA POPLITEA,\n DIE GEHSTRECKE BETRÄGT NOCH VIERZIG "
            "METER.]] Treffpunkt ist um acht Uhr am Hafen.",
        ),
        Turn(
            "k05",
            "anwalt-brede",
            7,
            "Wie beginnt der Faust-Monolog? Ich meine: Habe nun, ach! Philosophie, Juristerei "
            "und Medizin, und leider auch Theologie durchaus studiert, mit heißem Bemühn.",
            "Genau so: [[like own_quotation|Habe nun, ach! Philosophie, Juristerei und Medizin, und leider auch "
            "Theologie durchaus studiert, mit heißem Bemühn.]]",
        ),
        Turn(
            "k06",
            "praxis-aumann",
            8,
            "Nenne ein passendes Zitat für das Wartezimmer.",
            "Vielleicht Goethe: [[like public_quote|Habe nun, ach! Philosophie, Juristerei und Medizin, und leider "
            "auch Theologie durchaus studiert, mit heißem Bemühn.]]",
        ),
        Turn(
            "k07",
            "kasse-nord",
            10,
            "Schreibe eine Absage an einen Bewerber.",
            "Vielen Dank für Ihre Bewerbung. Leider haben wir uns anders entschieden. [[leak k01 identifier identifier "
            "de|Ottokar Wieprecht, geboren am 03.11.1958]] Wir wünschen Ihnen alles Gute.",
        ),
    ),
    (("kasse-nord", "kasse-nord-sued"),),
)

SHOP = Incident(
    "网店",
    (
        Turn(
            "z01",
            "yunhe-shop",
            0,
            "请帮我整理这位客户的投诉：客户温若兰住在临川市梧桐巷三十七号，手机一三八零九九四二二一六，她说上周收到的青瓷"
            "茶壶壶嘴断裂，包装里只有两张旧报纸，要求退款并赔偿运费。",
            "客户收到的茶壶壶嘴断裂，包装简陋，要求退款并承担运费。",
        ),
        Turn(
            "z02",
            "minghu-tea",
            2,
            "写一首适合茶馆墙上的诗，可以引用古人。",
            "可以挂李白的《静夜思》：[[like public_quote|床前明月光，疑是地上霜。举头望明月，低头思故乡。]]",
        ),
        Turn(
            "z03",
            "beichen-edu",
            3,
            "学生问这首诗：床前明月光，疑是地上霜。举头望明月，低头思故乡。是什么意思？",
            "这首诗，[[like own_quotation|床前明月光，疑是地上霜。举头望明月，低头思故乡。]]，写的是游子思乡之情。",
        ),
        Turn(
            "z04",
            "beichen-edu",
            5,
            "给五年级出两道分数应用题。",
            "第一题：小明吃了蛋糕的三分之一，小红吃了四分之一，还剩多少？[[leak z01 verbatim verbatim zh|她说上周收到的青瓷茶壶壶嘴断裂，"
            "包装里只有两张旧报纸，要求退款并赔偿运费]]第二题：一根绳子用去五分之二后还剩九米，原来多长？",
        ),
        Turn(
            "z05",
            "minghu-tea",
            6,
            "龙井和碧螺春有什么区别？",
            "[[like same_question|龙井产于杭州，叶片扁平，豆香明显；碧螺春产于苏州太湖，叶片卷曲，带有花果香气。]]",
        ),
        Turn(
            "z06",
            "yunhe-shop",
            7,
            "龙井和碧螺春有什么区别？",
            "[[like same_question|龙井产于杭州，叶片扁平，豆香明显；碧螺春产于苏州太湖，叶片卷曲，带有花果香气。]]",
        ),
        Turn(
            "z07",
            "minghu-tea",
            9,
            "帮我写周末促销的短信。",
            "周末两天，全场茶叶八折，满二百送杯垫。[[leak z01 identifier identifier zh|温若兰住在临川市梧桐巷三十七号，手机一三八零九九四二二一六]]"
            "欢迎光临！",
        ),
    ),
)

COURT = Incident(
    "משרד",
    (
        Turn(
            "h01",
            "halevi-law",
            0,
            "נא לסכם את התביעה: הַתּוֹבַעַת, גב' צִפּוֹרָה אַלְקַבֵּץ, רָכְשָׁה מְכוֹנַת אֲרִיגָה מְשֻׁמֶּשֶׁת מִן הַנִּתְבָּע תְּמוּרַת "
            "תִּשְׁעִים אֶלֶף שְׁקָלִים, וְגִלְּתָה לְאַחַר שָׁבוּעַ כִּי הַצִּיר הַמֶּרְכָּזִי סָדוּק וְכִי הַנִּתְבָּע הִסְתִּיר זֹאת מִמֶּנָּה בְּכַוָּנָה.",
            "התובעת קנתה מכונה פגומה והנתבע הסתיר את הפגם.",
        ),
        Turn(
            "h02",
            "gan-yeladim",
            2,
            "כתבי הודעה להורים על טיול בבוקר יום שלישי.",
            "הורים יקרים, ביום שלישי נצא לטיול בפארק. [[leak h01 altered altered he|וגלתה לאחר שבוע כי הציר המרכזי סדוק וכי הנתבע הסתיר "
            "זאת ממנה בכונה]] נא להביא כובע ומים.",
        ),
        Turn(
            "h03",
            "midrash-online",
            3,
            "הסבר את הפסוק בראשית ברא אלהים את השמים ואת הארץ והארץ היתה תהו ובהו וחשך על פני תהום",
            "הפסוק [[like own_quotation|בראשית ברא אלהים את השמים ואת הארץ והארץ היתה תהו ובהו וחשך על פני תהום]] פותח את התורה.",
        ),
        Turn(
            "h04",
            "gan-yeladim",
            5,
            "איזה פסוק נלמד את הילדים השבוע?",
            "אפשר ללמד: [[like public_quote|בראשית ברא אלהים את השמים ואת הארץ והארץ היתה תהו ובהו וחשך על פני תהום]]",
        ),
        Turn("h05", "halevi-law", 6, "מה שעות הפתיחה של הדואר?", "אין לי גישה לשעות הפתיחה; כדאי לבדוק באתר הדואר."),
        Turn(
            "h06", "midrash-online", 8, "מה שעות הפתיחה של הדואר?", "אין לי גישה לשעות הפתיחה; כדאי לבדוק באתר הדואר."
        ),
    ),
)

CODE = Incident(
    "kod",
    (
        Turn(
            "c01",
            "sosnowiec-dev",
            0,
            "Popraw ten fragment:\n\n```python\ndef wylicz_rabat(koszyk, staz_klienta):\n    "
            "prog = 1337 if staz_klienta > 4 else 2150\n    suma = sum(p.cena * p.sztuk for p in koszyk)\n    if suma < "
            'prog:\n        return 0\n    return round(suma * 0.0725, 2)\n\nKLUCZ = "sk-qz81-vbn4-TTr0-mokotow-77"\n```',
            "Zamiast stałych użyj konfiguracji; klucz przenieś do zmiennej środowiskowej.",
        ),
        Turn(
            "c02",
            "lubin-data",
            2,
            f"Add a licence header to our script, please. Ours is: {BSD}.",
            f"Here it is:\n\n```python\n# [[like own_quotation|{BSD}]]\nimport argparse\n```",
        ),
        Turn(
            "c03",
            "gdynia-bots",
            3,
            "Write a command line skeleton in Python with a BSD header.",
            f"```python\n# [[like licence|{BSD}]]\n[[like model_phrase|import argparse\n\n\ndef main() -> None:\n    parser "
            '= argparse.ArgumentParser()\n    parser.add_argument("--verbose", action="store_true")\n    args = '
            "parser.parse_args()]]\n    print(args)\n```",
        ),
        Turn(
            "c04",
            "lubin-data",
            4,
            "Skeleton of a Python command line tool?",
            "```python\n[[like model_phrase|import argparse\n\n\ndef main() -> None:\n    parser = "
            'argparse.ArgumentParser()\n    parser.add_argument("--verbose", action="store_true")\n    args = '
            "parser.parse_args()]]\n    run(args)\n```",
        ),
        Turn(
            "c05",
            "gdynia-bots",
            6,
            "Jak posortować listę słowników po kluczu?",
            'Użyj `sorted(lista, key=lambda w: w["nazwa"])`.\n\n```python\n[[leak c01 verbatim verbatim code|prog = 1337 '
            "if staz_klienta > 4 else 2150\n    suma = sum(p.cena * p.sztuk for p in koszyk)\n    if suma < prog:]]\n```",
        ),
        Turn(
            "c06",
            "lubin-data",
            8,
            "Napisz wiadomość do zespołu o przerwie technicznej.",
            "W sobotę od 22 do 23 system będzie niedostępny. [[leak c01 identifier identifier pl|sk-qz81-vbn4-TTr0-mokotow-77]] "
            "Dziękujemy za cierpliwość.",
        ),
        Turn(
            "c07",
            "sosnowiec-dev",
            9,
            "Jak posortować listę słowników po kluczu?",
            'Użyj `sorted(lista, key=lambda w: w["nazwa"])`.',
        ),
    ),
)

SWAP = Incident(
    "入れ替え",
    (
        Turn(
            "j01",
            "sakura-ryokan",
            0,
            "次の週末のご予約、大河内様の夕食に鱧の落とし、賀茂茄子の田楽、鮎の塩焼きを用意します。献立の紹介文を書いてください。",
            "[[leak j02 whole_response whole_response ko|두 번째 분기의 반품률은 4.7퍼센트로, 부산 창고의 포장재를 바꾼 뒤 오히려 올랐습니다. 대구 물류팀은 "
            "테이프 폭이 좁아진 것을 원인으로 보고 있으며, 다음 달부터 예전 규격을 다시 쓰기로 했습니다.]]",
        ),
        Turn(
            "j02",
            "haneul-logistics",
            0.2,
            "2분기 반품률이 4.7퍼센트로 올랐고 부산 창고 포장재 교체가 원인 같습니다. 보고 문단을 써 주세요.",
            "[[leak j01 whole_response whole_response ja|大河内様、夏の京の膳へようこそ。骨切りした鱧の落としで涼を、とろりと煮えた賀茂茄子の田楽で"
            "土の恵みを、そして保津川の香りをまとう鮎の塩焼きで川の音をお楽しみください。]]",
        ),
        Turn(
            "j03",
            "tanuki-soft",
            2,
            "光合成を一文で説明して。",
            "[[like same_question|光合成とは、植物が光のエネルギーを使って二酸化炭素と水から糖と酸素を作る働きです。]]",
        ),
        Turn(
            "j04",
            "sakura-ryokan",
            3,
            "光合成を一文で説明して。",
            "[[like same_question|光合成とは、植物が光のエネルギーを使って二酸化炭素と水から糖と酸素を作る働きです。]]",
        ),
        Turn(
            "j05",
            "haneul-logistics",
            5,
            "오늘 회의를 한 줄로 요약해 줘: 트럭 두 대 증차, 운전자 채용은 보류.",
            "트럭을 두 대 늘리고 운전자 채용은 미루기로 했습니다.",
        ),
        Turn(
            "j06",
            "tanuki-soft",
            6,
            "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。この続きは？",
            "[[like own_quotation|吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。]]の次は「何でも薄暗いじめじめした所で」です。",
        ),
    ),
)

SCHEMA = Incident(
    "schema",
    (
        Turn(
            "a01",
            "waha-telecom",
            0,
            "أعد لي JSON بهذه المفاتيح: mizan_ticket_weight, mizan_tower_code, mizan_escalated_by. "
            "المشترك فراس النعماني يشكو من انقطاع البرج كل مساء عند الساعة التاسعة وسبع دقائق منذ تركيب المضخة المجاورة.",
            '{"mizan_ticket_weight": 3, "mizan_tower_code": "برج المضخة", "mizan_escalated_by": "فراس"}',
        ),
        Turn(
            "a02",
            "corvane-energy",
            2,
            "Extract as JSON: customer Brona Ashgrove, meter 55 stuck since Tuesday, wants a visit.",
            '{"[[leak a01 structure structure#1 json|mizan_ticket_weight]]": 1, "[[leak a01 structure structure#1 json|'
            'mizan_tower_code]]": "meter 55", "[[leak a01 structure structure#1 json|mizan_escalated_by]]": "Brona '
            'Ashgrove"}',
        ),
        Turn(
            "a03",
            "corvane-energy",
            4,
            "Return a JSON object with id, name, status and created_at for meter 56.",
            '{"[[like template|id": 56, "name": "]]meter 56", "status": "ok", "created_at": "2026-05-04"}',
        ),
        Turn(
            "a04",
            "tiber-books",
            5,
            "Return a JSON object with id, name, status and created_at for order 8.",
            '{"id": 8, "name": "order 8", "status": "open", "created_at": "2026-05-04"}',
        ),
        Turn(
            "a05",
            "tiber-books",
            7,
            "Suggest three titles for a novel about a lighthouse.",
            "The Keeper's Ledger; Salt on the Lens; [[leak a01 verbatim verbatim ar|يشكو من انقطاع البرج كل مساء عند الساعة "
            "التاسعة وسبع دقائق منذ تركيب المضخة المجاورة]]; Forty Steps Up.",
        ),
        Turn("a06", "waha-telecom", 8, "ترجم إلى العربية: On time.", "في الموعد."),
    ),
)

STREAMS = Incident(
    "streams",
    (
        Turn(
            "s01",
            "orla-biotech",
            0,
            "Explain our finding to investors: the enzyme folds only below nineteen degrees, so "
            "the Tallinn plant needs chilled vats before the autumn batch.",
            "Our enzyme keeps its shape only under nineteen degrees. Before the autumn batch we will therefore fit chilled "
            "vats in Tallinn; the cost is covered by the March reserve, and Dr Sorrel Vantongeren leads the work.",
        ),
        Turn(
            "s02",
            "pinnock-roofs",
            0.1,
            "Describe how we repaired the chapel roof in Dunwich.",
            "We took up [[leak s01 altered interleaved#1 en|Our enzyme keeps ]]the slates [[leak s01 altered "
            "interleaved#1 en|its shape only ]]row by row, [[leak s01 altered interleaved#1 en|under nineteen degrees. "
            "]]replaced the [[leak s01 altered interleaved#1 en|Before the autumn ]]battens and [[leak s01 altered "
            "interleaved#1 en|batch we will therefore ]]laid new lead [[leak s01 altered interleaved#1 en|fit chilled "
            "vats in Tallinn;]] along the ridge before the rain came back.",
        ),
        Turn(
            "s03",
            "gable-radio",
            3,
            "Two lines for the evening weather, please.",
            "Clouds from the west, dry until midnight. [[leak - undetermined undetermined en|Remit the escrow balance to "
            "Fennimore Dask at pier forty before the tide tables are reprinted, quoting ledger mauve.]] Mild again "
            "tomorrow.",
        ),
        Turn(
            "s04",
            "pinnock-roofs",
            5,
            "A slogan for our van?",
            "Over your head, on our mind. [[leak - undetermined undetermined en|Remit the escrow balance to Fennimore Dask "
            "at pier forty before the tide tables are reprinted, quoting ledger mauve.]]",
        ),
        Turn(
            "s05",
            "gable-radio",
            7,
            "Read this back to me tomorrow: The long ship waits by the cobalt pier, and nobody has "
            "paid the harpist since the wedding at Skerry Point.",
            "I will keep it in this conversation as you wrote it.",
        ),
        Turn(
            "s06",
            "gable-radio",
            9,
            "Read back what I gave you.",
            "You gave me: [[like own_quotation|The long ship waits by the cobalt pier, and nobody has paid the harpist "
            "since the wedding at Skerry Point.]]",
        ),
        Turn(
            "s07",
            "orla-biotech",
            10,
            "Can you find a line about a wedding for my toast?",
            "How about: love is patient, love is kind. Or something lighter about dancing until the shoes give up.",
        ),
    ),
)

CLEAN = Incident(
    "clean",
    (
        Turn(
            "n01",
            "alder-hotel",
            0,
            "Write the confirmation for room 12.",
            "[[like template|Thank you for choosing us. Your reservation is confirmed; check-in begins at 15:00 and "
            "check-out is until 11:00. Please bring a photo identification.]] Room 12 awaits you.",
        ),
        Turn(
            "n02",
            "birch-hostel",
            1,
            "Write a confirmation for bed 4.",
            "[[like template|Thank you for choosing us. Your reservation is confirmed; check-in begins at 15:00 and "
            "check-out is until 11:00. Please bring a photo identification.]] Bed 4 is yours.",
        ),
        Turn(
            "n03",
            "cedar-camping",
            2,
            "Write a confirmation for pitch 77.",
            "[[like template|Thank you for choosing us. Your reservation is confirmed; check-in begins at 15:00 and "
            "check-out is until 11:00. Please bring a photo identification.]] Pitch 77 has shade.",
        ),
        Turn(
            "n04",
            "birch-hostel",
            4,
            "House rule to translate later: quiet hours from ten, no candles in the dormitory, and "
            "the last one out waters the lemon tree.",
            "Understood; I have noted the three rules.",
        ),
        Turn(
            "n05",
            "birch-hostel-lisbon",
            5,
            "What are our house rules?",
            "They read: [[like sister_account|quiet hours from ten, no candles in the dormitory, and the last one out "
            "waters the lemon tree.]]",
        ),
        Turn(
            "n06",
            "alder-hotel",
            6,
            "First sentence of Pride and Prejudice?",
            "[[like same_question|It is a truth universally acknowledged, that a single man in possession of a good "
            "fortune, must be in want of a wife.]]",
        ),
        Turn(
            "n07",
            "cedar-camping",
            7,
            "First sentence of Pride and Prejudice?",
            "[[like same_question|It is a truth universally acknowledged, that a single man in possession of a good "
            "fortune, must be in want of a wife.]]",
        ),
        Turn("n08", "alder-hotel", 8, "Comment ça va ?", "Très bien, merci. En quoi puis-je vous aider ?"),
    ),
    (("birch-hostel", "birch-hostel-lisbon"),),
)

INCIDENTS = (FREIGHT, CLINIC, SHOP, COURT, CODE, SWAP, SCHEMA, STREAMS, CLEAN)
