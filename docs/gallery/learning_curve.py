# %% [markdown]
# # The learning curve of a treebank
#
# Would more trees help? Train on parts of what there is, and look where the curve goes. The treebank of the repository
# has 171, much alike, so the curve is steep and early; the calls are the same for yours.

# %%
import spectralnlp

trees = list(spectralnlp.read_treebank("corpora/treebank/train.mrg"))
dev = list(spectralnlp.read_treebank("corpora/treebank/dev.mrg"))
print(len(trees), "trees to learn from,", len(dev), "to score on")

# %% [markdown]
# `pcfg` trains in a fraction of a second. Sentences are taken in the order of the file; for a treebank of several
# sources, shuffle them first, for the parts would differ in more than size.

# %%
sizes = [10, 20, 40, 80, len(trees)]
scores = {}
for estimator in ("pcfg", "pcfg, plain"):
    settings = {"preset": "plain"} if "plain" in estimator else {}
    models = [
        spectralnlp.train("pcfg", trees[:size], **settings) for size in sizes
    ]
    scores[estimator] = [
        spectralnlp.evaluate(model, dev).to_flat_dict()["f1"]
        for model in models
    ]
    print(estimator, [round(score, 1) for score in scores[estimator]])

# %%
import matplotlib.pyplot as plt

figure, axes = plt.subplots(figsize=(7, 4))
for estimator, values in scores.items():
    axes.plot(sizes, values, marker="o", label=estimator)
axes.set_xscale("log", base=2)
axes.set_xticks(sizes, [str(size) for size in sizes], minor=False)
axes.set_xlabel("trees")
axes.set_ylabel("F1 on dev")
axes.legend()
axes.grid(alpha=0.3)
plt.show()

# %% [markdown]
# Here the plain grammar is ahead: to annotate parents and siblings takes more trees than these. On real treebanks it is
# [the other way round](../benchmarks.md). On a logarithmic axis a curve that still rises at its end says: twice the trees, again so much. A curve that is flat
# says that other trees, or another model, are needed. [The learning curve of the WSJ
# sample](../lessons.md#grammars) has real sentences.
