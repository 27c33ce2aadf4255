# %% [markdown]
# # Digits in sixteen numbers
#
# `StreamingPCA` learns from images in batches, and is exact up to 2,048 columns: scikit-learn's
# digits have 64 pixels. The example shows the directions in which digits differ, and what is left
# of a digit when it is described by a few of them.

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from spectralnlp_sketch import StreamingPCA

digits = load_digits()
pca = StreamingPCA(16)
for batch in np.array_split(digits.data, 10):
    pca.partial_fit(batch)
explained = pca.explained_variance_ratio_.sum()
print(f"{pca.n_samples_seen_} images, {explained:.0%} of their variance")

# %%
figure, axes = plt.subplots(2, 8, figsize=(9, 2.6))
for axis, component in zip(axes.flat, pca.components_, strict=True):
    axis.imshow(component.reshape(8, 8), cmap="RdBu")
    axis.axis("off")
figure.suptitle("directions in which digits differ most")
plt.show()

# %% [markdown]
# Ten digits, and what 2, 4 and 16 directions keep of them.

# %%
shown = digits.data[:10]
figure, axes = plt.subplots(4, 10, figsize=(9, 3.8))
for row, size in zip(axes, (64, 2, 4, 16), strict=True):
    few = (
        StreamingPCA(size, method="exact").fit(digits.data)
        if size < 64
        else None
    )
    images = (
        shown if few is None else few.inverse_transform(few.transform(shown))
    )
    for axis, image in zip(row, images, strict=True):
        axis.imshow(image.reshape(8, 8), cmap="gray_r")
        axis.axis("off")
plt.show()

# %% [markdown]
# Rows can be taken out again: without its sevens, the model is that of the other digits.

# %%
sevens = digits.target == 7
without = StreamingPCA(16).fit(digits.data[~sevens])
pca.forget(digits.data[sevens])
print(np.allclose(pca.explained_variance_, without.explained_variance_))

# %% [markdown]
# [Principal components of streams](../how-to/pca.md) says when a sketch takes the place of the exact covariance, and
# what it costs.
