"""English word lists of the rule-based tokeniser: abbreviations, contractions, affixes, sentence starters."""

from __future__ import annotations

from collections.abc import Sequence


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Titles before a name; a sentence never ends after them.
TITLES = _words(
    """
    Adm Brig Capt Cmdr Col Cpl Dr Drs Fr Gen Gov Hon Lt Maj Messrs Mlle Mme Mr Mrs Ms Msgr Mt Pres Prof
    Pvt Rep Reps Rev Sen Sens Sgt St Ste Supt
    """
)

# Capitalised abbreviations; in lower case, most of these are ordinary words ("sat.", "ill.", "mass.").
CAPITALISED = TITLES | _words(
    """
    Ala Apr Ariz Ark Assn Aug Ave Bhd Bldg Blvd Bros Calif Co Colo Conn Corp Cos Ct Dec Del Dept Dist Ed
    Eds Esq Feb Fla Fri Ga Ill Inc Ind Intl Jan Jr Jul Kan Ky La Ltd Ltda Mar Mass Md Mich Minn Miss Mo
    Mon Mont Nat Natl Neb Nev Nov Oct Okla Ont Op Ore Pa Ph Plc Pte Pty Rd Rte Sat Sep Sept Sr Sun Tenn
    Tex Thu Thur Thurs Tue Tues Univ Va Vt Wash Wed Wis Wyo
    """
)

# Abbreviations in either case.
ANY_CASE = _words(
    """
    abbr al approx assoc avg bldg blvd bros ca cdr cf dept div dr ed eds est etc excl ext ft gov hr hrs hwy
    inc incl intl jr lb lbs ltd max min misc mr mrs ms mts oz pls prof resp rpm sq sr st tbsp tel temp tsp
    v viz vs wk wks yr yrs
    """
)

# Abbreviations only before a number ("No. 5"); elsewhere the stop ends the sentence ("He said no.").
NUMBERED = _words(
    """
    app art arts b c cap cat ch chap chr col eq eqs ex exs fig figs fn no nos p par pp pt pts ref refs sec
    secs sect str tab var vol vols
    """
)

# Abbreviations that never end a sentence, capitalised or not.
_NEVER_FINAL_EITHER = "approx avg ca cf e.g eg excl i.e ie incl p.s resp v viz vs"
NEVER_FINAL = NUMBERED | {title.lower() for title in TITLES} | _words(_NEVER_FINAL_EITHER)

# One of these words, capitalised, after an abbreviation shows that the sentence ended there.
STARTERS = _words(
    """
    A After All Although Among An And Another Any As At Because Before Both But By Despite Do Does Each
    Even For From Had Has Have He Her Here His How However I If In Is It Its Just Last Later Like Many
    Maybe Meanwhile More Moreover Most My No Nor Not Now Of On Once One Only Or Other Our Previously She
    Since So Some Still Such Than That The Their Then There These They This Those Though Through Thus To
    Today Two Under Until We What When Where Whether Which While Who Why With Yet You Your
    """
)

# Verbs of saying, which take a quotation as their object.
_SAYING = _words(
    """
    added adds admitted agreed announced answered answers asked asks asserted barked begged bellowed
    called calls chuckled commanded complained continued cried cries croaked declared demanded demands
    enquired exclaimed exclaims explained gasped groaned growled grumbled hissed howled inquired insisted
    interrupted joked laughed moaned mumbled murmured muttered objected observed ordered persisted pleaded
    protested quipped remarked repeated replied replies responded retorted roared said says screamed
    screams shouted shouts shrieked sighed snapped snarled sobbed squealed stammered suggested teased
    thought told urged wailed warned whimpered whined whispered whispers wondered wonders yelled yells
    """
)
# Words that begin another object of such a verb: "Tom said so".
_OBJECTS = _words("he how I if it nothing she so something that they this we what whether why you")
# Small words within a subject, and between subject and verb: "the Duke of York", "Tom then asked".
_WITHIN_SUBJECTS = _words("and de just of only simply the then van von")


def reports(words: Sequence[str]) -> bool:
    """Return whether words begin with a name or *I* and a verb of saying, such as *Mary Smith asked quietly*.

    They continue the sentence of a quotation that ends in a question mark or the like. A capitalised pronoun
    begins a sentence of its own (*He said so*), and so does a subject whose verb has another object (*Tom
    said that it rained*).

    Args:
        words: the tokens after the quotation.
    """
    if (words[0] in STARTERS and words[0] != "I") or not words[0][0].isupper():
        return False
    for before, word, following in zip(words, words[1:], [*words[2:], ""], strict=False):
        if word in _SAYING:
            return following not in _OBJECTS
        is_name = word[0].isupper() or word in _WITHIN_SUBJECTS or word.endswith("ly")
        if not (is_name or word in ("'s", "’s") or before in ("'s", "’s")):
            return False
    return False


# Words that are two tokens, and the length of the first token.
CONTRACTIONS = {
    "cannot": 3,
    "gonna": 3,
    "gotta": 3,
    "wanna": 3,
    "lemme": 3,
    "gimme": 3,
    "'tis": 2,
    "'twas": 2,
    "d'ye": 2,
    "d'you": 2,
    "more'n": 4,
}

# Words that begin with an apostrophe, which is not a quotation mark.
ELIDED = ("tis", "twas", "em", "til", "till", "cause", "cuz", "bout", "round", "n")

# Words that end with an apostrophe, besides those in "-in'" (*lovin'*).
CLIPPED = ("an", "fo", "lil", "mo", "o", "ol", "th", "wi", "yo")

# Where hyphens are tokens (OntoNotes, GUM, CRAFT), words are not split after these prefixes and before these
# suffixes, as in the LDC's addendum to the guidelines for English translation treebanks (2004).
PREFIXES = _words(
    """
    a ante anti arch auto be bi bio co counter cross cyber de e eco ex extra hetero homo hyper infra inter
    intra macro mega meta micro mid mini mis mono multi neo non o over pan para peri post pre pro proto
    pseudo quasi re semi socio sub super supra trans tri u ultra un uni vice
    """
)
SUFFIXES = _words("esque ette fest fold gate itis less most rama torium wise")
