"""N-grams of words and characters as columns, without a vocabulary.

A column is a public function of the n-gram: FNV-1a of 64 bits over the letter ``w`` or ``c`` and the
n-gram in UTF-8 (words with one blank between them), the two halves xored, the lowest bits taken. Where there
are both kinds, words have the lower half of the columns and characters the upper half.

Pairs of words, where they are counted, have columns of their own behind these, as many as a kind has. The
hashes of the beginnings of two words, each FNV-1a of 64 bits over the letter ``p`` and the word's first
characters, are added and multiplied; the product, and the sum times FNV's prime, are xored and folded
likewise, so the order of the two does not matter.
"""

# Nothing here is public: the door is the package above.
__all__: list[str] = []
