"""Words that exclude each other: before and after, at least and at most, Monday and Friday, safe and unsafe.

A text contradicts a reference where such a word of the reference is missing, and another word of the same group is
there that the reference has not. Merely missing or merely added words are no contradiction, so that the table may be
generous: a word that means something else in another language does no harm.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache

from goldrank.match.folding import fold
from goldrank.match.negations import negations, negative_words
from goldrank.match.tokens import words

_GROUPS: dict[str, str] = {
    "English": """
        before prior earlier / after later | minimum min minimal / maximum max maximal | least / most | more /
        less fewer | increase* increasing rise* rises rose grew grow* / decrease* fall fell falls fallen drop*
        shrink* shrank declin* | above over exceed* / below under beneath | always / sometimes rarely seldom |
        left / right | first / last | first / second / third / fourth / fifth | larg* bigger greater / small*
        lesser | longer longest long / shorter shortest short | high* / low* lower* | hot* warm* / cold* cool* |
        open opens opened / close closes closed | begin* start starts beginning / end ends finish* stop stops |
        import* / export* | add adds added / remov* delet* | allow* permit* may / forbid* forbidden prohibit* |
        accept* / reject* refus* | enable* / disable* | inside within / outside | all every / some | both /
        either | half / third / quarter | double / triple | daily / weekly / monthly / yearly annual* | morning /
        afternoon / evening | monday / tuesday / wednesday / thursday / friday / saturday / sunday | january /
        february / march / april / may / june / july / august / september / october / november / december |
        north* / south* / east* / west* | fast* quick* / slow* | buy* bought purchas* / sell* sold | win* won /
        lose* lost | free / paid | public / private | internal / external | read reads / write writes | required
        mandatory / optional | ascending / descending | male / female | none null / error | upper / lower | early
        / late | input / output | client / server | summer / winter | husband / wife | mother / father | true /
        false | on / off | success* succeed* / fail* failure | top / bottom | everyone / nobody | new* / old* |
        weekday* / weekend*""",
    "German": """
        vor vorher bevor / nach nachher nachdem | mindestens wenigstens / höchstens maximal | minimum minimal*
        kleinst* / maximum maximal* größt* | mehr / weniger | steig* stieg* gestiegen erhöh* zunahm* wächst wuchs
        / sink* sank* gesunken fiel* fällt gefallen senk* verringer* abnahm* | über oberhalb / unter unterhalb |
        immer stets / manchmal selten | links linke* / rechts rechte* | erste* zuerst / letzte* zuletzt | größer*
        / kleiner* | länger* / kürzer* | hoch hohe* höher* / niedrig* tief* | heiß* warm* / kalt* kühl* | öffn*
        offen* geöffnet* / schließ* geschlossen* | beginn* anfang* / ende* schluss* | eingeschaltet* einschalten
        aktiv aktiviert* / ausgeschaltet* ausschalten inaktiv* | erlaubt* zulässig gestattet* / verboten*
        untersagt* | innerhalb / außerhalb | mit / ohne | hälfte / drittel / viertel | täglich* / wöchentlich* /
        monatlich* / jährlich* | vormittag* / nachmittag* | montag* / dienstag* / mittwoch* / donnerstag* /
        freitag* / samstag* sonnabend* / sonntag* | januar / februar / märz / april / mai / juni / juli / august
        / september / oktober / november / dezember | nord* nördlich* / süd* südlich* / ost* östlich* / west* |
        schnell* / langsam* | kauf* / verkauf* | kostenlos* gratis kostenfrei* unentgeltlich* / kostenpflichtig*
        entgeltlich* | öffentlich* / privat* | früh* / spät* | sommer* / winter* | zweite* / dritte* / vierte* /
        fünfte* | innen / außen | werktag* / wochenende* | neu neue* / alt alte*""",
    "French": """
        avant / après | minimum minimal* minimum moins / maximum maximal* plus | augment* hausse monte* croît /
        diminu* baiss* rédui* recul* | dessus supérieur* / dessous inférieur* | toujours / parfois rarement |
        gauche / droite | premier première / dernier dernière | grand* / petit* | long longue / court courte |
        haut haute / bas basse | chaud* / froid* | ouvr* ouvert* / ferm* | début* commenc* / fin finit | activé*
        / désactivé* | autoris* permis* / interdi* défend* | avec / sans | gratuit* / payant* | moitié / tiers /
        quart | matin / après-midi midi / soir | lundi / mardi / mercredi / jeudi / vendredi / samedi / dimanche
        | janvier / février / mars / avril / mai / juin / juillet / août / septembre / octobre / novembre /
        décembre | nord / sud / est / ouest | rapide* / lent* | ach* / vend* | public / privé | possible* /
        impossible* | oui / non | deuxième / troisième / quatrième | été / hiver | vrai / faux""",
    "Spanish": """
        antes / después | mínimo mínima / máximo máxima | más / menos | aument* sub* crec* / disminu* baj* reduc*
        | siempre / veces | izquierd* / derech* | primer* / últim* | mayor* / menor* | larg* / cort* | alt* /
        baj* | calient* / frí* | abr* abiert* / cerr* cerrad* | comien* inici* principio / fin final termin* |
        activad* habilitad* / desactivad* deshabilitad* | permit* / prohib* | con / sin | gratis gratuit* / pag*
        | mitad / tercio / cuarto | mañana / tarde / noche | lunes / martes / miércoles / jueves / viernes /
        sábado / domingo | enero / febrero / marzo / abril / mayo / junio / julio / agosto / septiembre / octubre
        / noviembre / diciembre | norte / sur / este / oeste | rápid* / lent* | superior* / inferior*""",
    "Italian": """
        prima / dopo | minimo minima / massimo massima | più / meno | aument* / diminu* ridu* | sempre / talvolta
        | sinistra / destra | primo / ultimo | maggiore / minore | alto alta / basso bassa | caldo calda / freddo
        fredda | apert* / chius* | inizio / fine | attivat* abilitat* / disattivat* disabilitat* | consentit*
        permess* / vietat* | con / senza | gratuit* / pagamento | lunedì / martedì / mercoledì / giovedì /
        venerdì / sabato / domenica""",
    "Dutch": """
        voor voordat / na nadat | minimaal minstens minimum / maximaal hoogstens maximum | meer / minder | stijg*
        steeg gestegen / daal* gedaald | altijd / soms | links / rechts | eerste / laatste | groter / kleiner |
        hoog hoger / laag lager | begin / einde | ingeschakeld* / uitgeschakeld* | met / zonder | gratis /
        betaald | maandag / dinsdag / woensdag / donderdag / vrijdag / zaterdag / zondag""",
    "Portuguese": """
        antes / depois após | mínimo mínima / máximo máxima | mais / menos | aument* / diminu* | sempre / vezes |
        esquerd* / direit* | primeir* / últim* | maior* / menor* | abert* / fechad* | início / fim final |
        ativad* / desativad* | com / sem | segunda / terça / quarta / quinta / sexta / sábado / domingo""",
    "Swedish": """
        före innan / efter | minst / högst | mer fler / mindre färre | öka* steg stiger / minska* sjönk sjunker
        föll | alltid / ibland | vänster / höger | första / sista | större / mindre | hög* / låg* | öppen öppna*
        / stängd stäng* | med / utan""",
    "Finnish": """
        ennen / jälkeen | vähintään / enintään | vähimmäis* minimi* pienin / enimmäis* maksimi* suurin | enemmän
        / vähemmän | nous* kasvo* kasva* / lask* väheni* pieneni* | aina / joskus harvoin | vasemm* vasen /
        oikea* oike* | ensimmäi* / viimei* | suurem* / pienem* | korke* / matal* | avoin auki avata* / kiinni
        suljet* sulje* | alku alussa alkaa / loppu lopussa loppuu | käytössä päällä / poissa pois | sallit* saa /
        kiellet* | ilmai* maksuto* / maksulli* | maanantai* / tiistai* / keskiviik* / torstai* / perjantai* /
        lauantai* / sunnuntai* | puolet / kolmasosa / neljäsosa | toinen toisen toisella / kolmas kolmannen
        kolmannella / neljäs neljännen | arkisin arki* / viikonlop*""",
    "Polish": """
        przed / po | minimum minimaln* / maksimum maksymaln* | więcej / mniej | wzros* / spad* | zawsze / czasem
        | z / bez | otwart* / zamknięt*""",
    "Czech": """
        před / po | minimáln* / maximáln* | více / méně | vždy / někdy | s / bez""",
    "Turkish": """
        önce / sonra | en az / en çok | minimum / maksimum | art* / azal* | açık / kapalı | ücretsiz / ücretli""",
    "Russian": """
        до перед прежде / после | минимальн* минимум наименьш* / максимальн* максимум наибольш* | более больше /
        менее меньше | вырос* раст* увелич* повы* / упал* пада* уменьш* сниж* сниз* | выше над свыше / ниже под |
        всегда / иногда редко | лев* слева / прав* справа | перв* / последн* | крупн* больш* / мелк* маленьк* |
        длинн* / коротк* | высок* / низк* | горяч* тёпл* / холодн* | откры* / закры* | начал* начин* / кон*
        заверш* | включ* / выключ* отключ* | разреш* / запрещ* запрет* | бесплатн* / платн* | половин* / трет* /
        четверт* | утр* / днём / вечер* | понедельник* / вторник* / сред* / четверг* / пятниц* / суббот* /
        воскресень* | январ* / феврал* / март* / апрел* / май мая / июн* / июл* / август* / сентябр* / октябр* /
        ноябр* / декабр* | север* / юг* южн* / восто* / запад* | быстр* / медлен* | ранн* рано / поздн* поздно |
        с / без | безопасн* / опасн* | все всех / некотор* | нов* / стар*""",
    "Arabic": """
        قبل / بعد | الأدنى أدنى / الأقصى أقصى | أكثر / أقل | ارتفع* زاد* ازداد* يرتفع* / انخفض* تراجع* نقص*
        ينخفض* | فوق / تحت | دائما / أحيانا نادرا | اليسار يسار الأيسر / اليمين يمين الأيمن | الأول الأولى أول /
        الأخير الأخيرة آخر | كبير* / صغير* | أكبر / أصغر | طويل* / قصير* | مرتفع* عالي* / منخفض* | ساخن* / بارد*
        | مفتوح* / مغلق* | فتح / إغلاق | بداية / نهاية | مفعل* تفعيل تشغيل ممكن* / معطل* تعطيل إيقاف | مسموح*
        يسمح / ممنوع* محظور* | مع / بدون | مجاني* / مدفوع* | نصف / ثلث / ربع | صباحا / مساء | الاثنين / الثلاثاء
        / الأربعاء / الخميس / الجمعة / السبت / الأحد | شمال / جنوب / شرق / غرب | داخل / خارج""",
    "Hindi": """
        पहले / बाद | न्यूनतम / अधिकतम | अधिक ज़्यादा / कम | हमेशा / कभी | बाएँ / दाएँ | चालू / बंद | साथ / बिना""",
}
"""By language: groups with | between them, sides with /; a star stands for any ending."""

_INSIDE: dict[str, str] = {
    "Chinese and Japanese": """
        前 / 后 後 | 最大 上限 最多 至多 / 最小 下限 最少 至少 | 上升 上涨 增加 增长 提高 / 下降 下跌 减少 降低 |
        打开 开启 启用 開啟 啟用 / 关闭 关掉 停用 禁用 關閉 | 以上 / 以下 | 以内 / 以外 | 午前 上午 早上 / 午後
        下午 晚上 | 有効 オン / 無効 オフ | 高 / 低 / 安 | 大 / 小 | 左 / 右 | 多 / 少 | 長 长 / 短 | 早 / 晚 遅
        晩 | 允许 可以 許可 / 禁止 不得 | 免费 無料 免費 / 收费 有料 收費 | 内 / 外 | 東 东 / 西 / 南 / 北 | 男 /
        女 | 新 / 旧 舊 | 冷 / 热 熱 暑 | 買 买 / 卖 売 賣 | 始 开始 開始 / 終 结束 終了 | 月曜 / 火曜 / 水曜 /
        木曜 / 金曜 / 土曜 / 日曜 | 星期一 周一 / 星期二 周二 / 星期三 周三 / 星期四 周四 / 星期五 周五 / 星期六
        周六 / 星期日 星期天 周日 | 増 / 減 | 上が / 下が | 春 / 夏 / 秋 / 冬 | 第一 / 第二 / 第三 / 第四 / 第五
        | 半 / 三分之一 / 四分之一 | 入力 输入 / 出力 输出 | 公開 公开 / 非公開 私有 | 平日 工作日 / 週末 周末""",
    "Korean": """
        이전 전에 전까지 / 이후 후에 뒤에 | 최대 최고 / 최소 최저 | 올랐 오르 상승 증가 늘 / 내렸 내리 하락 감소
        줄 | 켜 / 꺼 끄 | 활성 / 비활성 | 이상 / 이하 / 미만 | 오전 / 오후 | 왼 / 오른 | 첫 / 마지막 | 열려 열리
        열립 열다 / 닫 | 무료 / 유료 | 허용 가능 / 금지 불가능 | 많 / 적 | 높 / 낮 | 시작 / 끝 종료 | 항상 / 가끔
        | 월요일 / 화요일 / 수요일 / 목요일 / 금요일 / 토요일 / 일요일 | 안전 / 위험 | 크 큰 / 작 | 빠르 빨리 /
        느리 늦 | 유효 / 무효 | 동 / 서 / 남 / 북 | 남성 남자 / 여성 여자 | 안쪽 / 바깥쪽 | 매일 / 매주 / 매달
        매월 / 매년 | 평일 / 주말""",
    "Thai": """
        ก่อน / หลัง | สูงสุด มากที่สุด / ต่ำสุด น้อยที่สุด | อย่างน้อย / อย่างมาก | สูงขึ้น เพิ่ม / ต่ำลง ลดลง | เปิด / ปิด | ซ้าย / ขวา |
        มากกว่า / น้อยกว่า | ฟรี / เสียเงิน | เช้า / บ่าย / เย็น | จันทร์ / อังคาร / พุธ / พฤหัส / ศุกร์ / เสาร์ / อาทิตย์ | อนุญาต /
        ห้าม | แรก / สุดท้าย | ร้อน / เย็น | เหนือ / ใต้ | เร็ว / ช้า""",
}
"""The same for scripts without blanks, and Korean, whose words have endings: what stands anywhere in a text."""

Side = tuple[str, int, int]
"""A language, a group of its words, and one of the group's sides."""


@cache
def _table() -> tuple[dict[str, list[Side]], dict[str, list[Side]]]:
    """The sides of whole words, and of beginnings of words."""
    whole: dict[str, list[Side]] = {}
    beginnings: dict[str, list[Side]] = {}
    for word, side in _listed(_GROUPS):
        table = whole
        if word.endswith("*"):
            table = beginnings
        table.setdefault(fold(word.removesuffix("*")), []).append(side)
    return whole, beginnings


@cache
def _inside() -> tuple[re.Pattern[str], dict[str, Side]]:
    """A pattern of the words of scripts without blanks, longest first, and their sides."""
    sides_of = {word: side for word, side in _listed(_INSIDE) if not negations(word)}
    ordered = sorted(sides_of, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, ordered))), sides_of


def _listed(table: Mapping[str, str]) -> Iterator[tuple[str, Side]]:
    """Each word of a table, with its side."""
    for language, line in table.items():
        for group, alternatives in enumerate(line.split("|")):
            for side, listed in enumerate(alternatives.split("/")):
                for word in listed.split():
                    yield word, (language, group, side)


_JOINING = re.compile("[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_PREFIXES = (
    *("un", "in", "im", "ir", "il", "non", "dis", "des", "dés", "on", "epä", "nie", "ne", "не", "без", "бес", "o"),
    *("불", "비", "무", "미", "부"),
)
"""Beginnings that make the opposite of a word."""
_LONG_ENOUGH = 4
"""The fewest letters of a word to which a beginning is added; of Korean, whose letters are syllables, two do."""


def sides(text: str) -> Counter[Side]:
    """How often each side of each group stands in a text.

    >>> sides("before noon") == sides("after noon")
    False
    """
    whole, beginnings = _table()
    counts: Counter[Side] = Counter()
    denying = negative_words()
    for word in words(text):
        if word in denying:
            continue  # negations are counted: "disabled" is "not enabled"
        counts.update(whole.get(word, ()))
        for length in range(2, len(word) + 1):
            counts.update(beginnings.get(word[:length], ()))
    if not text.isascii() and _JOINING.search(text):
        pattern, of_word = _inside()
        counts.update(of_word[match[0]] for match in pattern.finditer(text))
    return counts


def contradicts(reference: str, text: str) -> bool:
    """Whether a text has, in place of a word of the reference, one that excludes it.

    >>> contradicts("Pay before May.", "Pay after May."), contradicts("Pay before May.", "Pay in May, not after.")
    (True, True)
    >>> contradicts("Pay before May.", "Pay before May, and not after."), contradicts("It is safe.", "It is unsafe.")
    (False, True)
    """
    reference_words, text_words = set(words(reference)), set(words(text))
    if reference_words <= text_words and not _JOINING.search(reference):
        return False

    reference_sides, text_sides = sides(reference), sides(text)
    lost = {side[:2] for side in reference_sides - text_sides}
    added = {side[:2] for side in text_sides - reference_sides}
    if lost & added:
        return True
    return _denied_by_a_beginning(reference_words - text_words, text_words - reference_words)


def _denied_by_a_beginning(lost: set[str], added: set[str]) -> bool:
    """Whether a word that was lost came back with, or without, a beginning that makes its opposite."""
    pairs = ((short, prefix + short) for prefix in _PREFIXES for short in lost | added)
    for short, long in pairs:
        is_long_enough = len(short) >= _LONG_ENOUGH or (len(short) > 1 and short[0] >= "\uac00")
        if is_long_enough and ((short in lost and long in added) or (short in added and long in lost)):
            return True
    return False
