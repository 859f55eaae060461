"""The discovery methods with scikit-learn's interface: fit, predict, get_params, set_params."""
import ctypes as ct
import json

import numpy as np

from . import _library as c_side
from ._arrays import as_array, classes, floats, matrix
from ._encoder import Encoder
from ._library import Context, InputError, lib, texts


class Slice:
    """A group of rows on which the classifier fails.

    rows (size,) int: ascending. size, wrong: number of rows, and of certainly wrong rows. error_rate, share (of all wrong rows
    of the class), mean_confidence, score: float. neighbours: correct rows nearest to the mean of the slice. class_, name: the
    class and its name; rank: 1 is the first of its class.

    After describe: words, list of dict with phrase, score, auc, p; conjunction, a dict with items (list of str) and the figures
    on the rows that the search has not seen (held_out) and on all; None where there is none."""

    def __init__(self, s, rank, cls, name):
        self.rows = np.ctypeslib.as_array(s.row, (s.size,)).copy() if s.size else np.zeros(0, np.int32)
        self.size, self.wrong, self.error_rate = s.size, s.wrong, s.error_rate
        self.mean_confidence, self.share, self.score = s.mean_confidence, s.share, s.score
        self.neighbours = np.array(s.neighbour[:s.neighbours], np.int32)
        self.rank, self.class_, self.name = rank, cls, name
        self.read_description(s)

    def read_description(self, s):
        fields = [name for name, _ in c_side.Match._fields_]
        self.words = [{"phrase": w.phrase.decode(errors="replace"), "score": w.score, "auc": w.auc, "p": w.p}
                      for w in s.word[:s.words]]
        self.conjunction = None
        if s.conjunction:
            k = s.conjunction.contents
            self.conjunction = {"items": [k.name[i].decode(errors="replace") for i in range(k.items)],
                                **{part: {f: getattr(getattr(k, part), f) for f in fields} for part in ("held_out", "all")}}

    def __repr__(self):
        return (f"Slice(class={self.name!r}, rank={self.rank}, size={self.size}, error_rate={self.error_rate:.3f}, "
                f"share={self.share:.3f})")


class _Subject:
    """A spot_subject over numpy arrays, which it keeps alive."""

    def __init__(self, embeddings, targets, probs, losses, ids, images):
        feature = matrix(embeddings, "embeddings")
        n = len(feature)
        target, names = (np.zeros(n, np.int32), ["all"]) if targets is None else classes(targets, n)
        prob = None
        if (probs is None) == (losses is None):
            raise InputError("give probs or losses, one of them")
        if losses is not None:
            loss = floats(as_array(losses, "losses"), "losses")
            self._check_rows(loss, n, "losses")
            if not (loss >= 0).all():
                raise InputError(f"losses[{int(np.flatnonzero(~(loss >= 0))[0])}] is negative or no number")
            confidence = np.exp(-loss)
        else:
            given = floats(as_array(probs, "probs"), "probs")
            if given.ndim == 2 and given.shape[1] > 1:
                names += [str(k) for k in range(len(names), given.shape[1])] if names[0] == "0" else []
                if given.shape != (n, len(names)):
                    raise InputError(f"probs has shape {given.shape}; here are {n} rows and {len(names)} classes")
                prob, confidence = given, given[np.arange(n), target]
            else:
                confidence = given.reshape(-1)
                self._check_rows(confidence, n, "probs")
                if len(names) == 2:                    # of class 1, as binary classifiers give it
                    confidence = np.where(target == 1, confidence, 1 - confidence)
        self.confidence = np.ascontiguousarray(confidence, np.float32)
        self.feature, self.target, self.prob, self.names = feature, target, prob, names
        self.words = [texts(names)] + [texts(w) if w is not None else None for w in (ids, images)]
        for words, what in ((ids, "ids"), (images, "images")):
            if words is not None and len(words) != n:
                raise InputError(f"{what} has {len(words)} entries for {n} rows")
        self.c = c_side.Subject(n=n, d=feature.shape[1], classes=len(names), feature=feature.ctypes.data,
                                target=target.ctypes.data, prob=None if prob is None else prob.ctypes.data,
                                confidence=self.confidence.ctypes.data, class_name=self.words[0], id=self.words[1],
                                image=self.words[2], source=f"arrays of {n} rows".encode())

    @staticmethod
    def _check_rows(a, n, what):
        if a.shape != (n,):
            raise InputError(f"{what} has shape {a.shape}; embeddings have {n} rows")


class Method:
    """A blindspot discovery method. Parameters that all have:

    n_slices: at most this many slices of each class. target_class: a class's number or name, "each", or "all" rows at once.
    seed: of whatever is random. device: "auto", "cpu" or "cuda". threads: 0 takes every core; results do not depend on it.
    Any other setting of the method in a config (`spotter help config`, below bdms) by its name; groups are dicts, as in
    mixture={"k_max": 20}.

    After fit: slices_ (list of Slice, best first within a class, classes in order), labels_ (n,) int: the slice of each row,
    -1 for none; map_ (n, 2): first two columns of the map, NaN where none was made; warnings_: list of str."""

    method = None
    _representation = "model"

    def __init__(self, n_slices=10, target_class="each", seed=0, device="auto", threads=0, **settings):
        self._common = {"n_slices": n_slices, "target_class": target_class, "seed": seed, "device": device, "threads": threads}
        self._settings = dict(settings)

    def get_params(self, deep=True):
        return {**self._common, **self._settings}

    def set_params(self, **params):
        for name, value in params.items():
            (self._common if name in self._common else self._settings)[name] = value
        return self

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in self.get_params().items())})"

    def __getattr__(self, name):
        for place in ("_common", "_settings"):
            if name in self.__dict__.get(place, {}):
                return self.__dict__[place][name]
        fitted = name.endswith("_") and not name.startswith("_")
        raise AttributeError(f"{type(self).__name__} has no {name}" + ("; call fit first" if fitted else ""))

    # --- The method as a config says it.
    def _config(self, c):
        entry = {"method": self.method, "representation": self._representation, "top": self.n_slices, **self._settings}
        text = json.dumps({"seed": self.seed, "bdms": [entry]}).encode()     # JSON is YAML
        cfg = ct.create_string_buffer(c_side.SIZES["spot_config"])
        c("spot_config_parse", cfg, text, ct.c_size_t(len(text)), b"settings")
        return cfg

    def _class(self, names):
        if self.target_class in ("each", "all"):
            return {"each": -2, "all": -1}[self.target_class]
        if str(self.target_class) in names:
            return names.index(str(self.target_class))
        raise InputError(f"target_class {self.target_class!r} is none of the classes: {', '.join(names[:20])}")

    def fit(self, embeddings=None, targets=None, probs=None, losses=None, ids=None, images=None, embed=None):
        """embeddings (n, d): what the model, or any other, makes of each image. targets (n,): true classes, numbers from 0 or
        words; None: all of one. probs (n,): the probability of class 1 where there are two classes, else of the true one; or
        (n, classes). losses (n,): cross-entropy in their place. ids, images (n,): names of the rows, paths of their pictures,
        for reports. embed: path of an encoder, a CLIP, a ResNet or AlexNet in .safetensors, which makes the embeddings
        of `images`; given in their place. numpy arrays, lists, or tensors with DLPack. Returns self."""
        embeddings, name = self._encoded(embeddings, images, embed)
        subject = _Subject(embeddings, targets, probs, losses, ids, images)
        subject.c.encoder = name
        self.close()
        with Context(self.device, self.threads) as c:
            cfg = self._config(c)
            seed = ct.c_uint64(self.seed)
            options = lib.spot_discover_defaults()
            options.bdm = ct.addressof(cfg) + c_side.SIZES["spot_config.bdm"]
            options.bdms, options.seed, options.seeds = 1, ct.pointer(seed), 1
            options.cls, options.fit = self._class(subject.names), True
            findings = c_side.Findings()
            self._held = (subject, cfg, seed, options, findings)
            self._embed = embed
            c.patiently("spot_discover", ct.byref(findings), ct.byref(subject.c), ct.byref(options))
            self.warnings_ = c.warnings
        self._read(subject, findings)
        return self

    def _encoded(self, embeddings, images, embed, name=None):
        """Rows, and the name of their encoder; name: what it has to be."""
        if (embeddings is None) == (embed is None):
            raise InputError("give embeddings, or an encoder (embed) and the paths of its pictures (images); one of the two")
        if embed is None:
            return embeddings, b""
        if images is None:
            raise InputError(f"{embed} makes embeddings of pictures; give their paths as images")
        with Context(self.device, self.threads) as c, Encoder(c, embed) as e:
            self._check_encoder(e, name)
            return e.pictures([str(path) for path in images]), e.name

    def _check_encoder(self, e, name):
        if name is not None and e.name != name:
            raise InputError(f"{self._embed} is another encoder now ({e.name.decode()}) than in fit ({name.decode()})")

    def _read(self, subject, findings):
        n = subject.c.n
        self.slices_, self.labels_, self._classes, self.failures_ = [], np.full(n, -1, np.int32), subject.names, {}
        for i in range(findings.count):
            f = findings.finding[i]
            name = "all" if f.cls < 0 else subject.names[f.cls]
            if f.status:
                self.failures_[name] = f.message.decode(errors="replace")
            for rank in range(f.slices):
                s = Slice(f.slice[rank], rank + 1, f.cls, name)
                free = s.rows[self.labels_[s.rows] < 0]
                self.labels_[free] = len(self.slices_)
                self.slices_.append(s)
        self.map_ = np.ctypeslib.as_array(findings.map, (n, 2)).copy()
        self.left_out_ = [subject.names[findings.left_class[i]] for i in range(findings.left_out)]

    def describe(self, words=None, word_embeddings=None, attributes=None, embeddings=None, phrases=5, rounds=999):
        """Gives each of slices_ its `words` and its `conjunction`, which write and report then show, too. words: list of str;
        word_embeddings (len(words), d): their features, of the encoder whose features of the rows are `embeddings` (n, d);
        None: those that fit got. After fit with a CLIP as embed, words alone are enough: it encodes them. attributes:
        path of a CSV with a record for each row, or "FILE.csv:COLUMN" with their ids. phrases: at most this many
        of a slice; rounds: random groups for the p-values. Returns self."""
        subject, _, _, _, findings = self._fitted()
        options = lib.spot_describe_defaults()
        table = c_side.Attributes()
        keep = []
        if words is not None and word_embeddings is None and embeddings is None and self._embed is not None:
            with Context(self.device, self.threads) as c, Encoder(c, self._embed) as e:
                self._check_encoder(e, subject.c.encoder)
                word_embeddings = e.words(words)
        if (words is None) != (word_embeddings is None):
            raise InputError("give words together with word_embeddings")
        if words is None and attributes is None:
            raise InputError("nothing to describe with: give words and word_embeddings, or attributes")
        if words is not None:
            text = matrix(word_embeddings, "word_embeddings")
            feature = subject.feature if embeddings is None else matrix(embeddings, "embeddings")
            if len(text) != len(words) or len(feature) != subject.c.n or text.shape[1] != feature.shape[1]:
                raise InputError(f"{len(words)} words, their features of shape {text.shape} and those of the rows, "
                                 f"{feature.shape}, do not belong together; there are {subject.c.n} rows")
            keep = [text, feature, texts(words)]
            options.text, options.feature, options.phrase = text.ctypes.data, feature.ctypes.data, keep[2]
            options.phrases, options.d = len(words), text.shape[1]
        options.most, options.rounds = phrases, rounds
        with Context(self.device, self.threads) as c:
            if attributes is not None:
                c("spot_attributes_read", ct.byref(table), c_side.bytes_of(attributes), subject.c.id, subject.c.n)
                options.attributes = ct.pointer(table)
            try:
                c.patiently("spot_findings_describe", ct.byref(findings), ct.byref(subject.c), ct.byref(options))
            finally:
                lib.spot_attributes_close(ct.byref(table))
        each = iter(self.slices_)
        for i in range(findings.count):
            for k in range(findings.finding[i].slices):
                next(each).read_description(findings.finding[i].slice[k])
        return self

    def predict(self, embeddings=None, targets=None, probs=None, losses=None, images=None):
        """Rows that were not there before, into the slices: (n, len(slices_)) uint8, 1 where row i belongs to slice j. Arrays
        as fit takes them, of the same features; classes by the same numbers or words. images: paths of pictures in place of
        embeddings, after fit with embed."""
        subject, cfg, _, options, findings = self._fitted()
        if images is not None:
            embeddings, _ = self._encoded(embeddings, images, self._embed, subject.c.encoder)
        if targets is not None:
            targets = self._as_fitted(targets)
        new = _Subject(embeddings, targets, probs, losses, None, None)
        member = np.zeros((new.c.n, len(self.slices_)), np.uint8)
        done = 0
        with Context(self.device, self.threads) as c:
            for i in range(findings.count):
                f = findings.finding[i]
                rows = np.arange(new.c.n) if f.cls < 0 or targets is None else np.flatnonzero(new.target == f.cls)
                if f.slices and len(rows):
                    member[rows, done:done + f.slices] = self._assign(c, f, new, rows, options.bdm)
                done += f.slices
        return member

    def _as_fitted(self, targets):
        a = as_array(targets, "targets")
        if a.dtype.kind not in "OUS":
            return a
        place = {name: k for k, name in enumerate(self._classes)}
        unknown = [w for w in a.astype(str) if w not in place]
        if unknown:
            raise InputError(f"there was no class {unknown[0]!r} when this was fitted")
        return np.array([place[w] for w in a.astype(str)], np.int32)

    @staticmethod
    def _assign(c, f, new, rows, bdm):
        feature = np.ascontiguousarray(new.feature[rows])
        confidence = np.ascontiguousarray(new.confidence[rows])
        view = c_side.View(n=len(rows), d=feature.shape[1], feature=feature.ctypes.data, confidence=confidence.ctypes.data)
        member = np.zeros((len(rows), f.slices), np.uint8)
        c("spot_assign", member.ctypes.data_as(ct.c_void_p), ct.c_int(f.slices), ct.byref(view), ct.byref(f.fit),
          ct.c_void_p(bdm))
        return member

    def fit_predict(self, embeddings=None, targets=None, probs=None, **more):
        """labels_ of fit: (n,) int, the slice of each row, -1 for none."""
        return self.fit(embeddings, targets, probs, **more).labels_

    def write(self, folder):
        """slices.csv, slices.json, map.npy, fit.safetensors and config.yaml, the same bytes as `spotter discover` writes;
        and subject.safetensors, by which `spotter report` makes a page of several models."""
        subject, _, _, options, findings = self._fitted()
        with Context(self.device, self.threads) as c:
            c("spot_findings_write", c_side.bytes_of(folder), ct.byref(findings), ct.byref(subject.c), ct.byref(options))

    def report(self, path, budget=10_000_000, full=False):
        """Writes one HTML file of at most about `budget` bytes."""
        subject, _, _, options, findings = self._fitted()
        one = [ct.pointer(thing) for thing in (subject.c, findings, options)]
        lists = [(type(p) * 1)(p) for p in one]
        how = c_side.ReportOptions(budget, full, 64, 0)
        with Context(self.device, self.threads) as c:
            c("spot_report_findings", c_side.bytes_of(path), ct.c_int(1), *lists, ct.byref(how))

    def _fitted(self):
        if "_held" not in self.__dict__:
            raise InputError(f"{type(self).__name__} was not fitted; call fit first")
        return self._held

    def close(self):
        """Frees the data of fit that predict, write and report use; also called when the object is deleted."""
        held = self.__dict__.pop("_held", None)
        if held:
            lib.spot_findings_close(ct.byref(held[4]))

    def __del__(self):
        self.close()


def _method(name, method, text, representation="model"):
    members = {"method": method, "_representation": representation, "__doc__": f"{text}\n\n{Method.__doc__}"}
    return type(name, (Method,), members)


PlaneSpot = _method("PlaneSpot", "planespot", "A mixture over a 2-D map and the confidence (Plumb et al. 2023); reduce: scvis, "
                    "tsne, umap or pca; weight of the confidence.")
Spotlight = _method("Spotlight", "spotlight", "Kernels placed where the loss under them is greatest (d'Eon et al. 2022).")
Domino = _method("Domino", "domino", "A mixture over embeddings, labels and predictions (Eyuboglu et al. 2022).")
Barlow = _method("Barlow", "barlow", "Leaves of a decision tree that tells failures from successes (Singla et al. 2021).")
George = _method("George", "george", "Clusters of the UMAP-reduced embeddings (Sohoni et al. 2020).")
Multiaccuracy = _method("Multiaccuracy", "multiaccuracy", "Ridge regressions of the loss's slope (Kim et al. 2019).")
Random = _method("Random", "random", "A baseline: wrong rows in random sets. rows: of a set; among: errors or all, the rows "
                 "that are drawn from. predict is not possible.")
Confidence = _method("Confidence", "confidence", "A baseline: the wrong rows, sorted by confidence and cut into sets. rows: of "
                     "a set.")
Confusion = _method("Confusion", "confusion", "A baseline: the cells of the confusion matrix, as dcbench has them.")
KMeans = _method("KMeans", "kmeans", "A baseline: clusters of k-means. clusters: their number; weight of the confidence.")
Ward = _method("Ward", "ward", "A baseline: clusters of Ward's method. clusters: their number; weight of the confidence.")
Mistakes = _method("Mistakes", "mistakes", "A baseline: clusters of the wrong rows alone. clusters: their greatest number.")
Itemsets = _method("Itemsets", "itemsets", "Conjunctions of attributes (Pastor, de Alfaro & Baralis 2021). The embeddings are "
                   "the attributes, columns of 0 and 1. support: least share of the rows; longest: most attributes of a "
                   "conjunction; overlap: greatest Jaccard index with a better slice.", "attributes")
Influence = _method("Influence", "influence", "Clusters by influence on the last layer's loss (Wang et al. 2023). dimensions: "
                    "of the influence; slices: kmeans or rule; clusters, of kmeans; accuracy, least, depth, branches, of the "
                    "rule.")
SVM = _method("SVM", "svm", "Rows that a linear support vector machine expects to fail (Jain et al. 2023). share: rows of a "
              "slice, as a share of all; tolerance, passes: when the fit ends.")
Density = _method("Density", "density", "Rows of high loss that are neighbours of one another (after Yu et al. 2025). "
                  "neighbours: of a row; share: most rows of a slice; lambda: weight of the density (**{'lambda': 1}); steps: "
                  "of the ascent.")
DbscanGroup = _method("DbscanGroup", "dbscan_group", "Clusters of DBSCAN with little confidence, as Cleanlab's Datalab has. "
                      "neighbours, eps, core: of DBSCAN; least: rows of a cluster; flag: only the worst cluster, if below "
                      "threshold.")
JoinSpot = _method("JoinSpot", "joinspot", "Spotter's own: small pieces that fail and lie together become one slice. It needs no "
                   "tuning. least: fewest rows of a slice; weight of the confidence.")
