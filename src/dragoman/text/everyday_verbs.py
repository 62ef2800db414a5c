"""The verbs of the everyday corpus, grouped by what follows them."""

from dragoman.text.everyday_words import Verb

_GOODS = (
    "coat shirt dress hat jacket shoe table chair lamp picture cupboard bag umbrella watch camera computer "
    "radio car bicycle"
)
_GROCERIES = "apple orange egg cake bread soup cheese fish salad"
_DRINKS = "coffee tea water milk juice"
_SMALL = "key bag umbrella watch camera book letter ball hat knife ticket"

BE = Verb(
    "be is was been being", "sein bin bist ist gewesen sei", preterite="war warst war waren", stative=True
)
HAVE = Verb(
    "have has had had having",
    "haben habe hast hat gehabt hab",
    preterite="hatte hattest hatte hatten",
    stative=True,
)

# fmt: off
WITH_OBJECT = (
    Verb("read reads read read reading", "lesen lese liest liest gelesen lies",
         "book newspaper letter email", habitual=True),
    Verb("write writes wrote written writing", "schreiben schreibe schreibst schreibt geschrieben schreib",
         "letter email", habitual=True),
    Verb("drink drinks drank drunk drinking", "trinken trinke trinkst trinkt getrunken trink", _DRINKS,
         habitual=True),
    Verb("eat eats ate eaten eating", "essen esse isst isst gegessen iss", _GROCERIES, habitual=True),
    Verb("buy buys bought bought buying", "kaufen kaufe kaufst kauft gekauft kauf",
         f"{_GOODS} {_GROCERIES} {_DRINKS} flower present ticket book newspaper glass knife plate bed"),
    Verb("sell sells sold sold selling", "verkaufen verkaufe verkaufst verkauft verkauft verkauf",
         f"{_GOODS} flower dog cat horse"),
    Verb("need needs needed needed needing", "brauchen brauche brauchst braucht gebraucht brauch",
         f"{_GOODS} key knife plate glass ticket", stative=True),
    Verb("look looks looked looked looking", "suchen suche suchst sucht gesucht such", f"{_SMALL} dog cat",
         preposition=("for", "", "")),
    Verb("find finds found found finding", "finden finde findest findet gefunden find", f"{_SMALL} dog cat",
         stative=True),
    Verb("lose loses lost lost losing", "verlieren verliere verlierst verliert verloren verlier", _SMALL,
         stative=True),
    Verb("repair repairs repaired repaired repairing",
         "reparieren repariere reparierst repariert repariert repariere",
         "car bicycle lamp watch radio computer camera chair table door window"),
    Verb("wash washes washed washed washing", "waschen wasche wäschst wäscht gewaschen wasch",
         "car shirt dress jacket plate glass dog horse", habitual=True),
    Verb("cook cooks cooked cooked cooking", "kochen koche kochst kocht gekocht koch",
         "soup fish egg coffee tea", habitual=True),
    Verb("bake bakes baked baked baking", "backen backe backst backt gebacken back", "cake bread",
         habitual=True),
    Verb("wear wears wore worn wearing", "tragen trage trägst trägt getragen trag",
         "coat shirt dress hat jacket shoe watch", habitual=True),
    Verb("forget forgets forgot forgotten forgetting",
         "vergessen vergesse vergisst vergisst vergessen vergiss", _SMALL, stative=True, habitual=True),
    Verb("see sees saw seen seeing", "sehen sehe siehst sieht gesehen sieh",
         "dog cat horse bird car bicycle bus train flower lake church film picture", stative=True),
    Verb("draw draws drew drawn drawing", "zeichnen zeichne zeichnest zeichnet gezeichnet zeichne",
         "dog cat horse bird flower church lake"),
    Verb("open opens opened opened opening", "machen mache machst macht aufgemacht mach",
         "door window bottle letter bag cupboard present", prefix="auf"),
    Verb("close closes closed closed closing", "machen mache machst macht zugemacht mach",
         "door window bottle bag cupboard", prefix="zu"),
    Verb("turn turns turned turned turning", "schalten schalte schaltest schaltet eingeschaltet schalte",
         "lamp radio computer camera", particle="on", prefix="ein"),
    Verb("turn turns turned turned turning", "schalten schalte schaltest schaltet ausgeschaltet schalte",
         "lamp radio computer camera", particle="off", prefix="aus"),
    Verb("tidy tidies tidied tidied tidying", "räumen räume räumst räumt aufgeräumt räum",
         "kitchen room office", particle="up", prefix="auf", habitual=True),
    Verb("try tries tried tried trying", "probieren probiere probierst probiert anprobiert probier",
         "coat shirt dress hat jacket shoe", particle="on", prefix="an"),
    Verb("bring brings brought brought bringing", "bringen bringe bringst bringt mitgebracht bring",
         f"{_GROCERIES} {_DRINKS} flower present book ball camera", prefix="mit"),
    Verb("learn learns learned learned learning", "lernen lerne lernst lernt gelernt lern",
         "German English French", habitual=True),
    Verb("listen listens listened listened listening", "hören höre hörst hört gehört hör", "music",
         preposition=("to", "", ""), habitual=True),
)
WITH_PERSON = (
    Verb("visit visits visited visited visiting", "besuchen besuche besuchst besucht besucht besuch",
         habitual=True),
    Verb("call calls called called calling", "rufen rufe rufst ruft angerufen ruf", prefix="an",
         habitual=True),
    Verb("invite invites invited invited inviting", "laden lade lädst lädt eingeladen lade", prefix="ein"),
    Verb("pick picks picked picked picking", "holen hole holst holt abgeholt hol", particle="up",
         prefix="ab", habitual=True),
    Verb("help helps helped helped helping", "helfen helfe hilfst hilft geholfen hilf", case="dative",
         habitual=True),
    Verb("thank thanks thanked thanked thanking", "danken danke dankst dankt gedankt danke", case="dative"),
    Verb("ask asks asked asked asking", "fragen frage fragst fragt gefragt frag", habitual=True),
    Verb("see sees saw seen seeing", "sehen sehe siehst sieht gesehen sieh", stative=True, habitual=True),
)
KNOW = Verb("know knows knew known knowing", "kennen kenne kennst kennt gekannt kenn", stative=True)
AT_PLACE = (
    Verb("work works worked worked working", "arbeiten arbeite arbeitest arbeitet gearbeitet arbeite",
         "garden kitchen school office hotel restaurant museum library market airport", habitual=True),
    Verb("wait waits waited waited waiting", "warten warte wartest wartet gewartet warte",
         "park school office hotel restaurant station airport church", habitual=True),
    Verb("sleep sleeps slept slept sleeping", "schlafen schlafe schläfst schläft geschlafen schlaf",
         "garden hotel room park", habitual=True),
    Verb("sing sings sang sung singing", "singen singe singst singt gesungen sing",
         "church garden park school", habitual=True),
    Verb("dance dances danced danced dancing", "tanzen tanze tanzt tanzt getanzt tanz",
         "hotel restaurant kitchen garden", habitual=True),
    Verb("play plays played played playing", "spielen spiele spielst spielt gespielt spiel",
         "garden park room forest lake", habitual=True),
    Verb("eat eats ate eaten eating", "essen esse isst isst gegessen iss",
         "kitchen restaurant garden hotel", habitual=True),
)
GO = Verb("go goes went gone going", "gehen gehe gehst geht gegangen geh", being=True, habitual=True)
TO_PLACE = (
    GO,
    Verb("run runs ran run running", "laufen laufe läufst läuft gelaufen lauf", being=True, habitual=True),
    Verb("come comes came come coming", "kommen komme kommst kommt gekommen komm", being=True),
)
DRIVE = Verb(
    "travel travels traveled traveled traveling",
    "fahren fahre fährst fährt gefahren fahr",
    being=True,
    habitual=True,
)
WITH_PREPOSITION = (
    Verb("wait waits waited waited waiting", "warten warte wartest wartet gewartet warte",
         "bus train letter person", preposition=("for", "auf", "accusative")),
    Verb("think thinks thought thought thinking", "denken denke denkst denkt gedacht denk",
         "holiday film present person", preposition=("of", "an", "accusative"), habitual=True),
    Verb("talk talks talked talked talking", "sprechen spreche sprichst spricht gesprochen sprich",
         "film book concert holiday person", preposition=("about", "über", "accusative"), habitual=True),
    Verb("dream dreams dreamed dreamed dreaming", "träumen träume träumst träumt geträumt träum",
         "holiday car horse bicycle", preposition=("of", "von", "dative"), habitual=True),
    Verb("play plays played played playing", "spielen spiele spielst spielt gespielt spiel",
         "ball dog cat person", preposition=("with", "mit", "dative"), habitual=True),
    Verb("dance dances danced danced dancing", "tanzen tanze tanzt tanzt getanzt tanz", "person",
         preposition=("with", "mit", "dative"), habitual=True),
    Verb("look looks looked looked looking", "freuen freue freust freut gefreut freu",
         "film concert holiday present", particle="forward", preposition=("to", "auf", "accusative"),
         reflexive=True),
    Verb("remember remembers remembered remembered remembering",
         "erinnern erinnere erinnerst erinnert erinnert erinnere", "film concert holiday person",
         preposition=("", "an", "accusative"), reflexive=True, stative=True),
)
ALONE = (
    Verb("get gets got gotten getting", "stehen stehe stehst steht aufgestanden steh", particle="up",
         prefix="auf", being=True, habitual=True),
    Verb("come comes came come coming", "kommen komme kommst kommt zurückgekommen komm", particle="back",
         prefix="zurück", being=True),
    Verb("watch watches watched watched watching", "sehen sehe siehst sieht ferngesehen sieh",
         particle="TV", prefix="fern", habitual=True),
    Verb("go goes went gone going", "kaufen kaufe kaufst kauft eingekauft kauf", particle="shopping",
         prefix="ein", habitual=True),
    Verb("hurry hurries hurried hurried hurrying", "beeilen beeile beeilst beeilt beeilt beeil",
         reflexive=True),
    Verb("work works worked worked working", "arbeiten arbeite arbeitest arbeitet gearbeitet arbeite",
         habitual=True),
    Verb("sleep sleeps slept slept sleeping", "schlafen schlafe schläfst schläft geschlafen schlaf",
         habitual=True),
)
STAY = Verb("stay stays stayed stayed staying", "bleiben bleibe bleibst bleibt geblieben bleib", being=True)
GIVING = (
    Verb("give gives gave given giving", "geben gebe gibst gibt gegeben gib",
         "book letter flower present apple key ball ticket watch bag picture"),
    Verb("show shows showed shown showing", "zeigen zeige zeigst zeigt gezeigt zeig",
         "book letter picture camera car dress watch room garden email"),
    Verb("send sends sent sent sending", "schicken schicke schickst schickt geschickt schick",
         "book letter email present picture ticket"),
)
BELONG = Verb(
    "belong belongs belonged belonged belonging", "gehören gehöre gehörst gehört gehört gehör", stative=True
)
COST = Verb("cost costs cost cost costing", "kosten koste kostest kostet gekostet koste", stative=True)
LEAVE = Verb(
    "leave leaves left left leaving", "fahren fahre fährst fährt abgefahren fahr", prefix="ab", being=True
)
ARRIVE = Verb(
    "arrive arrives arrived arrived arriving",
    "kommen komme kommst kommt angekommen komm",
    prefix="an",
    being=True,
)
BEGIN = Verb("begin begins began begun beginning", "fangen fange fängst fängt angefangen fang", prefix="an")
PUT: dict[str, Verb] = {
    "liegen": Verb("put puts put put putting", "legen lege legst legt gelegt leg"),
    "stehen": Verb("put puts put put putting", "stellen stelle stellst stellt gestellt stell"),
}
# fmt: on
LIE: dict[str, Verb] = {
    "liegen": Verb(
        "be is was been being", "liegen liege liegst liegt gelegen lieg", preterite="lag lagst lag lagen"
    ),
    "stehen": Verb(
        "be is was been being",
        "stehen stehe stehst steht gestanden steh",
        preterite="stand standst stand standen",
    ),
}
