"""Lists of English words and Penn treebank labels, for the rules that convert trees to dependencies."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple


def word_set(text: str) -> frozenset[str]:
    """Return the set of whitespace-separated words of a text."""
    return frozenset(text.split())


PUNCTUATION = word_set(", . : `` '' -LRB- -RRB- HYPH \" ( ) NFP ! ? ; '")
VERB_TAGS = word_set("VB VBD VBG VBN VBP VBZ")
FINITE_TAGS = word_set("VBD VBP VBZ MD")
AUXILIARY_TAGS = VERB_TAGS | word_set("MD TO")
NOUN_TAGS = word_set("NN NNS NNP NNPS")
# Tags of words that can stand for a noun phrase.
NOMINAL_TAGS = NOUN_TAGS | word_set("PRP WP EX CD DT WDT $ FW ADD SYM")
ADJECTIVE_TAGS = word_set("JJ JJR JJS")
ADVERB_TAGS = word_set("RB RBR RBS WRB")

NOMINAL = word_set("NP NX NML NAC WHNP QP")
CLAUSES = word_set("S SINV SQ SBARQ SBAR")
PREPOSITIONAL = word_set("PP WHPP")
ADJECTIVAL = word_set("ADJP WHADJP")
ADVERBIAL = word_set("ADVP WHADVP")
WH_PHRASES = word_set("WHNP WHADVP WHADJP WHPP")

BE = word_set("be am is are was were been being 's 're 'm ’s ’re ’m ai m s re bein ' wuz waz")
HAVE = word_set("have has had having 've 'd 's ’ve ’d ’s ve of hath")
DO = word_set("do does did doing done du d' doth")
GET = word_set("get gets got getting gotten")
NOT = word_set("not n't n’t nt")

# Function tags of the Penn treebank that mark adjuncts, not arguments.
ADVERBIAL_FUNCTIONS = word_set("ADV TMP LOC MNR PRP DIR EXT BNF")

# Heads of noun phrases that are adjuncts of time, duration, distance or manner.
ADVERBIAL_NOUNS = word_set(
    "today tonight tomorrow yesterday day days week weeks weekend month months year years decade "
    "decades century centuries morning afternoon evening night nights hour hours minute minutes second "
    "seconds moment time times while summer winter autumn fall spring monday tuesday wednesday thursday "
    "friday saturday sunday january february march april may june july august september october "
    "november december way bit lot mile miles feet inches metres meters kilometers km percent season "
    "nite mornings evenings weekends sundays"
)
MONTHS = word_set(
    "january february march april may june july august september october november december jan. feb. "
    "mar. apr. jun. jul. aug. sep. sept. oct. nov. dec. jan feb mar apr jun jul aug sep sept oct nov "
    "dec"
)
REFLEXIVES = word_set("myself yourself himself herself itself ourselves yourselves themselves oneself")

# Subordinators of adverbial clauses. The complementisers below introduce complement clauses.
ADVERBIAL_SUBORDINATORS = word_set(
    "because although though while whilst since unless until till before after as so once whereas if "
    "than like in for by with without lest 'cause cause cuz cos except despite upon when where whenever "
    "wherever"
)
COMPLEMENTISERS = word_set("that whether if")

# Verbs and adjectives whose if-clause is an indirect question, not a condition.
ASKING = word_set(
    "ask asks asked asking wonder wonders wondered wondering know knows knew known see sees saw seen "
    "seeing check checks checked checking decide determine doubt tell test sure find figure remember "
    "say care clear examine investigate explore"
)

# Verbs whose object may be the subject of the infinitive after it: *ask him to go*.
CONTROL = word_set(
    "ask asked asks asking tell told tells telling want wanted help helped helps helping allow allowed "
    "allows allowing let make makes made making get got force forced forces encourage encouraged teach "
    "taught order ordered invite invited enable enabled require required see seen saw find found hear "
    "heard lead led permit advise advised persuade persuaded convince convinced urge urged have had has "
    "cause caused causes consider considered keep kept expect expected catch caught compel compelled "
    "inspire inspired remind reminded"
)

LINKING = word_set("become becomes became becoming remain remains remained remaining")
# Verbs whose only object may be the person told: *tell him*.
ALWAYS_TELLING = word_set("tell tells told telling")
TELLING = ALWAYS_TELLING | word_set(
    "ask asks asked asking show shows showed showing remind reminds reminded teach teaches taught "
    "teaching promise promised warn warned assure assured inform informed"
)
# Verbs of speech and thought that may follow the reported clause: *It is late, he said*.
SAYING = word_set(
    "say says said saying think thinks thought thinking guess guesses guessed know knows knew mean "
    "suppose believe believes believed hope hoped ask asks asked reply replied replies answer answered "
    "add added adds explain explained whisper whispered shout shouted yell yelled mutter muttered cry "
    "cried continue continued wonder wondered feel felt tell tells told go goes went write wrote writes "
    "claim claimed argue argued note noted notes state stated observe observed agree agreed announce "
    "announced report reported suggest suggested call called repeat repeated exclaim exclaimed murmur "
    "murmured demand demanded insist insisted admit admitted"
)
THINKING = word_set("think thinks thought guess know mean suppose believe hope")
# Adverbs that modify the phrase right after them.
FOCUSING = word_set(
    "only just even especially particularly right mainly mostly almost about approximately roughly "
    "nearly primarily exactly straight simply merely largely partly also probably perhaps maybe not"
)

PREDETERMINERS = word_set("all both half such many quite")

# Pairs of words that form a unit before another noun: *high school* in *high school student*.
COLLOCATIONS = frozenset(
    tuple(pair.split("-"))
    for pair in word_set(
        "due-process long-term short-term large-scale small-scale high-school high-quality low-quality "
        "real-time real-life real-estate real-world full-time part-time public-health health-care "
        "law-enforcement sea-surface second-language foreign-language foreign-policy open-source "
        "open-access open-data social-media social-science social-security climate-change civil-rights "
        "human-rights human-resources high-speed free-speech free-trade fine-art performing-arts "
        "visual-arts private-sector public-sector middle-class working-class eye-tracking "
        "artificial-intelligence machine-learning computer-science science-fiction information-technology "
        "information-system energy-consumption natural-language natural-gas nuclear-power mental-health "
        "solar-system new-year world-war cold-war civil-war south-african north-american video-game "
        "cell-phone credit-card ice-cream fast-food hip-hop rock-concert food-processor food-safety "
        "bus-stop train-station police-officer interest-rate exchange-rate birth-control data-processing "
        "big-data vice-president prime-minister general-election high-court supreme-court mutual-fund "
        "stock-market labor-market housing-market rubber-band grizzly-bear hot-water cold-water fresh-water "
        "drinking-water same-day next-day last-minute first-class first-time first-person third-person "
        "third-party world-wide 19th-century 20th-century 18th-century 17th-century 16th-century "
        "21st-century twentieth-century nineteenth-century special-interest local-government "
        "federal-government poetry-reading language-model"
    )
)

# Nouns for institutions and places: a sequence of proper nouns with one of them is a compound, not the
# name of a person.
ORGANISATIONS = word_set(
    "university college school institute institution department ministry agency association society "
    "academy company corporation corp. inc. co. ltd. bank museum gallery library church cathedral "
    "mosque castle palace park street road avenue square bridge river lake mountain mountains island "
    "islands sea ocean bay city town county state states district province republic kingdom empire "
    "union council committee commission court house senate congress parliament party army navy force "
    "forces corps war battle revolution treaty act law prize award awards medal festival league cup "
    "championship games series team club orchestra band film movie center centre hall tower building "
    "hotel restaurant airport station hospital press times post journal news magazine review day week "
    "year century age movement theory test scale model system group foundation fund organization "
    "organisation trust board office bureau service services administration program programme project "
    "plan conference convention congress summit market exchange index street st. ave. blvd. rd. region "
    "area valley coast beach hill hills mount mt. north south east west northern southern eastern "
    "western america africa asia europe germany england korea zealand york jersey hampshire carolina "
    "dakota virginia vice prime inside rewind kibbutz madame explorer policy research technology "
    "science sciences wikipedia linguistics grammar paralympics olympics cemetery camp code web "
    "airlines online systems studies culture rights mexico zealand angeles francisco diego lanka rica "
    "arabia kong columbia"
)
TITLES = word_set(
    "miss madam congresswoman congressman councillor mr. mrs. ms. dr. prof. st. sir mr mrs ms dr prof "
    "king queen prince princess president premier general colonel captain major lieutenant sergeant "
    "senator governor mayor judge justice chancellor minister bishop pope saint lord lady professor "
    "inspector detective father sheikh emperor chairman director secretary ambassador aunt uncle chief "
    "doctor"
)

PROPER_ADJECTIVES = word_set(
    "united new national creative democratic red american international civic open royal major central "
    "chemical global middle public european african general federal great high western eastern northern "
    "southern golden british french german black white free social grand digital electrical old"
)


# Tags of treebanks in Penn style that the rules take for another: brackets of OntoNotes and MASC, ends of
# MASC's units of speech, and Switchboard's *'s* for *is* and *has*.
_SAME_TAGS = {
    **{"-LSB-": "-LRB-", "-LCB-": "-LRB-", "-RSB-": "-RRB-", "-RCB-": "-RRB-"},
    **{"SU": "NFP", "BES": "VBZ", "HVS": "VBZ"},
}
_AFTER_TAG = re.compile(r"(?<!^)[-=|^].*", re.DOTALL)


@lru_cache(maxsize=4096)
def penn_tag(label: str) -> str:
    """Return the Penn tag that rules take a word's label for: ``NNS`` for ``NNS-4``, ``JJ`` for ``JJ|NN``."""
    if label in _SAME_TAGS or label.startswith("-"):
        return _SAME_TAGS.get(label, label)
    return _AFTER_TAG.sub("", label)


class Expression(NamedTuple):
    """Fixed multiword expression that functions as one word.

    Attributes:
        words: words of the expression, in lower case.
        relation: relation of the expression to its head; empty to keep the relation found by other rules.
        tag: required tag of the first word; empty for any tag.
        before: allowed tags of the word after the expression; empty for any tag.
    """

    words: tuple[str, ...]
    relation: str
    tag: str = ""
    before: frozenset[str] = frozenset()


MULTIWORD: dict[str, list[Expression]] = {}
for _text, _relation, _tag, _before in [
    ("as well as", "cc", "", ""),
    ("such as", "case", "JJ", ""),
    ("out of", "case", "IN", ""),
    ("kind of", "advmod", "NN", "RB JJ VB VBD VBN VBZ VBP VBG PRP , . JJR UH TO"),
    ("sort of", "advmod", "NN", "RB JJ VB VBD VBN VBZ VBP VBG PRP , . JJR UH TO"),
    ("of course", "advmod", "", ""),
    ("according to", "case", "", ""),
    ("as well", "advmod", "RB", ""),
    ("so that", "mark", "IN", ""),
    ("rather than", "cc", "", ""),
    ("due to", "case", "JJ", ""),
    ("because of", "case", "", ""),
    ("in order", "mark", "", "TO IN"),
    ("more than", "advmod", "RBR", "CD DT $ NN RB JJ VBG"),
    ("more than", "advmod", "JJR", "CD $"),
    ("less than", "advmod", "RBR", "CD DT $"),
    ("less than", "advmod", "JJR", "CD $"),
    ("fewer than", "advmod", "", "CD"),
    ("instead of", "case", "", ""),
    ("as if", "mark", "", ""),
    ("as though", "mark", "", ""),
    ("as of", "case", "IN", ""),
    ("depending on", "case", "", ""),
    ("depending upon", "case", "", ""),
    ("as to", "case", "IN", ""),
    ("each other", "", "DT", ""),
    ("one another", "", "", ""),
    ("up to", "advmod", "IN", "CD"),
    ("prior to", "case", "", ""),
    ("as opposed to", "case", "", ""),
    ("off of", "case", "", ""),
    ("let alone", "cc", "", ""),
    ("that is", "advmod", "DT", ","),
]:
    _all = tuple(_text.split())
    MULTIWORD.setdefault(_all[0], []).append(Expression(_all, _relation, _tag, word_set(_before)))

PENN_TAGS = (
    PUNCTUATION
    | AUXILIARY_TAGS
    | NOUN_TAGS
    | NOMINAL_TAGS
    | ADJECTIVE_TAGS
    | ADVERB_TAGS
    | word_set("-NONE- # AFX CC GW IN LS PDT POS PRP$ RP UH WP$ XX")
)
