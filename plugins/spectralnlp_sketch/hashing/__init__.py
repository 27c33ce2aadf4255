"""Hash n-grams of words and characters to columns, without a vocabulary.

The column of an n-gram is a documented hash: 64-bit FNV-1a over the letter ``w`` or ``c`` and the n-gram in
UTF-8 (words joined by one blank). The two halves of the hash are xored, and the lowest bits are the column.
If n-grams of words and of characters are both counted, word n-grams have the lower half of the columns, and
character n-grams the upper half.

Pairs of words that are near each other can be counted too. They have additional columns after all n-grams, as
many as the word n-grams have. Each word of a pair has a hash: 64-bit FNV-1a over the letter ``p`` and the
word's first four characters. The product of the two hashes, and their sum times FNV's prime, are xored and
folded to a column in the same way, so the order of the two words does not matter.
"""

# Nothing here is public: import public names from `spectralnlp_sketch`.
__all__: list[str] = []
