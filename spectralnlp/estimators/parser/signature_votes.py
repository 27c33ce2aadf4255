"""Compute how p(tag | word signature) changes if one tree of a treebank is left out.

A signature is a spelling class of words. The rare words of a treebank vote for the tags of their signatures
(`estimators.shared.lexicon`). If a tree is left out, some rare words are missing, and other words become
rare.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spectralnlp.estimators.shared.lexicon import LexiconOptions
from spectralnlp.parameters import Floats, Ints
from spectralnlp.text.signatures import signature_chain
from spectralnlp.trees.treelog import TreeTable

_Votes = Mapping[tuple[int, int], float]  # votes of a word, by signature and tag


class _Token(NamedTuple):
    tree: int
    row: int
    tag: int
    is_first: bool


class SignatureShares(NamedTuple):
    """p(tag | signature) of a signature, from all trees, and with one tree left out at a time.

    Attributes:
        trees: int64 (n_some,), ascending; trees without which p(tag | signature) would be different.
        rows: int64 (n_some,); for each of these trees, the index of a preterminal node whose word would vote
            differently without the tree.
        whole: float64 (n_tags,); p(tag | signature) from all trees.
        without: float64 (n_some, n_tags); p(tag | signature) without each of these trees.
    """

    trees: NDArray[np.int64]
    rows: NDArray[np.int64]
    whole: Floats
    without: Floats

    @classmethod
    def fixed(cls, whole: Floats) -> SignatureShares:
        """Return the result for a signature whose p(tag | signature) does not depend on any single tree.

        Args:
            whole: float64 (n_tags,); p(tag | signature).
        """
        none = np.empty(0, np.int64)
        return cls(none, none, whole, np.empty((0, len(whole))))


@dataclass(frozen=True)
class SignatureVotes:
    """Votes of rare words for the tags of signatures (spelling classes).

    Changes of the votes are stored for each tree that could be left out.

    Attributes:
        options: settings of the lexicon, which determine the rare words and the smoothing.
        names: names of the signatures; the last one covers all words.
        votes: float64 (n_signatures, n_symbols); votes for each tag of a signature.
        voters: int64 (n_signatures,); number of words that vote for the tags of each signature.
        changes: int64 (n_changes, 4), sorted by signature; columns: signature, tree that is left out, row of
            a token of this tree, and the tag whose votes change, or -1 if the number of voters changes.
        change: float64 (n_changes,); number to add to the votes or voters if the tree is left out.
    """

    options: LexiconOptions
    names: Sequence[str]
    votes: Floats
    voters: NDArray[np.int64]
    changes: NDArray[np.int64]
    change: Floats

    @classmethod
    def of(
        cls,
        table: TreeTable,
        leaves: NDArray[np.intp],
        tags: Ints,
        names: Sequence[str],
        options: LexiconOptions,
    ) -> SignatureVotes:
        """Count how often rare words of a treebank vote for a tag of their signature.

        The result also tells how these votes change if a tree is left out.

        Args:
            table: treebank whose trees all have weight 1.
            leaves: int (n_tokens,); indices of the treebank's preterminal nodes.
            tags: int32 (n_tokens,); tag symbol of each token.
            names: names of the lexicon's signatures.
            options: settings of the lexicon.
        """
        number, known = {name: place for place, name in enumerate(names)}, frozenset(table.words)
        votes = np.zeros((len(names), int(tags.max(initial=0)) + 1))
        voters = np.zeros(len(names), np.int64)
        rows: list[tuple[int, int, int, int]] = []
        change: list[float] = []
        for word, tokens in _may_vote(table, leaves, tags, options.rare):
            looks = (signature_chain(options.signature(word, place, known), word) for place in (1, 0))
            chains = [[number[name] for name in chain if name in number] for chain in looks]
            now = _votes(tokens, chains, options.rare)
            for (sign, tag), share in now.items():
                votes[sign, tag] += share
            signs = {sign for sign, _ in now}
            voters[list(signs)] += 1
            for tree, row in {token.tree: token.row for token in reversed(tokens)}.items():
                then = _votes([each for each in tokens if each.tree != tree], chains, options.rare)
                for key in now.keys() | then.keys():
                    rows.append((key[0], tree, row, key[1]))
                    change.append(then.get(key, 0.0) - now.get(key, 0.0))
                others = {sign for sign, _ in then}
                rows += ((sign, tree, row, -1) for sign in signs ^ others)
                change += (1.0 if sign in others else -1.0 for sign in signs ^ others)
        changes = np.array(rows, np.int64).reshape(-1, 4)
        order = np.argsort(changes[:, 0], kind="stable")
        return cls(options, names, votes, voters, changes[order], np.array(change)[order])

    def shares(self, signature: int, tags: Sequence[int], prior: Floats) -> SignatureShares:
        """Estimate p(tag | signature) from all trees, and from all but one, for each tree that matters.

        Estimates are smoothed with the tags of coarser signatures. The result names the trees that were left
        out in turn; leaving out any other tree changes nothing.

        Args:
            signature: index of the signature.
            tags: symbols of the tags.
            prior: p(tag | any word) from all trees, float64 (n_tags,), for smoothing.
        """
        chain = self._coarser(signature)
        bounds = [np.searchsorted(self.changes[:, 0], [sign, sign + 1]) for sign in chain]
        parts = [slice(*each.tolist()) for each in bounds]
        concerned = np.concatenate([self.changes[part] for part in parts] or [self.changes[:0]])
        trees, first = np.unique(concerned[:, 1], return_index=True)
        whole, without = prior, np.tile(prior, (len(trees), 1))
        strength = self.options.signature_prior
        for sign, part in zip(chain, parts, strict=True):
            change, tree = self.change[part], np.searchsorted(trees, self.changes[part, 1])
            tag_of = self.changes[part, 3]
            votes, total = self.votes[sign, tags], self.votes[sign].sum()
            whole = (votes + strength * whole) / (total + strength)
            is_vote = tag_of >= 0
            totals = total + np.bincount(tree[is_vote], change[is_vote], len(trees))
            by_tag = [np.bincount(tree[tag_of == tag], change[tag_of == tag], len(trees)) for tag in tags]
            now = votes + np.stack(by_tag, axis=1)
            voters = self.voters[sign] + np.bincount(tree[~is_vote], change[~is_vote], len(trees))
            least = self.options.ending_words if "~" in self.names[sign] else 1
            there = (voters >= least)[:, None]
            without = np.where(there, (now + strength * without) / (totals + strength)[:, None], without)
        return SignatureShares(trees, concerned[first, 2], whole, without)

    def _coarser(self, signature: int) -> list[int]:
        """Return the indices of a signature and of the coarser ones that smooth it, coarsest first.

        The signature that covers all words is left out.
        """
        number = {name: place for place, name in enumerate(self.names[:-1])}
        look, _, ending = self.names[signature].partition("~")
        chain = [look, *(f"{look}~{ending[start:]}" for start in reversed(range(len(ending))))]
        return [number[name] for name in chain if name in number]


def _may_vote(
    table: TreeTable, leaves: NDArray[np.intp], tags: Ints, rare: int
) -> Iterator[tuple[str, list[_Token]]]:
    """Yield each word that is rare, or would be if a single tree were left out, with its tokens."""
    word, tree = table.word[leaves], table.tree[leaves]
    _, pair, in_tree = np.unique(
        word.astype(np.int64) * table.n_trees + tree, return_inverse=True, return_counts=True
    )
    count = np.bincount(word, minlength=len(table.words))
    chosen = np.zeros(len(table.words), bool)
    chosen[word[count[word] - in_tree[pair] <= rare]] = True
    is_first = np.append(True, tree[1:] != tree[:-1])[: len(leaves)]
    tokens = defaultdict[int, list[_Token]](list)
    for place in np.flatnonzero(chosen[word]).tolist():
        token = _Token(int(tree[place]), int(leaves[place]), int(tags[place]), bool(is_first[place]))
        tokens[int(word[place])].append(token)
    return ((table.words[each], some) for each, some in tokens.items())


def _votes(tokens: Sequence[_Token], chains: Sequence[Sequence[int]], rare: int) -> _Votes:
    """Return the votes of a word for the tags of its signatures; none if it is not rare or has no tokens.

    Args:
        tokens: the tokens of the word.
        chains: two lists of the word's signatures: in mid-sentence, and at the beginning of a sentence.
        rare: largest frequency of a rare word.
    """
    votes = Counter[tuple[int, int]]()
    if len(tokens) <= rare:
        for token in tokens:
            for sign in chains[token.is_first]:
                votes[sign, token.tag] += 1.0 / len(tokens)  # type: ignore[assignment]
    return votes
