"""tests/golden/pca.txt: the first three principal components' scores (50 x 3) of scikit-learn for 50 x 7 values that are a
formula of the index, signs as it gives them; then the variance left out."""
import os
import numpy as np
from sklearn.decomposition import PCA

i = np.arange(50 * 7, dtype=np.float64)
x = (3 + np.sin(0.31 * i + 0.007 * i * i)).astype(np.float32).astype(np.float64).reshape(50, 7)
model = PCA(3, svd_solver="full").fit(x)
left = x.var(0, ddof=1).sum() - model.explained_variance_.sum()
path = os.path.join(os.path.dirname(__file__), "../../tests/golden/pca.txt")
np.savetxt(path, np.append(model.transform(x).ravel(), left), fmt="%.12g")
