"""tests/golden/tsne.txt: joint probabilities of scikit-learn for 40 points that are a formula of the index; the upper triangle
by rows. Perplexity 7."""
import os
import numpy as np
from scipy.spatial.distance import pdist, squareform
from sklearn.manifold._t_sne import _joint_probabilities

i = np.arange(40 * 6, dtype=np.float64)
x = np.sin(0.31 * i + 0.007 * i * i).astype(np.float32).astype(np.float64).reshape(40, 6)
p = _joint_probabilities(squareform(pdist(x, "sqeuclidean")), 7, 0)
np.savetxt(os.path.join(os.path.dirname(__file__), "../../tests/golden/tsne.txt"), p, fmt="%.9g")
