"""English word lists of the rule-based tokeniser: abbreviations, contractions, affixes, sentence starters."""

from __future__ import annotations


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
    abbr al approx assoc avg bldg blvd bros ca cdr cf dept div ed eds est etc excl ext ft gov hr hrs hwy
    inc incl intl lb lbs ltd max min misc mts oz pls resp rpm sq tbsp tel temp tsp v viz vs wk wks yr yrs
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
_NEVER_FINAL_EITHER = "approx avg ca cf e.g eg excl i.e ie incl resp v viz vs"
NEVER_FINAL = NUMBERED | {title.lower() for title in TITLES} | _words(_NEVER_FINAL_EITHER)

# One of these words, capitalised, after an abbreviation shows that the sentence ended there.
STARTERS = _words(
    """
    A After All Although Among An And Another Any As At Because Before Both But By Despite Do Does Each
    Even For From Had Has Have He Her Here His How However I If In Is It Its Just Last Later Like Many
    Maybe Meanwhile More Moreover Most My No Nor Not Now Of On Once One Only Or Other Our OptionalCondition
    Previously She Since So Some Still Such Than That The Their Then There These They This Those Though
    Through Thus To Today Two Under Until We What When Where Whether Which While Who Why With Yet You Your
    """
)

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
