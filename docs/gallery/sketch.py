# %% [markdown]
# # What a sketch keeps
#
# A sketch has few rows B in place of many rows X, and knows how wrong it can be: ‖XᵀX − BᵀB‖₂ is at most `bound_`. The
# example is a matrix of twelve directions and noise.

# %%
import numpy as np
from spectralnlp_sketch import FrequentDirections

rng = np.random.default_rng(0)
n, d, rank = 3000, 200, 12
X = rng.normal(size=(n, rank)) * np.linspace(3, 0.5, rank) @ rng.normal(
    size=(rank, d)
) + rng.normal(size=(n, d))
norm = np.linalg.norm(X, 2) ** 2
sizes = [8, 16, 32, 64, 128]
sketches = [
    FrequentDirections(sketch_size=size, method="figure-1").fit(X)
    for size in sizes
]
for size, sketch in zip(sizes, sketches, strict=True):
    error = sketch.measured_error(X) / norm
    print(f"{size:4} rows: error {error:.2%} of ‖X‖²")

# %% [markdown]
# Sketches with fewer rows lose some of these directions, those with
# more keep them all, and the rest is noise, which nobody misses.

# %%
import matplotlib.pyplot as plt

exact = np.linalg.svd(X, compute_uv=False)
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8))
left.plot(exact[:40], "k-", label="X")
for size, sketch in list(zip(sizes, sketches, strict=True))[:4]:
    left.plot(
        np.linalg.svd(sketch.sketch_, compute_uv=False)[:40],
        "--",
        label=f"B, {size} rows",
    )
left.set_title("singular values")
left.legend()
right.loglog(
    sizes,
    [sketch.bound_ / norm for sketch in sketches],
    "-",
    linewidth=7,
    alpha=0.4,
    label="bound that the sketch knows",
)
right.loglog(
    sizes,
    [sketch.measured_error(X) / norm for sketch in sketches],
    "s--",
    label="error",
)
right.set_xticks(sizes, [str(size) for size in sizes])
right.set_yticks([0.001, 0.01, 0.1], ["0.1 %", "1 %", "10 %"])
right.minorticks_off()
right.set_xlabel("rows of B")
right.set_title("error of XᵀX, relative to its norm")
right.legend()
plt.show()

# %% [markdown]
# Two properties make sketches useful on streams: one of parts is one of the whole, with the same promise, and
# reading it changes nothing.

# %%
parts = FrequentDirections(sketch_size=32, method="figure-1")
for block in np.array_split(X, 7):
    parts.partial_fit(block)
print(parts.measured_error(X) <= parts.bound_)

# %% [markdown]
# With up to some two thousand columns no sketch is needed at all: XᵀX itself is small, exact and faster.
# [Sketches](../sketches.md#which-one) says which to take when.
