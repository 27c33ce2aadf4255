# %% [markdown]
# # Eigenwords in the plane
#
# Word vectors by one decomposition, drawn along two directions. A real text has millions of words and is not in the
# repository. Here a language is made up, of which we know the parts of speech, to see whether vectors find them.

# %%
import numpy as np
import spectralnlp

rng = np.random.default_rng(0)
words = {
    "determiner": ["the", "a", "this", "every"],
    "adjective": ["old", "red", "small", "loud"],
    "noun": ["cat", "dog", "fox", "hen", "cow", "owl"],
    "verb": ["saw", "bit", "fed", "met", "heard"],
}
frames = [
    ["determiner", "noun", "verb", "determiner", "noun"],
    ["determiner", "adjective", "noun", "verb", "determiner", "noun"],
]
frame_of = rng.integers(len(frames), size=2000)
sentences = [
    [str(rng.choice(words[kind])) for kind in frames[frame]]
    for frame in frame_of
]
print(" ".join(sentences[0]))

# %% [markdown]
# Nothing is told about parts of speech. Two words are alike if their neighbours are.

# %%
vectors = spectralnlp.train("eigenwords", sentences, dimensions=3, min_count=1)
for word in ("cat", "saw", "red"):
    near = [
        f"{other} {similarity:.2f}"
        for other, similarity in vectors.most_similar(word, 3)
    ]
    print(f"{word:5}", ", ".join(near))

# %% [markdown]
# The vectors have three dimensions; their two principal directions make a picture.

# %%
import matplotlib.pyplot as plt

points = vectors.vectors([word for kind in words.values() for word in kind])
centred = points - points.mean(axis=0)
plane = centred @ np.linalg.svd(centred, full_matrices=False)[2][:2].T

figure, axes = plt.subplots(figsize=(7, 4.5))
begin = 0
for kind, members in words.items():
    end = begin + len(members)
    axes.scatter(*plane[begin:end].T, label=kind, s=60, alpha=0.7)
    axes.annotate(
        ", ".join(members[:4]),
        plane[begin:end].mean(axis=0),
        (8, 8),
        textcoords="offset points",
    )
    begin = end
axes.legend(loc="best")
axes.margins(0.4)
axes.set_xticks([])
axes.set_yticks([])
plt.show()

# %% [markdown]
# Each part of speech is a heap: the directions that count are those in which neighbours differ. With real text the
# heaps are less tidy ([Eigenwords](../eigenwords.md) measures how tidy), and `spectralnlp plot` draws them.
