"""The words of the everyday corpus: what each is in both languages and what it goes with.

Forms are written out wherever a rule would need exceptions, so that a reader can check them one by one.
"""

from dataclasses import dataclass
from typing import Literal

Gender = Literal["m", "f", "n"]
GENDERS: dict[str, Gender] = {"der": "m", "die": "f", "das": "n"}


@dataclass(frozen=True)
class Noun:
    """A noun in both languages.

    Args:
        english: Singular and plural, or one word for what is not counted.
        german: Article, singular and plural; without plural for what is not counted.
        kind: Which adjectives fit (`ADJECTIVES_OF`).
        genitive: The German genitive singular, where the grammar uses one.
        weak: True where accusative and dative singular equal the plural (der Junge, den Jungen).
    """

    english: str
    german: str
    kind: str
    genitive: str = ""
    weak: bool = False

    @property
    def counted(self) -> bool:
        """True where there is a plural."""
        return " " in self.english

    @property
    def name(self) -> str:
        """The English singular, by which the tables name a noun."""
        return self.english.split()[0]

    @property
    def gender(self) -> Gender:
        """The German gender."""
        return GENDERS[self.german.split()[0]]


@dataclass(frozen=True)
class Adjective:
    """An adjective: base and comparative in both languages, and the German stem that takes endings."""

    english: str
    german: str
    comparative: tuple[str, str] = ("", "")
    stem: str = ""


@dataclass(frozen=True)
class Verb:
    """A verb in both languages.

    Args:
        english: Base, third person, past, participle, -ing form.
        german: Infinitive, first, second and third person singular, participle, imperative; the forms
            before the participle stand without a separable prefix.
        objects: English singulars of the nouns it goes with.
        particle: An English particle (turn *on*).
        prefix: A German separable prefix (*ein*schalten).
        preposition: English and German preposition and the German case, where the object needs one.
        case: The German case of an object without preposition.
        being: True where the German perfect takes "sein".
        reflexive: True where German adds mich, dich, sich or uns.
        stative: True where English has no -ing form for what is so now.
        habitual: True where it is done again and again.
        preterite: German past (ich, du, er, wir) where it is more usual than the perfect.
    """

    english: str
    german: str
    objects: str = ""
    particle: str = ""
    prefix: str = ""
    preposition: tuple[str, str, str] = ("", "", "")
    case: Literal["accusative", "dative"] = "accusative"
    being: bool = False
    reflexive: bool = False
    stative: bool = False
    habitual: bool = False
    preterite: str = ""


@dataclass(frozen=True)
class Place:
    """A place: its noun, the prepositions for "at" and "to" in English and German."""

    noun: Noun
    at: tuple[str, str] = ("in", "in")
    to: str = "in"


FAMILY = (
    Noun("father fathers", "der Vater Väter", "person", "Vaters"),
    Noun("mother mothers", "die Mutter Mütter", "person", "Mutter"),
    Noun("brother brothers", "der Bruder Brüder", "person", "Bruders"),
    Noun("sister sisters", "die Schwester Schwestern", "person", "Schwester"),
    Noun("son sons", "der Sohn Söhne", "person", "Sohnes"),
    Noun("daughter daughters", "die Tochter Töchter", "person", "Tochter"),
    Noun("uncle uncles", "der Onkel Onkel", "person", "Onkels"),
    Noun("aunt aunts", "die Tante Tanten", "person", "Tante"),
)
PEOPLE = (
    Noun("teacher teachers", "der Lehrer Lehrer", "person", "Lehrers"),
    Noun("doctor doctors", "der Arzt Ärzte", "person", "Arztes"),
    Noun("friend friends", "der Freund Freunde", "person", "Freundes"),
    Noun("neighbor neighbors", "der Nachbar Nachbarn", "person", "Nachbarn", weak=True),
    Noun("man men", "der Mann Männer", "person", "Mannes"),
    Noun("woman women", "die Frau Frauen", "person", "Frau"),
    Noun("child children", "das Kind Kinder", "youth", "Kindes"),
    Noun("boy boys", "der Junge Jungen", "youth", "Jungen", weak=True),
    Noun("girl girls", "das Mädchen Mädchen", "youth", "Mädchens"),
)
_THINGS = (
    Noun("dog dogs", "der Hund Hunde", "animal"),
    Noun("cat cats", "die Katze Katzen", "animal"),
    Noun("horse horses", "das Pferd Pferde", "animal"),
    Noun("bird birds", "der Vogel Vögel", "animal"),
    Noun("apple apples", "der Apfel Äpfel", "fruit"),
    Noun("orange oranges", "die Orange Orangen", "fruit"),
    Noun("egg eggs", "das Ei Eier", "fruit"),
    Noun("cake cakes", "der Kuchen Kuchen", "food"),
    Noun("bread", "das Brot", "food"),
    Noun("soup", "die Suppe", "soup"),
    Noun("cheese", "der Käse", "food"),
    Noun("fish", "der Fisch", "food"),
    Noun("salad", "der Salat", "food"),
    Noun("coffee", "der Kaffee", "drink"),
    Noun("tea", "der Tee", "drink"),
    Noun("water", "das Wasser", "drink"),
    Noun("milk", "die Milch", "drink"),
    Noun("juice", "der Saft", "drink"),
    Noun("book books", "das Buch Bücher", "text"),
    Noun("newspaper newspapers", "die Zeitung Zeitungen", "text"),
    Noun("letter letters", "der Brief Briefe", "text"),
    Noun("email emails", "die E-Mail E-Mails", "text"),
    Noun("coat coats", "der Mantel Mäntel", "garment"),
    Noun("shirt shirts", "das Hemd Hemden", "garment"),
    Noun("dress dresses", "das Kleid Kleider", "garment"),
    Noun("hat hats", "der Hut Hüte", "garment"),
    Noun("jacket jackets", "die Jacke Jacken", "garment"),
    Noun("shoe shoes", "der Schuh Schuhe", "garment"),
    Noun("table tables", "der Tisch Tische", "thing"),
    Noun("chair chairs", "der Stuhl Stühle", "thing"),
    Noun("lamp lamps", "die Lampe Lampen", "thing"),
    Noun("picture pictures", "das Bild Bilder", "thing"),
    Noun("cupboard cupboards", "der Schrank Schränke", "thing"),
    Noun("bed beds", "das Bett Betten", "thing"),
    Noun("key keys", "der Schlüssel Schlüssel", "tool"),
    Noun("bag bags", "die Tasche Taschen", "thing"),
    Noun("umbrella umbrellas", "der Regenschirm Regenschirme", "thing"),
    Noun("watch watches", "die Uhr Uhren", "thing"),
    Noun("camera cameras", "die Kamera Kameras", "thing"),
    Noun("computer computers", "der Computer Computer", "thing"),
    Noun("radio radios", "das Radio Radios", "thing"),
    Noun("glass glasses", "das Glas Gläser", "tool"),
    Noun("bottle bottles", "die Flasche Flaschen", "tool"),
    Noun("plate plates", "der Teller Teller", "tool"),
    Noun("knife knives", "das Messer Messer", "tool"),
    Noun("ball balls", "der Ball Bälle", "thing"),
    Noun("flower flowers", "die Blume Blumen", "flower"),
    Noun("present presents", "das Geschenk Geschenke", "gift"),
    Noun("ticket tickets", "die Fahrkarte Fahrkarten", "ticket"),
    Noun("car cars", "das Auto Autos", "thing"),
    Noun("bicycle bicycles", "das Fahrrad Fahrräder", "thing"),
    Noun("bus buses", "der Bus Busse", "vehicle"),
    Noun("train trains", "der Zug Züge", "vehicle"),
    Noun("door doors", "die Tür Türen", "part"),
    Noun("window windows", "das Fenster Fenster", "part"),
    Noun("film films", "der Film Filme", "story"),
    Noun("concert concerts", "das Konzert Konzerte", "story"),
    Noun("holiday holidays", "der Urlaub Urlaube", "story"),
    Noun("music", "die Musik", "story"),
    Noun("time", "die Zeit", "story"),
    Noun("German", "das Deutsch", "language"),
    Noun("English", "das Englisch", "language"),
    Noun("French", "das Französisch", "language"),
)
PLACES = (
    Place(Noun("garden gardens", "der Garten Gärten", "place")),
    Place(Noun("kitchen kitchens", "die Küche Küchen", "place")),
    Place(Noun("park parks", "der Park Parks", "landscape")),
    Place(Noun("school schools", "die Schule Schulen", "place")),
    Place(Noun("office offices", "das Büro Büros", "place")),
    Place(Noun("cinema cinemas", "das Kino Kinos", "place")),
    Place(Noun("museum museums", "das Museum Museen", "place")),
    Place(Noun("hotel hotels", "das Hotel Hotels", "place"), to="zu"),
    Place(Noun("restaurant restaurants", "das Restaurant Restaurants", "place")),
    Place(Noun("church churches", "die Kirche Kirchen", "place")),
    Place(Noun("forest forests", "der Wald Wälder", "landscape")),
    Place(Noun("city cities", "die Stadt Städte", "city")),
    Place(Noun("library libraries", "die Bibliothek Bibliotheken", "place")),
    Place(Noun("room rooms", "das Zimmer Zimmer", "place")),
    Place(Noun("market markets", "der Markt Märkte", "place"), ("at", "auf"), "auf"),
    Place(Noun("station stations", "der Bahnhof Bahnhöfe", "place"), ("at", "an"), "zu"),
    Place(Noun("airport airports", "der Flughafen Flughäfen", "place"), ("at", "an"), "zu"),
    Place(Noun("lake lakes", "der See Seen", "landscape"), ("at", "an"), "an"),
)
NOUNS: dict[str, Noun] = {
    noun.name: noun for noun in (*FAMILY, *PEOPLE, *_THINGS, *(place.noun for place in PLACES))
}
PLACE_OF: dict[str, Place] = {place.noun.name: place for place in PLACES}

_NEW = Adjective("new", "neu", ("newer", "neuer"))
_OLD = Adjective("old", "alt", ("older", "älter"))
_YOUNG = Adjective("young", "jung", ("younger", "jünger"))
_BIG = Adjective("big", "groß", ("bigger", "größer"))
_SMALL = Adjective("small", "klein", ("smaller", "kleiner"))
_BEAUTIFUL = Adjective("beautiful", "schön", ("more beautiful", "schöner"))
_EXPENSIVE = Adjective("expensive", "teuer", ("more expensive", "teurer"), "teur")
_CHEAP = Adjective("cheap", "billig", ("cheaper", "billiger"))
_GOOD = Adjective("good", "gut", ("better", "besser"))
_LONG = Adjective("long", "lang", ("longer", "länger"))
_SHORT = Adjective("short", "kurz", ("shorter", "kürzer"))
_INTERESTING = Adjective("interesting", "interessant", ("more interesting", "interessanter"))
_WARM = Adjective("warm", "warm", ("warmer", "wärmer"))
_COLD = Adjective("cold", "kalt", ("colder", "kälter"))
_FRESH = Adjective("fresh", "frisch", ("fresher", "frischer"))
_FRIENDLY = Adjective("friendly", "freundlich", ("friendlier", "freundlicher"))
_CLEAN = Adjective("clean", "sauber", ("cleaner", "sauberer"))
_IMPORTANT = Adjective("important", "wichtig", ("more important", "wichtiger"))
_QUIET = Adjective("quiet", "ruhig", ("quieter", "ruhiger"))
_FAST = Adjective("fast", "schnell", ("faster", "schneller"))
_RED, _BLUE = Adjective("red", "rot"), Adjective("blue", "blau")
_BLACK, _WHITE, _GREEN = Adjective("black", "schwarz"), Adjective("white", "weiß"), Adjective("green", "grün")
ADJECTIVES_OF: dict[str, tuple[Adjective, ...]] = {
    "person": (_YOUNG, _OLD, _FRIENDLY),
    "youth": (_SMALL, _FRIENDLY),
    "animal": (_BIG, _SMALL, _YOUNG, _OLD, _BLACK, _WHITE),
    "fruit": (_FRESH, _BIG, _SMALL),
    "food": (_FRESH, _GOOD),
    "soup": (_GOOD, _WARM),
    "drink": (_COLD, _WARM, _GOOD),
    "text": (_LONG, _SHORT, _INTERESTING, _IMPORTANT),
    "garment": (_RED, _BLUE, _BLACK, _WHITE, _GREEN, _NEW, _WARM, _BEAUTIFUL, _EXPENSIVE, _CLEAN),
    "thing": (_NEW, _OLD, _BIG, _SMALL, _EXPENSIVE, _CHEAP, _BEAUTIFUL, _RED, _BLUE, _GREEN),
    "tool": (_NEW, _OLD, _SMALL, _CLEAN),
    "flower": (_RED, _BLUE, _WHITE, _BEAUTIFUL),
    "gift": (_EXPENSIVE, _BEAUTIFUL, _SMALL),
    "ticket": (_EXPENSIVE, _CHEAP),
    "vehicle": (_NEW, _FAST),
    "part": (_NEW, _BIG, _SMALL),
    "story": (_NEW, _GOOD, _LONG, _SHORT),
    "place": (_NEW, _OLD, _BIG, _SMALL, _BEAUTIFUL, _QUIET),
    "landscape": (_BIG, _SMALL, _BEAUTIFUL, _QUIET),
    "city": (_OLD, _BIG, _SMALL, _BEAUTIFUL),
    "language": (),
}
MOODS = (
    Adjective("tired", "müde"),
    Adjective("sick", "krank"),
    Adjective("hungry", "hungrig"),
    Adjective("thirsty", "durstig"),
    Adjective("happy", "glücklich"),
    Adjective("sad", "traurig"),
)
WOMEN, MEN = ("Anna", "Maria", "Julia"), ("Peter", "Paul", "Martin")
CITIES = (
    ("Berlin", "Berlin"),
    ("Hamburg", "Hamburg"),
    ("Vienna", "Wien"),
    ("Munich", "München"),
    ("Rome", "Rom"),
    ("Italy", "Italien"),
    ("Germany", "Deutschland"),
    ("France", "Frankreich"),
)
JOBS = (
    ("teacher", "Lehrer", "Lehrerin"),
    ("doctor", "Arzt", "Ärztin"),
    ("cook", "Koch", "Köchin"),
    ("baker", "Bäcker", "Bäckerin"),
    ("gardener", "Gärtner", "Gärtnerin"),
)
MEANS = (
    ("by train", "mit dem Zug"),
    ("by bus", "mit dem Bus"),
    ("by car", "mit dem Auto"),
    ("by bicycle", "mit dem Fahrrad"),
)
VESSELS = {
    "coffee": ("cup of", "Tasse", "f"),
    "tea": ("cup of", "Tasse", "f"),
    "water": ("glass of", "Glas", "n"),
    "milk": ("glass of", "Glas", "n"),
    "juice": ("bottle of", "Flasche", "f"),
}
