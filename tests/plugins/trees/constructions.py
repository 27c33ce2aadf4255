"""Small trees of our own, one a construction of the guidelines, with the dependencies they stand for.

Each row: what it shows; the tree; ``relation(head, dependent)`` for every word but punctuation, by the words,
``0`` for the root's head; a number after a word tells equal ones apart (``the-2`` is the second *the*).
"""

from __future__ import annotations

UNIVERSAL = [
    (
        "passive with an agent",
        "(S (NP (DT The) (NN lamp)) (VP (VBD was) (VP (VBN lit) (PP (IN by) (NP (DT the) (NN keeper))))))",
        "det(lamp, The) nsubj:pass(lit, lamp) aux:pass(lit, was) root(0, lit) case(keeper, by) "
        "det(keeper, the) "
        "obl:agent(lit, keeper)",
    ),
    (
        "copula with an adjective",
        "(S (NP (PRP It)) (VP (VBZ is) (ADJP (RB very) (JJ late))) (. .))",
        "nsubj(late, It) cop(late, is) advmod(late, very) root(0, late)",
    ),
    (
        "copula with a prepositional phrase",
        "(S (NP (PRP She)) (VP (VBZ is) (PP (IN at) (NP (NN home)))))",
        "nsubj(home, She) cop(home, is) case(home, at) root(0, home)",
    ),
    (
        "clausal predicate, outer subject",
        "(S (NP (DT The) (NN trouble)) (VP (VBZ is) (SBAR (IN that) (S (NP (PRP it)) (VP (VBZ rains))))))",
        "det(trouble, The) nsubj:outer(rains, trouble) cop(rains, is) mark(rains, that) expl(rains, it) "
        "root(0, rains)",
    ),
    (
        "auxiliaries and negation",
        "(S (NP (PRP He)) (VP (MD will) (RB not) (VP (VB have) (VP (VBN slept)))))",
        "nsubj(slept, He) aux(slept, will) advmod(slept, not) aux(slept, have) root(0, slept)",
    ),
    (
        "coordinated nouns",
        "(S (NP (NP (NNS gulls)) (, ,) (NP (NNS crabs)) (CC and) (NP (NNS seals))) (VP (VBP sleep)))",
        "nsubj(sleep, gulls) conj(gulls, crabs) cc(seals, and) conj(gulls, seals) root(0, sleep)",
    ),
    (
        "coordinated verb phrases",
        "(S (NP (PRP He)) (VP (VP (VBD sang)) (CC and) (VP (VBD left) (NP (DT the) (NN tower)))))",
        "nsubj(sang, He) root(0, sang) cc(left, and) conj(sang, left) det(tower, the) obj(left, tower)",
    ),
    (
        "coordinated adjectives before a noun",
        "(NP (JJ red) (CC and) (JJ green) (NNS lamps))",
        "amod(lamps, red) cc(green, and) conj(red, green) root(0, lamps)",
    ),
    (
        "both … and",
        "(NP (DT both) (NP (NN tower)) (CC and) (NP (NN lamp)))",
        "root(0, tower) det(tower, both) cc(lamp, and) conj(tower, lamp)",
    ),
    (
        "relative clause with its subject",
        "(NP (NP (DT the) (NN man)) (SBAR (WHNP (WP who)) (S (VP (VBD slept)))))",
        "det(man, the) root(0, man) nsubj(slept, who) acl:relcl(man, slept)",
    ),
    (
        "relative clause with its object",
        "(NP (NP (DT the) (NN lamp)) (SBAR (WHNP (WDT that)) (S (NP (PRP I)) (VP (VBD saw)))))",
        "det(lamp, the) root(0, lamp) obj(saw, that) nsubj(saw, I) acl:relcl(lamp, saw)",
    ),
    (
        "relative clause without a pronoun",
        "(NP (NP (DT the) (NN lamp)) (SBAR (S (NP (PRP I)) (VP (VBD saw)))))",
        "det(lamp, the) root(0, lamp) nsubj(saw, I) acl:relcl(lamp, saw)",
    ),
    (
        "clause of a noun",
        "(NP (NP (DT the) (NN fact)) (SBAR (IN that) (S (NP (PRP he)) (VP (VBD slept)))))",
        "det(fact, the) root(0, fact) mark(slept, that) nsubj(slept, he) acl(fact, slept)",
    ),
    (
        "participle after a noun",
        "(NP (NP (DT a) (NN lamp)) (VP (VBN lit) (PP (IN by) (NP (PRP him)))))",
        "det(lamp, a) root(0, lamp) acl(lamp, lit) case(him, by) obl:agent(lit, him)",
    ),
    (
        "clausal complement",
        "(S (NP (PRP I)) (VP (VBP know) (SBAR (IN that) (S (NP (PRP he)) (VP (VBZ sleeps))))))",
        "nsubj(know, I) root(0, know) mark(sleeps, that) nsubj(sleeps, he) ccomp(know, sleeps)",
    ),
    (
        "free relative as an object",
        "(S (NP (PRP I)) (VP (VBP know) (SBAR (WHNP (WP what)) (S (NP (PRP he)) (VP (VBD saw))))))",
        "nsubj(know, I) root(0, know) obj(know, what) nsubj(saw, he) acl:relcl(what, saw)",
    ),
    (
        "subject control",
        "(S (NP (PRP He)) (VP (VBZ wants) (S (VP (TO to) (VP (VB sleep))))))",
        "nsubj(wants, He) root(0, wants) mark(sleep, to) xcomp(wants, sleep)",
    ),
    (
        "object control",
        "(S (NP (PRP He)) (VP (VBD asked) (S (NP (PRP me)) (VP (TO to) (VP (VB leave))))))",
        "nsubj(asked, He) root(0, asked) obj(asked, me) mark(leave, to) xcomp(asked, leave)",
    ),
    (
        "adverbial clause before",
        "(S (SBAR (IN If) (S (NP (PRP it)) (VP (VBZ is) (ADJP (JJ late))))) (, ,) (NP (PRP I)) (VP "
        "(VBP leave)))",
        "mark(late, If) nsubj(late, it) cop(late, is) advcl(leave, late) nsubj(leave, I) root(0, leave)",
    ),
    (
        "infinitive of purpose",
        "(S (NP (PRP He)) (VP (VBD came) (S-PRP (VP (TO to) (VP (VB help))))))",
        "nsubj(came, He) root(0, came) mark(help, to) advcl(came, help)",
    ),
    (
        "clause as the subject",
        "(S (S (VP (VBG Reading) (NP (NNS books)))) (VP (VBZ helps)))",
        "csubj(helps, Reading) obj(Reading, books) root(0, helps)",
    ),
    (
        "expletive and extraposed clause",
        "(S (NP (PRP It)) (VP (VBZ is) (ADJP (JJ easy) (S (VP (TO to) (VP (VB fall)))))))",
        "expl(easy, It) cop(easy, is) root(0, easy) mark(fall, to) csubj(easy, fall)",
    ),
    (
        "existential there",
        "(S (NP (EX There)) (VP (VBZ is) (NP (DT a) (NN lamp)) (PP (IN in) (NP (DT the) (NN tower)))))",
        "expl(is, There) root(0, is) det(lamp, a) nsubj(is, lamp) case(tower, in) det(tower, the) "
        "obl(is, tower)",
    ),
    (
        "question with inversion",
        "(SQ (VBD Did) (NP (PRP you)) (VP (VB see) (NP (PRP it))) (. ?))",
        "aux(see, Did) nsubj(see, you) root(0, see) obj(see, it)",
    ),
    (
        "question for the object",
        "(SBARQ (WHNP (WP What)) (SQ (VBD did) (NP (PRP you)) (VP (VB see))) (. ?))",
        "obj(see, What) aux(see, did) nsubj(see, you) root(0, see)",
    ),
    (
        "question for the predicate",
        "(SBARQ (WHNP (WP What)) (SQ (VBZ is) (NP (PRP it))) (. ?))",
        "root(0, What) cop(What, is) nsubj(What, it)",
    ),
    (
        "two objects",
        "(S (NP (PRP He)) (VP (VBD gave) (NP (PRP me)) (NP (DT a) (NN lamp))))",
        "nsubj(gave, He) root(0, gave) iobj(gave, me) det(lamp, a) obj(gave, lamp)",
    ),
    (
        "prepositional phrases of a verb and a noun",
        "(S (NP (PRP I)) (VP (VBD saw) (NP (NP (NNS ships)) (PP (IN from) (NP (NNP Riga)))) "
        "(PP (IN at) (NP (NN dawn)))))",
        "nsubj(saw, I) root(0, saw) obj(saw, ships) case(Riga, from) nmod(ships, Riga) case(dawn, at) "
        "obl(saw, dawn)",
    ),
    (
        "gerund after a preposition",
        "(S (NP (PRP He)) (VP (VBD left) (PP (IN without) (S (VP (VBG eating))))))",
        "nsubj(left, He) root(0, left) mark(eating, without) advcl(left, eating)",
    ),
    (
        "possessives",
        "(NP (NP (PRP$ my) (NN sister) (POS 's)) (NN boat))",
        "nmod:poss(sister, my) nmod:poss(boat, sister) case(sister, 's) root(0, boat)",
    ),
    (
        "particle",
        "(S (NP (PRP He)) (VP (VBD took) (PRT (RP off)) (NP (PRP$ his) (NN coat))))",
        "nsubj(took, He) root(0, took) compound:prt(took, off) nmod:poss(coat, his) obj(took, coat)",
    ),
    (
        "predeterminer, numbers and a compound",
        "(NP (PDT all) (DT the) (CD three) (NN stone) (NNS towers))",
        "det:predet(towers, all) det(towers, the) nummod(towers, three) compound(towers, stone) "
        "root(0, towers)",
    ),
    (
        "sum of money",
        "(NP ($ $) (CD 20) (CD million))",
        "root(0, $) compound(million, 20) nummod($, million)",
    ),
    (
        "date",
        "(S (NP (PRP He)) (VP (VBD died) (PP (IN on) (NP (NNP October) (CD 6) (, ,) (CD 1814)))))",
        "nsubj(died, He) root(0, died) case(6, on) compound(6, October) obl(died, 6) nmod:unmarked(6, 1814)",
    ),
    (
        "time without a preposition",
        "(S (NP (PRP He)) (VP (VBD slept) (NP-TMP (JJ last) (NN week))))",
        "nsubj(slept, He) root(0, slept) amod(week, last) obl:unmarked(slept, week)",
    ),
    (
        "name of a person with a title",
        "(S (NP (NNP Mrs.) (NNP Mary) (NNP Kerr)) (VP (VBD slept)))",
        "nmod:desc(Mary, Mrs.) nsubj(slept, Mary) flat(Mary, Kerr) root(0, slept)",
    ),
    (
        "name of an institution",
        "(NP (NNP Durham) (NNP University))",
        "compound(University, Durham) root(0, University)",
    ),
    (
        "apposition",
        "(S (NP (NP (NNP Kerr)) (, ,) (NP (DT the) (NN keeper)) (, ,)) (VP (VBD slept)))",
        "nsubj(slept, Kerr) det(keeper, the) appos(Kerr, keeper) root(0, slept)",
    ),
    (
        "list without a conjunction",
        "(NP (NP (NNS gulls)) (, ,) (NP (NNS crabs)) (, ,) (NP (NNS seals)))",
        "root(0, gulls) conj(gulls, crabs) conj(gulls, seals)",
    ),
    (
        "verb left out",
        "(S (NP (PRP He)) (VP (MD will)) (. .))",
        "nsubj(will, He) root(0, will)",
    ),
    (
        "fixed expression",
        "(S (NP (PRP He)) (VP (VBD left) (PP (IN because) (IN of) (NP (DT the) (NN rain)))))",
        "nsubj(left, He) root(0, left) case(rain, because) fixed(because, of) det(rain, the) obl(left, rain)",
    ),
    (
        "vocative and interjection",
        "(S (INTJ (UH Oh)) (, ,) (NP-VOC (NNP Mary)) (, ,) (NP-SBJ (PRP he)) (VP (VBD slept)))",
        "discourse(slept, Oh) vocative(slept, Mary) nsubj(slept, he) root(0, slept)",
    ),
    (
        "aside before a clause",
        "(S (NP (PRP I)) (VP (VBP mean) (SBAR (S (NP (PRP he)) (VP (VBD slept))))))",
        "nsubj(mean, I) parataxis(slept, mean) nsubj(slept, he) root(0, slept)",
    ),
    (
        "words said again",
        "(S (NP (PRP I)) (, ,) (NP (PRP I)) (VP (VBP know)))",
        "reparandum(I-2, I) nsubj(know, I-2) root(0, know)",
    ),
    (
        "quotation before who says it",
        "(S (`` ``) (S (NP (PRP It)) (VP (VBZ is) (ADJP (JJ late)))) (, ,) ('' '') (NP (PRP he)) (VP "
        "(VBD said)))",
        "nsubj(late, It) cop(late, is) ccomp(said, late) nsubj(said, he) root(0, said)",
    ),
    (
        "comparison",
        "(S (NP (PRP It)) (VP (VBZ is) (ADJP (JJR older) (PP (IN than) (NP (PRP me))))))",
        "nsubj(older, It) cop(older, is) root(0, older) case(me, than) obl(older, me)",
    ),
]

STANFORD = [
    (
        "prepositions are heads",
        "(S (NP (PRP I)) (VP (VBD saw) (NP (NP (NNS ships)) (PP (IN from) (NP (NNP Riga))))))",
        "nsubj(saw, I) root(0, saw) dobj(saw, ships) prep(ships, from) pobj(from, Riga)",
    ),
    (
        "passive",
        "(S (NP (DT The) (NN lamp)) (VP (VBD was) (VP (VBN lit) (PP (IN by) (NP (PRP him))))))",
        "det(lamp, The) nsubjpass(lit, lamp) auxpass(lit, was) root(0, lit) prep(lit, by) pobj(by, him)",
    ),
    (
        "the copula before a preposition is the head",
        "(S (NP (PRP She)) (VP (VBZ is) (PP (IN at) (NP (NN home)))))",
        "nsubj(is, She) root(0, is) prep(is, at) pobj(at, home)",
    ),
    (
        "gerunds, relative clauses, negation",
        "(S (NP (PRP He)) (VP (VBD did) (RB not) (VP (VB leave) (PP (IN without) (S (VP (VBG eating)))))))",
        "nsubj(leave, He) aux(leave, did) neg(leave, not) root(0, leave) prep(leave, without) "
        "pcomp(without, eating)",
    ),
    (
        "names end in their head",
        "(S (NP (NNP Mary) (NNP Kerr)) (VP (VBD slept) (NP-TMP (JJ last) (NN week))))",
        "nn(Kerr, Mary) nsubj(slept, Kerr) root(0, slept) amod(week, last) tmod(slept, week)",
    ),
    (
        "possessives and infinitives",
        "(S (NP (NP (NNP Kerr) (POS 's)) (NN boat)) (VP (VBZ seems) (S (VP (TO to) (VP (VB float))))))",
        "poss(boat, Kerr) possessive(Kerr, 's) nsubj(seems, boat) root(0, seems) aux(float, to) "
        "xcomp(seems, float)",
    ),
]
