"""Written by tools/python/make_stub.py from the library's table of settings. Do not edit."""
from typing import Any, Callable, Dict, Literal, Optional, Tuple, TypedDict, Union

from ._method import Method as Method

__all__ = ["Barlow", "Confidence", "Confusion", "DbscanGroup", "Density", "Domino", "George", "Influence", "Itemsets",
           "JoinSpot", "KMeans", "Method", "Mistakes", "Multiaccuracy", "PlaneSpot", "Random", "SVM", "Spotlight", "Ward"]


class _Tsne(TypedDict, total=False):
    perplexity: float
    iterations: int
    exaggeration: float
    lr: float
    repulsion: Literal["auto", "exact", "fft"]


class _Compat(TypedDict, total=False):
    perplexity_log2: bool
    drop_tail: bool
    max_abs: bool
    weight_dropout: bool
    kl_decay: bool
    tsne_ramp: bool
    column_weight: bool
    adam_eps: bool


class _Scvis(TypedDict, total=False):
    perplexity: float
    batch: int
    iterations: int
    lr: float
    l2: float
    compat: _Compat


class _Umap(TypedDict, total=False):
    neighbours: int
    min_dist: float
    spread: float
    epochs: int
    negatives: int
    lr: float


class _Mixture(TypedDict, total=False):
    k_min: int
    k_max: int
    tol: float
    ridge: float
    max_iterations: int


class PlaneSpot(Method):
    """A mixture over a 2-D map and the confidence (Plumb et al. 2023).

    name: label in tables; "": the method, and its profile, reducer and representation where they are not its own; a text of at
        most 79 bytes
    reduce: dimensionality reduction before the method; none, pca, tsne, scvis or umap
    dim: dimensions after the reduction; pca: at most rows - 1, and features; an integer from 1 to 4096
    normalise: features scaled to length 1 before the reduction; true or false
    hardness: first dimension along the classifier's direction; the reducer gets the rest; true or false
    tsne: t-SNE (reduce: tsne): a dict with perplexity, iterations, exaggeration, lr, repulsion
    scvis: scvis (reduce: scvis): a dict with perplexity, batch, iterations, lr, l2, compat
    umap: UMAP (reduce: umap): a dict with neighbours, min_dist, spread, epochs, negatives, lr
    mixture: Gaussian mixture; PlaneSpot chooses its size by BIC: a dict with k_min, k_max, tol, ridge, max_iterations
    weight: weight of the confidence beside the points (the paper's w); a number from 0 to 1000
    norm: normalisation of the points: min-max, or the released code's (s - min) / max; minmax or released
    order: errors that order hypotheses: 1 - confidence, or confidence < 0.5; soft or hard"""
    def __init__(self, n_slices: int = 10, target_class: Union[int, str] = "each", seed: int = 0, device: str = "auto",
                 threads: int = 0, proof: Union[None, str, float] = None, chance: int = 0,
                 classifier: Optional[Callable[[Any], Any]] = None, least: int = 20, *, name: str = "",
                 reduce: Literal["none", "pca", "tsne", "scvis", "umap"] = "scvis", dim: int = 2, normalise: bool = False,
                 hardness: bool = False, tsne: Optional[_Tsne] = None, scvis: Optional[_Scvis] = None,
                 umap: Optional[_Umap] = None, mixture: Optional[_Mixture] = None, weight: float = 0.025,
                 norm: Literal["minmax", "released"] = "minmax", order: Literal["soft", "hard"] = "soft") -> None: ...


class Spotlight(Method):
    """Kernels placed where the loss under them is greatest (d'Eon et al. 2022).

    name: label in tables; "": the method, and its profile, reducer and representation where they are not its own; a text of at
        most 79 bytes
    reduce: dimensionality reduction before the method; none, pca, tsne, scvis or umap
    dim: dimensions after the reduction; pca: at most rows - 1, and features; an integer from 1 to 4096
    normalise: features scaled to length 1 before the reduction; true or false
    hardness: first dimension along the classifier's direction; the reducer gets the rest; true or false
    tsne: t-SNE (reduce: tsne): a dict with perplexity, iterations, exaggeration, lr, repulsion
    scvis: scvis (reduce: scvis): a dict with perplexity, batch, iterations, lr, l2, compat
    umap: UMAP (reduce: umap): a dict with neighbours, min_dist, spread, epochs, negatives, lr
    profile: defaults of the other settings: Spotter's, or those of the method's authors, which the paper takes; spotter or
        paper
    compat: behaviour of the method's upstream code, to the letter; true or false (None: False, with profile paper True)
    threshold: share of the greatest weight that a row needs (upstream's 0.5 is of weights that sum to 1: no row has it); a
        number from 0 to 1 (None: 0.1, with profile paper 0.5)
    min_weight: least total weight of a spotlight, as a fraction of the rows; a number from 1e-06 to 0.5
    kernel: kernel, exp(-D/2) or max(0, 1 - D); gaussian or compact
    precision: precision of a kernel, one number or a matrix; spherical or full
    steps: Adam steps per spotlight; an integer from 2 to 1000000
    lr: Adam's first learning rate; a number from 1e-09 to 100 (None: 0.005, with profile paper 0.001)
    patience: steps without progress before the learning rate is halved; an integer from 0 to 1000000
    barrier_scale: scale of the penalty on too little weight; a number from 0 to 1e+06
    barrier_end: last width of the penalty, in minimum weights; a number from 1e-06 to 1
    membership: rows of weight at least `threshold`, or the `min_weight` x rows of greatest weight; weight or top (None:
        'weight', with profile paper 'top')"""
    def __init__(self, n_slices: int = 10, target_class: Union[int, str] = "each", seed: int = 0, device: str = "auto",
                 threads: int = 0, proof: Union[None, str, float] = None, chance: int = 0,
                 classifier: Optional[Callable[[Any], Any]] = None, least: int = 20, *, name: str = "",
                 reduce: Literal["none", "pca", "tsne", "scvis", "umap"] = "none", dim: int = 2, normalise: bool = False,
                 hardness: bool = False, tsne: Optional[_Tsne] = None, scvis: Optional[_Scvis] = None,
                 umap: Optional[_Umap] = None, profile: Literal["spotter", "paper"] = "spotter", compat: Optional[bool] = None,
                 threshold: Optional[float] = None, min_weight: float = 0.01,
                 kernel: Literal["gaussian", "compact"] = "gaussian", precision: Literal["spherical", "full"] = "spherical",
                 steps: int = 1000, lr: Optional[float] = None, patience: int = 20, barrier_scale: float = 1.0,
                 barrier_end: float = 0.05, membership: Optional[Literal["weight", "top"]] = None) -> None: ...


class Domino(Method):
    """A mixture over embeddings, labels and predictions (Eyuboglu et al. 2022).

    name: label in tables; "": the method, and its profile, reducer and representation where they are not its own; a text of at
        most 79 bytes
    reduce: dimensionality reduction before the method; none, pca, tsne, scvis or umap
    dim: dimensions after the reduction; pca: at most rows - 1, and features; an integer from 1 to 4096
    normalise: features scaled to length 1 before the reduction; true or false
    hardness: first dimension along the classifier's direction; the reducer gets the rest; true or false
    tsne: t-SNE (reduce: tsne): a dict with perplexity, iterations, exaggeration, lr, repulsion
    scvis: scvis (reduce: scvis): a dict with perplexity, batch, iterations, lr, l2, compat
    umap: UMAP (reduce: umap): a dict with neighbours, min_dist, spread, epochs, negatives, lr
    mixture: Gaussian mixture; PlaneSpot chooses its size by BIC: a dict with k_min, k_max, tol, ridge, max_iterations
    gamma: weight of labels and predictions beside the features; a number from 0 to 1e+06
    gamma_hat: weight of the predictions where it is another; -1: gamma; a number from -1 to 1e+06
    components: components of Domino's mixture; an integer from 1 to 512
    start: start from the cells of the confusion matrix, or from k-means; confusion or kmeans
    noise: noise added to the start; a number from 0 to 1
    covariance: covariance of each component; diag or full
    assign: rows go to the best of the slices returned, or to the best of all components; kept or all"""
    def __init__(self, n_slices: int = 10, target_class: Union[int, str] = "each", seed: int = 0, device: str = "auto",
                 threads: int = 0, proof: Union[None, str, float] = None, chance: int = 0,
                 classifier: Optional[Callable[[Any], Any]] = None, least: int = 20, *, name: str = "",
                 reduce: Literal["none", "pca", "tsne", "scvis", "umap"] = "pca", dim: int = 128, normalise: bool = False,
                 hardness: bool = False, tsne: Optional[_Tsne] = None, scvis: Optional[_Scvis] = None,
                 umap: Optional[_Umap] = None, mixture: Optional[_Mixture] = None, gamma: float = 10.0, gamma_hat: float = -1.0,
                 components: int = 25, start: Literal["confusion", "kmeans"] = "confusion", noise: float = 0.001,
                 covariance: Literal["diag", "full"] = "diag", assign: Literal["kept", "all"] = "kept") -> None: ...


class Barlow(Method):
    """Leaves of a decision tree that tells failures from successes (Singla et al. 2021).

    name: label in tables; "": the method, and its profile, reducer and representation where they are not its own; a text of at
        most 79 bytes
    reduce: dimensionality reduction before the method; none, pca, tsne, scvis or umap
    dim: dimensions after the reduction; pca: at most rows - 1, and features; an integer from 1 to 4096
    normalise: features scaled to length 1 before the reduction; true or false
    hardness: first dimension along the classifier's direction; the reducer gets the rest; true or false
    tsne: t-SNE (reduce: tsne): a dict with perplexity, iterations, exaggeration, lr, repulsion
    scvis: scvis (reduce: scvis): a dict with perplexity, batch, iterations, lr, l2, compat
    umap: UMAP (reduce: umap): a dict with neighbours, min_dist, spread, epochs, negatives, lr
    compat: behaviour of the method's upstream code, to the letter; true or false
    depth: greatest depth of the decision tree; an integer from 1 to 30
    features: number of features that the tree may use; an integer from 1 to 1000000
    choose: rule for these features: greatest mutual information with failure, or greatest mean; information or activation"""
    def __init__(self, n_slices: int = 10, target_class: Union[int, str] = "each", seed: int = 0, device: str = "auto",
                 threads: int = 0, proof: Union[None, str, float] = None, chance: int = 0,
                 classifier: Optional[Callable[[Any], Any]] = None, least: int = 20, *, name: str = "",
                 reduce: Literal["none", "pca", "tsne", "scvis", "umap"] = "none", dim: int = 2, normalise: bool = False,
                 hardness: bool = False, tsne: Optional[_Tsne] = None, scvis: Optional[_Scvis] = None,
                 umap: Optional[_Umap] = None, compat: bool = False, depth: int = 11, features: int = 128,
                 choose: Literal["information", "activation"] = "information") -> None: ...


class George(Method):
    """Clusters of the UMAP-reduced embeddings (Sohoni et al. 2020).

    name: label in tables; "": the method, and its profile, reducer and representation where they are not its own; a text of at
        most 79 bytes
    reduce: dimensionality reduction before the method; none, pca, tsne, scvis or umap
    dim: dimensions after the reduction; pca: at most rows - 1, and features; an integer from 1 to 4096
    normalise: features scaled to length 1 before the reduction; true or false
    hardness: first dimension along the classifier's direction; the reducer gets the rest; true or false
    tsne: t-SNE (reduce: tsne): a dict with perplexity, iterations, exaggeration, lr, repulsion
    scvis: scvis (reduce: scvis): a dict with perplexity, batch, iterations, lr, l2, compat
    umap: UMAP (reduce: umap): a dict with neighbours, min_dist, spread, epochs, negatives, lr
    mixture: Gaussian mixture; PlaneSpot chooses its size by BIC: a dict with k_min, k_max, tol, ridge, max_iterations
    george_least: fewest rows of a piece of a cluster; an integer from 1 to 1000000000
    cluster: clustering by Gaussian mixtures, or by k-means; mixture or kmeans
    clusters: most clusters; an integer from 1 to 64
    search: choice of their number by silhouette, from 2 on (false: exactly `clusters`); true or false
    starts: starts for each number of clusters; an integer from 1 to 100
    overcluster: pieces that each cluster is tried to be cut into; 0: none; an integer from 0 to 16"""
    def __init__(self, n_slices: int = 10, target_class: Union[int, str] = "each", seed: int = 0, device: str = "auto",
                 threads: int = 0, proof: Union[None, str, float] = None, chance: int = 0,
                 classifier: Optional[Callable[[Any], Any]] = None, least: int = 20, *, name: str = "",
                 reduce: Literal["none", "pca", "tsne", "scvis", "umap"] = "umap", dim: int = 2, normalise: bool = True,
                 hardness: bool = False, tsne: Optional[_Tsne] = None, scvis: Optional[_Scvis] = None,
                 umap: Optional[_Umap] = None, mixture: Optional[_Mixture] = None, george_least: int = 25,
                 cluster: Literal["mixture", "kmeans"] = "mixture", clusters: int = 10, search: bool = True, starts: int = 3,
                 overcluster: int = 5) -> None: ...


class Multiaccuracy(Method):
    """Ridge regressions of the loss's slope (Kim et al. 2019).

    name: label in tables; "": the method, and its profile, reducer and representation where they are not its own; a text of at
        most 79 bytes
    reduce: dimensionality reduction before the method; none, pca, tsne, scvis or umap
    dim: dimensions after the reduction; pca: at most rows - 1, and features; an integer from 1 to 4096
    normalise: features scaled to length 1 before the reduction; true or false
    hardness: first dimension along the classifier's direction; the reducer gets the rest; true or false
    tsne: t-SNE (reduce: tsne): a dict with perplexity, iterations, exaggeration, lr, repulsion
    scvis: scvis (reduce: scvis): a dict with perplexity, batch, iterations, lr, l2, compat
    umap: UMAP (reduce: umap): a dict with neighbours, min_dist, spread, epochs, negatives, lr
    compat: behaviour of the method's upstream code, to the letter; true or false
    threshold: share of an auditor's greatest value that a row needs; a number from 0 to 1
    multiaccuracy_least: fewest rows of a partition; an integer from 1 to 1000000000
    eta: step of the repair after each auditor; a number from 1e-09 to 100
    ridge: ridge of the auditors' regression; a number from 1e-12 to 1e+12
    held_out: share of the rows by which an auditor is chosen; a number from 0.01 to 0.9
    gain: least held-out correlation of an auditor; a number from 0 to 1e+06"""
    def __init__(self, n_slices: int = 10, target_class: Union[int, str] = "each", seed: int = 0, device: str = "auto",
                 threads: int = 0, proof: Union[None, str, float] = None, chance: int = 0,
                 classifier: Optional[Callable[[Any], Any]] = None, least: int = 20, *, name: str = "",
                 reduce: Literal["none", "pca", "tsne", "scvis", "umap"] = "none", dim: int = 2, normalise: bool = False,
                 hardness: bool = False, tsne: Optional[_Tsne] = None, scvis: Optional[_Scvis] = None,
                 umap: Optional[_Umap] = None, compat: bool = False, threshold: float = 0.5, multiaccuracy_least: int = 10,
                 eta: float = 0.1, ridge: float = 1.0, held_out: float = 0.3, gain: float = 0.0001) -> None: ...


class Random(Method):
    """A baseline: wrong rows in random sets. predict is not possible.

    name: label in tables; "": the method, and its profile, reducer and representation where they are not its own; a text of at
        most 79 bytes
    reduce: dimensionality reduction before the method; none, pca, tsne, scvis or umap
    dim: dimensions after the reduction; pca: at most rows - 1, and features; an integer from 1 to 4096
    normalise: features scaled to length 1 before the reduction; true or false
    hardness: first dimension along the classifier's direction; the reducer gets the rest; true or false
    tsne: t-SNE (reduce: tsne): a dict with perplexity, iterations, exaggeration, lr, repulsion
    scvis: scvis (reduce: scvis): a dict with perplexity, batch, iterations, lr, l2, compat
    umap: UMAP (reduce: umap): a dict with neighbours, min_dist, spread, epochs, negatives, lr
    rows: rows of a set; an integer from 1 to 1000000000
    among: rows that are drawn from: those about which the classifier is wrong, or all; errors or all"""
    def __init__(self, n_slices: int = 10, target_class: Union[int, str] = "each", seed: int = 0, device: str = "auto",
                 threads: int = 0, proof: Union[None, str, float] = None, chance: int = 0,
                 classifier: Optional[Callable[[Any], Any]] = None, least: int = 20, *, name: str = "",
                 reduce: Literal["none", "pca", "tsne", "scvis", "umap"] = "none", dim: int = 2, normalise: bool = False,
                 hardness: bool = False, tsne: Optional[_Tsne] = None, scvis: Optional[_Scvis] = None,
                 umap: Optional[_Umap] = None, rows: int = 25, among: Literal["errors", "all"] = "errors") -> None: ...


class Confidence(Method):
    """A baseline: the wrong rows, sorted by confidence and cut into sets.

    name: label in tables; "": the method, and its profile, reducer and representation where they are not its own; a text of at
        most 79 bytes
    reduce: dimensionality reduction before the method; none, pca, tsne, scvis or umap
    dim: dimensions after the reduction; pca: at most rows - 1, and features; an integer from 1 to 4096
    normalise: features scaled to length 1 before the reduction; true or false
    hardness: first dimension along the classifier's direction; the reducer gets the rest; true or false
    tsne: t-SNE (reduce: tsne): a dict with perplexity, iterations, exaggeration, lr, repulsion
    scvis: scvis (reduce: scvis): a dict with perplexity, batch, iterations, lr, l2, compat
    umap: UMAP (reduce: umap): a dict with neighbours, min_dist, spread, epochs, negatives, lr
    rows: rows of a chunk; an integer from 1 to 1000000000"""
    def __init__(self, n_slices: int = 10, target_class: Union[int, str] = "each", seed: int = 0, device: str = "auto",
                 threads: int = 0, proof: Union[None, str, float] = None, chance: int = 0,
                 classifier: Optional[Callable[[Any], Any]] = None, least: int = 20, *, name: str = "",
                 reduce: Literal["none", "pca", "tsne", "scvis", "umap"] = "none", dim: int = 2, normalise: bool = False,
                 hardness: bool = False, tsne: Optional[_Tsne] = None, scvis: Optional[_Scvis] = None,
                 umap: Optional[_Umap] = None, rows: int = 25) -> None: ...


class Confusion(Method):
    """A baseline: the cells of the confusion matrix, as dcbench has them.

    name: label in tables; "": the method, and its profile, reducer and representation where they are not its own; a text of at
        most 79 bytes
    reduce: dimensionality reduction before the method; none, pca, tsne, scvis or umap
    dim: dimensions after the reduction; pca: at most rows - 1, and features; an integer from 1 to 4096
    normalise: features scaled to length 1 before the reduction; true or false
    hardness: first dimension along the classifier's direction; the reducer gets the rest; true or false
    tsne: t-SNE (reduce: tsne): a dict with perplexity, iterations, exaggeration, lr, repulsion
    scvis: scvis (reduce: scvis): a dict with perplexity, batch, iterations, lr, l2, compat
    umap: UMAP (reduce: umap): a dict with neighbours, min_dist, spread, epochs, negatives, lr"""
    def __init__(self, n_slices: int = 10, target_class: Union[int, str] = "each", seed: int = 0, device: str = "auto",
                 threads: int = 0, proof: Union[None, str, float] = None, chance: int = 0,
                 classifier: Optional[Callable[[Any], Any]] = None, least: int = 20, *, name: str = "",
                 reduce: Literal["none", "pca", "tsne", "scvis", "umap"] = "none", dim: int = 2, normalise: bool = False,
                 hardness: bool = False, tsne: Optional[_Tsne] = None, scvis: Optional[_Scvis] = None,
                 umap: Optional[_Umap] = None) -> None: ...


class KMeans(Method):
    """A baseline: clusters of k-means.

    name: label in tables; "": the method, and its profile, reducer and representation where they are not its own; a text of at
        most 79 bytes
    reduce: dimensionality reduction before the method; none, pca, tsne, scvis or umap
    dim: dimensions after the reduction; pca: at most rows - 1, and features; an integer from 1 to 4096
    normalise: features scaled to length 1 before the reduction; true or false
    hardness: first dimension along the classifier's direction; the reducer gets the rest; true or false
    tsne: t-SNE (reduce: tsne): a dict with perplexity, iterations, exaggeration, lr, repulsion
    scvis: scvis (reduce: scvis): a dict with perplexity, batch, iterations, lr, l2, compat
    umap: UMAP (reduce: umap): a dict with neighbours, min_dist, spread, epochs, negatives, lr
    clusters: clusters; an integer from 1 to 512
    weight: weight of the confidence beside rows of mean squared length 1; a number from 0 to 1000"""
    def __init__(self, n_slices: int = 10, target_class: Union[int, str] = "each", seed: int = 0, device: str = "auto",
                 threads: int = 0, proof: Union[None, str, float] = None, chance: int = 0,
                 classifier: Optional[Callable[[Any], Any]] = None, least: int = 20, *, name: str = "",
                 reduce: Literal["none", "pca", "tsne", "scvis", "umap"] = "none", dim: int = 2, normalise: bool = False,
                 hardness: bool = False, tsne: Optional[_Tsne] = None, scvis: Optional[_Scvis] = None,
                 umap: Optional[_Umap] = None, clusters: int = 30, weight: float = 1.0) -> None: ...


class Ward(Method):
    """A baseline: clusters of Ward's method.

    name: label in tables; "": the method, and its profile, reducer and representation where they are not its own; a text of at
        most 79 bytes
    reduce: dimensionality reduction before the method; none, pca, tsne, scvis or umap
    dim: dimensions after the reduction; pca: at most rows - 1, and features; an integer from 1 to 4096
    normalise: features scaled to length 1 before the reduction; true or false
    hardness: first dimension along the classifier's direction; the reducer gets the rest; true or false
    tsne: t-SNE (reduce: tsne): a dict with perplexity, iterations, exaggeration, lr, repulsion
    scvis: scvis (reduce: scvis): a dict with perplexity, batch, iterations, lr, l2, compat
    umap: UMAP (reduce: umap): a dict with neighbours, min_dist, spread, epochs, negatives, lr
    clusters: clusters that the tree is cut into; an integer from 1 to 512
    weight: weight of the confidence beside rows of mean squared length 1; a number from 0 to 1000"""
    def __init__(self, n_slices: int = 10, target_class: Union[int, str] = "each", seed: int = 0, device: str = "auto",
                 threads: int = 0, proof: Union[None, str, float] = None, chance: int = 0,
                 classifier: Optional[Callable[[Any], Any]] = None, least: int = 20, *, name: str = "",
                 reduce: Literal["none", "pca", "tsne", "scvis", "umap"] = "none", dim: int = 2, normalise: bool = False,
                 hardness: bool = False, tsne: Optional[_Tsne] = None, scvis: Optional[_Scvis] = None,
                 umap: Optional[_Umap] = None, clusters: int = 20, weight: float = 1.0) -> None: ...


class Mistakes(Method):
    """A baseline: clusters of the wrong rows alone.

    name: label in tables; "": the method, and its profile, reducer and representation where they are not its own; a text of at
        most 79 bytes
    reduce: dimensionality reduction before the method; none, pca, tsne, scvis or umap
    dim: dimensions after the reduction; pca: at most rows - 1, and features; an integer from 1 to 4096
    normalise: features scaled to length 1 before the reduction; true or false
    hardness: first dimension along the classifier's direction; the reducer gets the rest; true or false
    tsne: t-SNE (reduce: tsne): a dict with perplexity, iterations, exaggeration, lr, repulsion
    scvis: scvis (reduce: scvis): a dict with perplexity, batch, iterations, lr, l2, compat
    umap: UMAP (reduce: umap): a dict with neighbours, min_dist, spread, epochs, negatives, lr
    clusters: most clusters; the number is chosen by silhouette; an integer from 2 to 64"""
    def __init__(self, n_slices: int = 10, target_class: Union[int, str] = "each", seed: int = 0, device: str = "auto",
                 threads: int = 0, proof: Union[None, str, float] = None, chance: int = 0,
                 classifier: Optional[Callable[[Any], Any]] = None, least: int = 20, *, name: str = "",
                 reduce: Literal["none", "pca", "tsne", "scvis", "umap"] = "none", dim: int = 2, normalise: bool = False,
                 hardness: bool = False, tsne: Optional[_Tsne] = None, scvis: Optional[_Scvis] = None,
                 umap: Optional[_Umap] = None, clusters: int = 7) -> None: ...


class Itemsets(Method):
    """Conjunctions of attributes (Pastor, de Alfaro & Baralis 2021). The embeddings are the attributes, columns of 0 and 1.

    name: label in tables; "": the method, and its profile, reducer and representation where they are not its own; a text of at
        most 79 bytes
    reduce: dimensionality reduction before the method; none, pca, tsne, scvis or umap
    dim: dimensions after the reduction; pca: at most rows - 1, and features; an integer from 1 to 4096
    normalise: features scaled to length 1 before the reduction; true or false
    hardness: first dimension along the classifier's direction; the reducer gets the rest; true or false
    tsne: t-SNE (reduce: tsne): a dict with perplexity, iterations, exaggeration, lr, repulsion
    scvis: scvis (reduce: scvis): a dict with perplexity, batch, iterations, lr, l2, compat
    umap: UMAP (reduce: umap): a dict with neighbours, min_dist, spread, epochs, negatives, lr
    support: least share of the rows that a conjunction has; a number from 0 to 1
    longest: most attributes of a conjunction; an integer from 1 to 20
    overlap: greatest Jaccard index with a better hypothesis; 1: any; a number from 0 to 1"""
    def __init__(self, n_slices: int = 10, target_class: Union[int, str] = "each", seed: int = 0, device: str = "auto",
                 threads: int = 0, proof: Union[None, str, float] = None, chance: int = 0,
                 classifier: Optional[Callable[[Any], Any]] = None, least: int = 20, *, name: str = "",
                 reduce: Literal["none", "pca", "tsne", "scvis", "umap"] = "none", dim: int = 2, normalise: bool = False,
                 hardness: bool = False, tsne: Optional[_Tsne] = None, scvis: Optional[_Scvis] = None,
                 umap: Optional[_Umap] = None, support: float = 0.02, longest: int = 6, overlap: float = 0.5) -> None: ...


class Influence(Method):
    """Clusters by influence on the last layer's loss (Wang et al. 2023).

    name: label in tables; "": the method, and its profile, reducer and representation where they are not its own; a text of at
        most 79 bytes
    reduce: dimensionality reduction before the method; none, pca, tsne, scvis or umap
    dim: dimensions after the reduction; pca: at most rows - 1, and features; an integer from 1 to 4096
    normalise: features scaled to length 1 before the reduction; true or false
    hardness: first dimension along the classifier's direction; the reducer gets the rest; true or false
    tsne: t-SNE (reduce: tsne): a dict with perplexity, iterations, exaggeration, lr, repulsion
    scvis: scvis (reduce: scvis): a dict with perplexity, batch, iterations, lr, l2, compat
    umap: UMAP (reduce: umap): a dict with neighbours, min_dist, spread, epochs, negatives, lr
    dimensions: most dimensions of the embedding; an integer from 1 to 512
    slices: slices: all clusters of k-means, or sets cut until their accuracy is low; kmeans or rule
    clusters: clusters of k-means (slices: kmeans); an integer from 1 to 512
    accuracy: accuracy below which a set is a slice (slices: rule); a number from 0 to 1
    influence_least: fewest rows of a set that is cut (slices: rule); an integer from 2 to 1000000000
    depth: most cuts one after the other (slices: rule); an integer from 1 to 12
    branches: pieces of a cut (slices: rule); an integer from 2 to 16"""
    def __init__(self, n_slices: int = 10, target_class: Union[int, str] = "each", seed: int = 0, device: str = "auto",
                 threads: int = 0, proof: Union[None, str, float] = None, chance: int = 0,
                 classifier: Optional[Callable[[Any], Any]] = None, least: int = 20, *, name: str = "",
                 reduce: Literal["none", "pca", "tsne", "scvis", "umap"] = "none", dim: int = 2, normalise: bool = False,
                 hardness: bool = False, tsne: Optional[_Tsne] = None, scvis: Optional[_Scvis] = None,
                 umap: Optional[_Umap] = None, dimensions: int = 50, slices: Literal["kmeans", "rule"] = "kmeans",
                 clusters: int = 25, accuracy: float = 0.2, influence_least: int = 50, depth: int = 5,
                 branches: int = 2) -> None: ...


class SVM(Method):
    """Rows that a linear support vector machine expects to fail (Jain et al. 2023).

    name: label in tables; "": the method, and its profile, reducer and representation where they are not its own; a text of at
        most 79 bytes
    reduce: dimensionality reduction before the method; none, pca, tsne, scvis or umap
    dim: dimensions after the reduction; pca: at most rows - 1, and features; an integer from 1 to 4096
    normalise: features scaled to length 1 before the reduction; true or false
    hardness: first dimension along the classifier's direction; the reducer gets the rest; true or false
    tsne: t-SNE (reduce: tsne): a dict with perplexity, iterations, exaggeration, lr, repulsion
    scvis: scvis (reduce: scvis): a dict with perplexity, batch, iterations, lr, l2, compat
    umap: UMAP (reduce: umap): a dict with neighbours, min_dist, spread, epochs, negatives, lr
    share: rows of a slice, as a share of all; a number from 0.0001 to 1
    tolerance: greatest distance from the best objective, as a share of it; a number from 1e-12 to 1
    passes: most passes over the rows; an integer from 1 to 1000000"""
    def __init__(self, n_slices: int = 10, target_class: Union[int, str] = "each", seed: int = 0, device: str = "auto",
                 threads: int = 0, proof: Union[None, str, float] = None, chance: int = 0,
                 classifier: Optional[Callable[[Any], Any]] = None, least: int = 20, *, name: str = "",
                 reduce: Literal["none", "pca", "tsne", "scvis", "umap"] = "none", dim: int = 2, normalise: bool = False,
                 hardness: bool = False, tsne: Optional[_Tsne] = None, scvis: Optional[_Scvis] = None,
                 umap: Optional[_Umap] = None, share: float = 0.05, tolerance: float = 0.001, passes: int = 10000) -> None: ...


class Density(Method):
    """Rows of high loss that are neighbours of one another (after Yu et al. 2025). lambda_ is the setting lambda.

    name: label in tables; "": the method, and its profile, reducer and representation where they are not its own; a text of at
        most 79 bytes
    reduce: dimensionality reduction before the method; none, pca, tsne, scvis or umap
    dim: dimensions after the reduction; pca: at most rows - 1, and features; an integer from 1 to 4096
    normalise: features scaled to length 1 before the reduction; true or false
    hardness: first dimension along the classifier's direction; the reducer gets the rest; true or false
    tsne: t-SNE (reduce: tsne): a dict with perplexity, iterations, exaggeration, lr, repulsion
    scvis: scvis (reduce: scvis): a dict with perplexity, batch, iterations, lr, l2, compat
    umap: UMAP (reduce: umap): a dict with neighbours, min_dist, spread, epochs, negatives, lr
    neighbours: neighbours of a row in the graph; an integer from 1 to 64
    share: most rows of a slice, as a share of all; a number from 0.0001 to 1
    lambda_: weight of the density beside the loss; a number from 0 to 1e+06
    steps: most steps of the ascent for a slice; an integer from 1 to 100000"""
    def __init__(self, n_slices: int = 10, target_class: Union[int, str] = "each", seed: int = 0, device: str = "auto",
                 threads: int = 0, proof: Union[None, str, float] = None, chance: int = 0,
                 classifier: Optional[Callable[[Any], Any]] = None, least: int = 20, *, name: str = "",
                 reduce: Literal["none", "pca", "tsne", "scvis", "umap"] = "none", dim: int = 2, normalise: bool = False,
                 hardness: bool = False, tsne: Optional[_Tsne] = None, scvis: Optional[_Scvis] = None,
                 umap: Optional[_Umap] = None, neighbours: int = 10, share: float = 0.05, lambda_: float = 1.0,
                 steps: int = 200) -> None: ...


class DbscanGroup(Method):
    """Clusters of DBSCAN with little confidence, as Cleanlab's Datalab has.

    name: label in tables; "": the method, and its profile, reducer and representation where they are not its own; a text of at
        most 79 bytes
    reduce: dimensionality reduction before the method; none, pca, tsne, scvis or umap
    dim: dimensions after the reduction; pca: at most rows - 1, and features; an integer from 1 to 4096
    normalise: features scaled to length 1 before the reduction; true or false
    hardness: first dimension along the classifier's direction; the reducer gets the rest; true or false
    tsne: t-SNE (reduce: tsne): a dict with perplexity, iterations, exaggeration, lr, repulsion
    scvis: scvis (reduce: scvis): a dict with perplexity, batch, iterations, lr, l2, compat
    umap: UMAP (reduce: umap): a dict with neighbours, min_dist, spread, epochs, negatives, lr
    neighbours: neighbours of a row in the graph; an integer from 1 to 64
    eps: greatest distance of neighbours: of the cosine's from 4 features on, else Euclidean; a number from 0 to 1e+12
    core: fewest neighbours of a core, itself included; an integer from 1 to 64
    dbscan_group_least: fewest rows of a cluster; an integer from 1 to 1000000000
    flag: only the worst cluster, if its ratio is below `threshold` (Datalab's answer); true or false
    threshold: ratio of a cluster's mean confidence to that of all below which it is flagged; a number from 0 to 1"""
    def __init__(self, n_slices: int = 10, target_class: Union[int, str] = "each", seed: int = 0, device: str = "auto",
                 threads: int = 0, proof: Union[None, str, float] = None, chance: int = 0,
                 classifier: Optional[Callable[[Any], Any]] = None, least: int = 20, *, name: str = "",
                 reduce: Literal["none", "pca", "tsne", "scvis", "umap"] = "none", dim: int = 2, normalise: bool = False,
                 hardness: bool = False, tsne: Optional[_Tsne] = None, scvis: Optional[_Scvis] = None,
                 umap: Optional[_Umap] = None, neighbours: int = 10, eps: float = 0.5, core: int = 5,
                 dbscan_group_least: int = 5, flag: bool = False, threshold: float = 0.1) -> None: ...


class JoinSpot(Method):
    """Spotter's own: the clusters of Ward's tree that fail and are one thing each. It needs no tuning.

    name: label in tables; "": the method, and its profile, reducer and representation where they are not its own; a text of at
        most 79 bytes
    reduce: dimensionality reduction before the method; none, pca, tsne, scvis or umap
    dim: dimensions after the reduction; pca: at most rows - 1, and features; an integer from 1 to 4096
    normalise: features scaled to length 1 before the reduction; true or false
    hardness: first dimension along the classifier's direction; the reducer gets the rest; true or false
    tsne: t-SNE (reduce: tsne): a dict with perplexity, iterations, exaggeration, lr, repulsion
    scvis: scvis (reduce: scvis): a dict with perplexity, batch, iterations, lr, l2, compat
    umap: UMAP (reduce: umap): a dict with neighbours, min_dist, spread, epochs, negatives, lr
    joinspot_least: fewest rows of a slice; an integer from 1 to 1000000000
    weight: weight of the confidence beside rows of mean squared length 1; a number from 0 to 1000"""
    def __init__(self, n_slices: int = 10, target_class: Union[int, str] = "each", seed: int = 0, device: str = "auto",
                 threads: int = 0, proof: Union[None, str, float] = None, chance: int = 0,
                 classifier: Optional[Callable[[Any], Any]] = None, least: int = 20, *, name: str = "",
                 reduce: Literal["none", "pca", "tsne", "scvis", "umap"] = "none", dim: int = 2, normalise: bool = False,
                 hardness: bool = False, tsne: Optional[_Tsne] = None, scvis: Optional[_Scvis] = None,
                 umap: Optional[_Umap] = None, joinspot_least: int = 5, weight: float = 0.0) -> None: ...
