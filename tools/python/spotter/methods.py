"""A class for each discovery method of the library. Constructors, defaults and help come from its table of settings
(_settings.py); methods.pyi tells them to type checkers and editors, and tools/python/make_stub.py writes it."""
from ._method import Method

__all__ = ["Barlow", "Confidence", "Confusion", "DbscanGroup", "Density", "Domino", "George", "Influence", "Itemsets",
           "JoinSpot", "KMeans", "Method", "Mistakes", "Multiaccuracy", "PlaneSpot", "Random", "SVM", "Spotlight", "Ward"]


class PlaneSpot(Method):
    """A mixture over a 2-D map and the confidence (Plumb et al. 2023)."""
    method = "planespot"


class Spotlight(Method):
    """Kernels placed where the loss under them is greatest (d'Eon et al. 2022)."""
    method = "spotlight"


class Domino(Method):
    """A mixture over embeddings, labels and predictions (Eyuboglu et al. 2022)."""
    method = "domino"


class Barlow(Method):
    """Leaves of a decision tree that tells failures from successes (Singla et al. 2021)."""
    method = "barlow"


class George(Method):
    """Clusters of the UMAP-reduced embeddings (Sohoni et al. 2020)."""
    method = "george"


class Multiaccuracy(Method):
    """Ridge regressions of the loss's slope (Kim et al. 2019)."""
    method = "multiaccuracy"


class Random(Method):
    """A baseline: wrong rows in random sets. predict is not possible."""
    method = "random"


class Confidence(Method):
    """A baseline: the wrong rows, sorted by confidence and cut into sets."""
    method = "confidence"


class Confusion(Method):
    """A baseline: the cells of the confusion matrix, as dcbench has them."""
    method = "confusion"


class KMeans(Method):
    """A baseline: clusters of k-means."""
    method = "kmeans"


class Ward(Method):
    """A baseline: clusters of Ward's method."""
    method = "ward"


class Mistakes(Method):
    """A baseline: clusters of the wrong rows alone."""
    method = "mistakes"


class Itemsets(Method):
    """Conjunctions of attributes (Pastor, de Alfaro & Baralis 2021). The embeddings are the attributes, columns of 0 and 1."""
    method = "itemsets"


class Influence(Method):
    """Clusters by influence on the last layer's loss (Wang et al. 2023)."""
    method = "influence"


class SVM(Method):
    """Rows that a linear support vector machine expects to fail (Jain et al. 2023)."""
    method = "svm"


class Density(Method):
    """Rows of high loss that are neighbours of one another (after Yu et al. 2025). lambda_ is the setting lambda."""
    method = "density"


class DbscanGroup(Method):
    """Clusters of DBSCAN with little confidence, as Cleanlab's Datalab has."""
    method = "dbscan_group"


class JoinSpot(Method):
    """Spotter's own: the clusters of Ward's tree that fail and are one thing each. It needs no tuning."""
    method = "joinspot"
