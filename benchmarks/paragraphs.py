"""Real prose in eleven languages, written for this project, with typographic signs, numbers, units and negations.

`PARAGRAPHS[language]` has paragraphs of different topics, which share few words. Benchmarks and tests cut them into
sentences and make chunks of them.
"""

from __future__ import annotations

PARAGRAPHS: dict[str, tuple[str, ...]] = {
    "English": (
        "The “Old Mill” was built in 1889 by a young engineer’s family – nobody knows his first name. It’s "
        "33.5 m tall, and the café on its 2nd floor isn’t cheap: a cup of tea costs €4.20. Visitors don’t "
        "need a ticket before noon… On Sundays, however, the stairs stay closed because the wood can’t bear "
        "more than 120 people. 🙂",
        "Take 2 tablets (500 mg each) with plenty of water, never on an empty stomach. Do not drive for "
        "8 hours after the last dose. If your child has a temperature above 39 °C, call a doctor at once. "
        "The naïve reader might think that twice the dose helps twice as fast – it doesn’t. Keep the bottle "
        "below 25 °C, away from light.",
        "Each of 4 workers needs 1 GB of RAM, so in total 4 GB of RAM. Set `allow_methods` to the verbs "
        "that your service answers; `allow_headers` stays empty unless a client asks for it. With caching "
        "enabled, a request takes 12 ms instead of 140 ms ✅. The default is True since version 3.10, and "
        "it was False in 3.9.",
        "You may return goods within 30 days; we’ll refund the full price, but not the postage. Opened software "
        "can’t be returned. “Final sale” items are marked with a red label. Refunds usually arrive after "
        "5 working days, and no later than 14. If nothing has arrived by then, write to the shop’s office "
        "– don’t call the bank.",
    ),
    "German": (
        "Die „Alte Mühle“ wurde 1889 von der Familie eines jungen Ingenieurs gebaut – seinen Vornamen kennt "
        "niemand. Sie ist 33,5 m hoch, und das Café im 2. Stock ist nicht billig: Eine Tasse Tee kostet "
        "4,20 €. Vor 12 Uhr brauchen Besucher keine Karte. Sonntags bleibt die Treppe allerdings geschlossen, "
        "weil das Holz höchstens 120 Gäste trägt.",
        "Nehmen Sie 2 Tabletten zu je 500 mg mit viel Wasser ein, niemals auf nüchternen Magen. Fahren Sie "
        "nach der letzten Einnahme 8 Stunden lang kein Auto. Steigt das Fieber über 39 °C, rufen Sie sofort "
        "einen Arzt. Die doppelte Menge hilft nicht doppelt so schnell. Bewahren Sie die Flasche unter 25 "
        "°C und ohne Licht auf.",
        "Jeder der 4 Prozesse braucht 1 GB Arbeitsspeicher, zusammen also 4 GB. Die Einstellung `max_size` "
        "begrenzt die Größe der Warteschlange; ohne sie wächst der Speicherbedarf. Mit Zwischenspeicher "
        "dauert eine Anfrage 12 ms statt 140 ms. Seit Fassung 3.10 ist die Prüfung eingeschaltet, davor "
        "war sie ausgeschaltet.",
        "Sie können die Ware innerhalb von 30 Tagen zurückgeben; wir erstatten den vollen Preis, aber nicht "
        "das Porto. Geöffnete Programme nehmen wir nicht zurück. Stücke aus dem Schlussverkauf tragen ein "
        "rotes Etikett. Das Geld kommt meist nach 5 Werktagen an, spätestens nach 14.",
    ),
    "French": (
        "Le « Vieux Moulin » fut bâti en 1889 par la famille d’un jeune ingénieur dont nul ne connaît le "
        "prénom. Il mesure 33,5 m, et le café du 2e étage n’est pas donné : une tasse de thé coûte 4,20 "
        "€. Avant midi, l’entrée est gratuite. Le dimanche, l’escalier reste fermé, car le bois ne supporte "
        "pas plus de 120 personnes.",
        "Prenez 2 comprimés de 500 mg avec un grand verre d’eau, jamais à jeun. Ne conduisez pas pendant "
        "8 heures après la dernière prise. Si la fièvre dépasse 39 °C, appelez aussitôt un médecin. Une "
        "dose double n’agit pas deux fois plus vite. Conservez le flacon au-dessous de 25 °C, à l’abri de "
        "la lumière.",
        "Chacun des 4 processus demande 1 Go de mémoire, soit 4 Go en tout. Le réglage `max_size` limite "
        "la file d’attente ; sans lui, la mémoire se remplit. Avec le cache activé, une requête prend 12 "
        "ms au lieu de 140 ms. Depuis la version 3.10, le contrôle est activé d’office.",
        "Vous pouvez rendre l’article sous 30 jours ; nous remboursons le prix, mais non les frais d’envoi. "
        "Les logiciels ouverts ne sont pas repris. L’argent arrive d’ordinaire après 5 jours ouvrés, au "
        "plus tard après 14. Si rien n’est arrivé d’ici là, écrivez-nous à l’adresse du magasin.",
    ),
    "Chinese": (
        "“老磨坊”建于1889年，由一位年轻工程师的家人建造，没有人知道他的名字。它高33.5米，二楼的咖啡馆并不"
        "便宜：一杯茶要4.20欧元。中午以前，游客不需要买票。不过，星期天楼梯不开放，因为木头最多只能承受120人"
        "。",
        "每次服用2片，每片500毫克，多喝水，不要空腹服用。最后一次服药后8小时内不要开车。如果体温超过39度"
        "，请立即去看医生。加倍的剂量并不会更快见效。药瓶应放在25度以下、没有阳光的地方。",
        "4个进程各需要1GB内存，总共需要4GB内存。设置max_size限制队列的长度；没有它，内存会越来越满。打开"
        "缓存以后，一次请求只要12毫秒，而不是140毫秒。从3.10版起，检查默认是打开的。",
        "您可以在30天内退货；我们退还全部货款，但不退邮费。已经拆封的软件不能退。退款一般在5个工作日后到账，最晚14天。",
    ),
    "Japanese": (
        "「古い水車」は1889年に若い技師の家族によって建てられたが、その名前は誰も知らない。高さは33.5メー"
        "トルで、2階の喫茶店は安くない。お茶は一杯4.20ユーロです。正午までは入場券はいりません。日曜日は"
        "階段が閉まっています。",
        "1回に2錠（1錠500ミリグラム）を、たくさんの水で飲んでください。空腹のときは飲まないでください。最"
        "後に飲んでから8時間は車を運転しないでください。熱が39度を超えたら、すぐに医師に電話をしてくださ"
        "い。",
        "4つのプロセスがそれぞれ1GBのメモリを使うので、合計で4GBになります。設定max_sizeは待ち行列の長さ"
        "を決めます。キャッシュを有効にすると、要求は140ミリ秒ではなく12ミリ秒で終わります。この機能は3.10版"
        "から既定で有効です。",
        "商品は30日以内なら返品できます。代金は全額お返ししますが、送料はお返しできません。開封したソフト"
        "ウェアは返品できません。返金は通常5営業日後に届きます。",
    ),
    "Arabic": (
        "بُنيت «الطاحونة القديمة» عام ١٨٨٩ على يد عائلة مهندس شاب لا يعرف أحد اسمه. يبلغ ارتفاعها ٣٣٫٥ مترًا، "
        "والمقهى في الطابق الثاني ليس رخيصًا: فنجان الشاي بسعر ٤٫٢٠ يورو. قبل الظهر لا يحتاج الزوار إلى "
        "تذكرة. يوم الأحد يُغلق الدرج.",
        "تناول حبتين من عيار 500 ملغ مع كثير من الماء، ولا تتناولهما على معدة فارغة. لا تقد السيارة مدة "
        "8 ساعات بعد آخر جرعة. إذا تجاوزت الحرارة 39 درجة فاتصل بالطبيب فورًا. الجرعة المضاعفة لن تفيد أسرع.",
        "يحتاج كل من العمليات الأربع إلى 1 GB من الذاكرة، أي 4 GB في المجموع. يحدّ الإعداد max_size طول "
        "قائمة الانتظار. عند تفعيل التخزين المؤقت يستغرق الطلب 12 جزءًا من الألف بدلًا من 140.",
        "يمكنك إعادة البضاعة خلال 30 يومًا، ونعيد الثمن كاملًا دون أجرة البريد. البرامج المفتوحة غير قابلة "
        "للإعادة. يصل المبلغ عادة بعد 5 أيام عمل، ولا يتأخر عن 14 يومًا.",
    ),
    "Russian": (
        "«Старая мельница» построена в 1889 году семьёй молодого инженера – его имени никто не знает. Её "
        "высота 33,5 м, а кафе на 2-м этаже недешёвое: чашка чая стоит 4,20 €. До полудня билет не нужен. "
        "По воскресеньям лестница закрыта, потому что дерево выдерживает не больше 120 человек.",
        "Принимайте по 2 таблетки (500 мг каждая) с большим количеством воды, никогда натощак. Не садитесь "
        "за руль 8 часов после последнего приёма. Если температура выше 39 °C, сразу вызовите врача. Двойная "
        "доза не помогает вдвое быстрее.",
        "Каждому из 4 процессов нужен 1 ГБ памяти, всего 4 ГБ. Настройка `max_size` ограничивает очередь; "
        "без неё память заполняется. С кэшем запрос занимает 12 мс вместо 140 мс. Начиная с версии 3.10 "
        "проверка включена.",
        "Товар можно вернуть в течение 30 дней; мы возвращаем полную цену, но не почтовые расходы. Вскрытые "
        "программы обратно не принимаем. Деньги обычно приходят через 5 рабочих дней, не позже чем через "
        "14.",
    ),
    "Hindi": (
        "“पुरानी चक्की” 1889 में एक युवा अभियंता के परिवार ने बनाई थी; उसका नाम कोई नहीं जानता। इसकी ऊँचाई "
        "33.5 मीटर है और दूसरी मंज़िल का कैफ़े सस्ता नहीं है: एक प्याला चाय ४.२० यूरो की है। दोपहर से पहले "
        "टिकट नहीं चाहिए। रविवार को सीढ़ियाँ बंद रहती हैं।",
        "500 मिलीग्राम की 2 गोलियाँ खूब पानी के साथ लें, खाली पेट कभी मत लें। आख़िरी खुराक के बाद 8 घंटे "
        "तक गाड़ी मत चलाइए। बुख़ार 39 डिग्री से ऊपर हो तो तुरंत डॉक्टर को बुलाइए। दुगुनी खुराक से जल्दी "
        "आराम नहीं मिलता।",
        "4 प्रक्रियाओं में से हर एक को 1 GB मेमोरी चाहिए, कुल मिलाकर 4 GB। max_size कतार की लंबाई तय करता "
        "है; इसके बिना मेमोरी भर जाती है। कैश चालू होने पर अनुरोध 140 ms के बदले 12 ms लेता है।",
        "सामान 30 दिनों के भीतर लौटाया जा सकता है; पूरा दाम वापस मिलेगा, पर डाक का ख़र्च नहीं। खुला हुआ "
        "सॉफ़्टवेयर वापस नहीं लिया जाता। पैसा आम तौर पर 5 दिन बाद पहुँचता है।",
    ),
    "Korean": (
        "‘옛 방앗간’은 1889년에 젊은 기술자의 가족이 지었으며 그의 이름은 아무도 모른다. 높이는 33.5미터"
        "이고 2층 카페는 싸지 않다. 차 한 잔은 4.20유로입니다. 정오 전에는 표가 필요하지 않습니다. 일요일"
        "에는 계단을 닫습니다.",
        "500밀리그램짜리 알약 2개를 물과 함께 드세요. 빈속에는 먹지 마십시오. 마지막으로 먹은 뒤 8시간 동"
        "안 운전하지 마십시오. 열이 39도를 넘으면 바로 의사를 부르세요.",
        "상품은 30일 안에 반품할 수 있습니다. 값은 모두 돌려드리지만 우편 요금은 돌려드리지 않습니다. 개"
        "봉한 소프트웨어는 반품할 수 없습니다.",
    ),
    "Thai": (
        "โรงสีเก่าสร้างขึ้นในปี 1889 โดยครอบครัวของวิศวกรหนุ่มที่ไม่มีใครรู้จักชื่อ สูง 33.5 เมตร และร้านกาแฟชั้น "
        "2 ไม่ถูกเลย ชาถ้วยละ 4.20 ยูโร ก่อนเที่ยงไม่ต้องซื้อตั๋ว",
        "กินยา 2 เม็ด เม็ดละ 500 มิลลิกรัมกับน้ำมาก ๆ อย่ากินตอนท้องว่าง ห้ามขับรถ 8 ชั่วโมงหลังกินยาครั้งสุดท้าย",
    ),
    "Finnish": (
        "”Vanha mylly” rakennettiin vuonna 1889; nuoren insinöörin etunimeä ei tiedä kukaan. Se on 33,5 "
        "m korkea, eikä toisen kerroksen kahvila ole halpa: kuppi teetä maksaa 4,20 €. Ennen puoltapäivää "
        "lippua ei tarvita.",
        "Ota 2 tablettia (500 mg) runsaan veden kanssa, älä koskaan tyhjään vatsaan. Älä aja autoa 8 tuntiin "
        "viimeisen annoksen jälkeen. Kaksinkertainen annos ei auta kaksi kertaa nopeammin.",
        "Tavaran voi palauttaa 30 päivän kuluessa; hinta maksetaan takaisin ilman postikuluja. Avattuja "
        "ohjelmia emme ota takaisin. Rahat tulevat yleensä 5 arkipäivässä.",
    ),
}
