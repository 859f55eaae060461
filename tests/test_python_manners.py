"""test_python_manners.py: run by test_python.sh in an empty folder. Estimators as Python's users expect them: copied, pickled,
cloned, searched over, asked by scikit-learn's own checks; tables and pages for notebooks; types."""
import copy
import gc
import inspect
import io
import os
import pickle
import time
import unittest
import warnings
from pathlib import Path

import joblib
import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_checks

import spotter
from python_checks import planted, raises

warnings.simplefilter("ignore", category=FutureWarning)

try:
    import pandas
except ImportError:
    pandas = None


def written(found, folder):
    """Bytes of all files that it writes."""
    found.write(folder)
    return {p.name: p.read_bytes() for p in Path(folder).iterdir() if p.is_file()}


def test_write_keeps_files_of_others():
    feature, target, probs, _ = planted()
    one = spotter.PlaneSpot(seed=3, device="cpu", reduce="pca").fit(feature, target, probs)
    for name in "report.html", "slices.json", "config.yaml", "map.npy", "fit.safetensors":
        folder = Path("of " + name)
        folder.mkdir()
        (folder / name).write_text("precious")
        raises("replace", lambda: one.write(folder))
        assert [p.name for p in folder.iterdir()] == [name] and (folder / name).read_text() == "precious", name
        one.write(folder, replace=True)
        one.write(folder)                                  # its own findings
        assert (folder / "slices.json").stat().st_size > 100


def test_write_removes_what_a_killed_one_left():
    feature, target, probs, _ = planted()
    one = spotter.PlaneSpot(seed=3, device="cpu", reduce="pca").fit(feature, target, probs)
    folder, long_ago = Path("after a kill"), time.time() - 7200
    left = "slices.json.host-12-3.tmp", "map.npy.a.b-c-1-22.tmp", ".samples.json.0123456789abcdef.part"
    mine = "thesis.part", "thesis.tmp", "a.b-1.tmp", "samples.json.part", ".x.0123456789ABCDEF.part"
    young = "slices.json.host-12-4.tmp", ".samples.json.0123456789abcde0.part"
    folder.mkdir()
    for name in left + mine + young:
        (folder / name).write_text(name)
        os.utime(folder / name, None if name in young else (long_ago, long_ago))
    (folder / ".d.0123456789abcdef.part").mkdir()
    one.write(folder)
    there = {p.name for p in folder.iterdir()}
    assert there.isdisjoint(left) and there.issuperset((*mine, *young, ".d.0123456789abcdef.part", "slices.json")), there


def test_a_fitted_object_outlives_its_memory():
    feature, target, probs, _ = planted()
    new = planted(seed=1)
    words = [f"place {k}" for k in range(12)]
    for cls, settings in ((spotter.PlaneSpot, {"reduce": "pca"}), (spotter.Domino, {}), (spotter.Spotlight, {}),
                          (spotter.Barlow, {}), (spotter.Multiaccuracy, {}), (spotter.KMeans, {"clusters": 5}),
                          (spotter.PlaneSpot, {"reduce": "pca", "target_class": "all"})):
        one = cls(seed=3, device="cpu", **settings).fit(feature, target, probs, ids=[f"row {i}" for i in range(len(feature))])
        one.describe(words, np.eye(12, dtype=np.float32))
        before, member = written(one, f"{cls.__name__}_one"), one.predict(*new[:3])
        stored = pickle.dumps(one)
        file = io.BytesIO()
        joblib.dump(one, file)
        copies = [copy.deepcopy(one), copy.copy(one), pickle.loads(stored), joblib.load(io.BytesIO(file.getvalue())),
                  pickle.loads(pickle.dumps(pickle.loads(stored)))]
        one.close()
        del one
        gc.collect()
        for i, two in enumerate(copies):
            assert written(two, f"{cls.__name__}_{i}") == before, (cls, i)
            assert (two.predict(*new[:3]) == member).all(), (cls, i)
        two.report(f"{cls.__name__}.html")
        assert Path(f"{cls.__name__}.html").stat().st_size > 50000
        assert two.slices_[0].words and two.describe(words, np.eye(12, dtype=np.float32)).slices_[0].words
    plain = spotter.Ward(clusters=4)
    assert pickle.loads(pickle.dumps(plain)).get_params() == plain.get_params()
    s = pickle.loads(pickle.dumps(two.slices_[0]))
    assert (s.rows == two.slices_[0].rows).all() and s.error_rate == two.slices_[0].error_rate


def by_votes(found, feature, target, new, new_target):
    """(n, slices): most of the five nearest rows of the class in fit are in the slice; an independent count."""
    out = np.zeros((len(new), len(found.slices_)), np.uint8)
    for i, row in enumerate(new.astype(np.float64)):
        mine = np.flatnonzero(target == new_target[i])
        near = mine[np.argsort(((feature[mine] - row) ** 2).sum(1), kind="stable")[:5]]
        for k, s in enumerate(found.slices_):
            out[i, k] = s.class_ == new_target[i] and np.isin(near, s.rows).sum() >= 3
    return out


def test_proofs_outlive_their_memory():
    feature, target, probs, _ = planted()
    new = planted(n=200, seed=1)
    for proof, chance in (("cross", 19), (0.4, 0)):
        one = spotter.PlaneSpot(reduce="pca", seed=3, device="cpu", threads=1, proof=proof, chance=chance).fit(
            feature, target, probs)
        before, member, score = written(one, f"proved_{proof}"), one.predict(*new[:3]), one.score(*new[:3])
        assert (member == by_votes(one, feature, target, new[0], new[1])).all() and member.any()
        proofs = [s.proof for s in one.slices_]
        assert proofs and all(p.pieces and p.judged for p in proofs) and one.slices_[0].claim == "confirmed"
        copies = [copy.deepcopy(one), copy.copy(one), pickle.loads(pickle.dumps(one)),
                  copy.deepcopy(pickle.loads(pickle.dumps(one)))]
        one.close()
        del one
        gc.collect()
        for two in copies:
            assert written(two, "proved_again") == before and [s.proof for s in two.slices_] == proofs
            assert (two.predict(*new[:3]) == member).all() and two.score(*new[:3]) == score
            assert two.get_params()["proof"] == proof
        two.report("proved.html")
        assert "confirmed" in Path("proved.html").read_text()
        again = two.fit(feature, target, probs)                # the copy judges, too
        assert [s.proof for s in again.slices_] == proofs
    s = pickle.loads(pickle.dumps(again.slices_[0]))
    assert s.proof == again.slices_[0].proof and s.claim == "confirmed" and copy.deepcopy(s.proof) == s.proof


def test_signatures_name_what_they_take():
    for call in (spotter.compare, spotter.look, spotter.read_rows, spotter.Method.fit, spotter.Method.fit_predict):
        about = inspect.signature(call)
        assert all(p.kind == p.POSITIONAL_OR_KEYWORD for p in about.parameters.values()), call
        assert all(p.annotation is not p.empty for n, p in about.parameters.items() if n != "self"), call
        assert about.return_annotation is not about.empty, call


def test_parameters_are_attributes():
    settings = {"reduce": "pca", "mixture": {"k_max": 6}}
    one = spotter.PlaneSpot(n_slices=4, target_class="cat", proof="cross", chance=19, **settings)
    assert list(vars(one)) == list(inspect.signature(spotter.PlaneSpot).parameters)
    assert one.get_params() == {**vars(one)} and one.mixture is settings["mixture"] and one.weight == 0.025
    assert clone(one).get_params() == one.get_params() and one.set_params(reduce="tsne").reduce == "tsne"
    assert repr(one) == ("PlaneSpot(n_slices=4, target_class='cat', proof='cross', chance=19, reduce='tsne', "
                         "mixture={'k_max': 6})") and repr(spotter.Ward()) == "Ward()"
    for name in ("fit", "_held", "slices_", "predict", "lambda"):
        raises("no parameter", lambda: one.set_params(**{name: 3}))
    for kind in (spotter.InputError, ValueError, TypeError):
        raises("did you mean weight?", lambda: spotter.PlaneSpot(wieght=1), kind)
        raises("did you mean weight?", lambda: spotter.PlaneSpot().set_params(wieght=1), kind)
    raises("did you mean lambda_?", lambda: spotter.Density(**{"lambda": 1}))
    raises("did you mean n_slices?", lambda: spotter.Density(top=1))
    raises("it is one of dbscan_group; here are n_slices, ", lambda: spotter.KMeans(eps=1))
    raises("too many positional", lambda: spotter.PlaneSpot(*range(10)), TypeError)
    data = planted()[:3]
    for words, given in (('reduce is "tnse"; did you mean "tsne"?', {"reduce": "tnse"}), ("n_slices is 0;", {"n_slices": 0}),
                         ("weight is -1; it takes a number from 0 to 1000", {"weight": -1}),
                         ("weight is [1, 2]; it takes a number", {"weight": [1, 2]}), ("reduce is None", {"reduce": None}),
                         ("mixture has no parameter 'kmax'; did you mean k_max?", {"mixture": {"kmax": 4}}),
                         ("mixture is 4; it takes a dict with k_min, k_max,", {"mixture": 4}), ("seed is -1", {"seed": -1}),
                         ("mixture.k_max is 400; it takes an integer from 1 to 64", {"mixture": {"k_max": 400}})):
        e = raises(words, lambda: spotter.PlaneSpot(**given).fit(*data))
        assert "settings" not in str(e) and "bdms" not in str(e), e
    raises("which class is each row?", lambda: spotter.Ward().fit(data[0], None, data[2]))
    raises("numbered from 0", lambda: spotter.Ward().fit(data[0], data[1] + 1, data[2]))
    raises("chance decides", lambda: spotter.PlaneSpot(chance=19).fit(*planted()[:3]))
    assert "gaussian or compact" in spotter.Spotlight.__doc__ and "n_slices" in spotter.Spotlight.__doc__
    own = type("Own", (spotter.Method,), {"method": "kmeans"})(clusters=5)
    assert own.fit(*data).slices_ and own.get_params() == {**vars(spotter.KMeans(clusters=5))}
    plain = pickle.loads(pickle.dumps(spotter.KMeans(clusters=5)))
    del plain.__dict__["weight"]                               # as of a version without this setting
    assert plain.get_params()["weight"] == 1 and plain.fit(*data).slices_
    assert spotter.KMeans(clusters=np.int64(5)).fit(*planted()[:3]).slices_
    raises("no number, text", lambda: spotter.KMeans(clusters=object()).fit(*planted()[:3]))


def test_not_fitted():
    for call in (lambda: spotter.Ward().predict(np.zeros((2, 2))), lambda: spotter.Ward().slices_,
                 lambda: spotter.Ward().score(np.zeros((2, 2))), lambda: spotter.Ward().to_frame()):
        for kind in (NotFittedError, spotter.NotFittedError, spotter.InputError, ValueError, AttributeError):
            raises("call fit first", call, kind)
    e = pickle.loads(pickle.dumps(raises("call fit first", lambda: spotter.Ward().slices_)))
    assert isinstance(e, NotFittedError) and not hasattr(spotter.Ward(), "slices_")


def test_a_score_that_a_search_can_use():
    feature, target, probs, _ = planted()
    fresh = planted(seed=1)
    found = spotter.PlaneSpot(reduce="pca").fit(feature, target, probs)
    # By hand: class 1 alone has errors, all in one place, a third of its rows.
    ones = fresh[1] == 1
    assert abs(found.score(*fresh[:3]) - (1 - fresh[3][ones].mean())) < 0.02
    noise = np.random.default_rng(5).permutation(len(fresh[1]))
    assert abs(found.score(fresh[0], fresh[1], fresh[2][noise])) < 0.2
    assert np.isnan(found.score(fresh[0], fresh[1], np.eye(3)[fresh[1]]))
    # One number a row is the probability of class 1 of two, also where all new rows are of one class.
    two = spotter.PlaneSpot(reduce="pca").fit(feature, target == 1, np.where(planted()[3], 0.1, target == 1))
    nought = np.flatnonzero(fresh[1] != 1)
    assert np.isnan(two.score(fresh[0][nought], np.zeros(len(nought), int), np.full(len(nought), 0.1)))
    assert two.score(fresh[0][nought], np.zeros(len(nought), int), np.full(len(nought), 0.9)) == 0
    raises("a whole number from 0 to 1", lambda: two.score(fresh[0], fresh[1], fresh[2][:, 1]))
    weak = LogisticRegression().fit(feature, np.where(planted()[3], 2, target))
    asked = spotter.PlaneSpot(reduce="pca", classifier=weak.predict_proba)
    search = GridSearchCV(asked, {"n_slices": [1, 5]}, cv=2, error_score="raise").fit(feature, target)
    assert search.best_params_["n_slices"] in (1, 5) and 0.6 < search.best_score_ < 0.7
    line = make_pipeline(StandardScaler(), spotter.Domino()).fit(feature, target, domino__probs=probs)
    assert line[-1].slices_ and line[-1].n_features_in_ == 12


def test_slices_know_what_they_are_taken_for():
    feature, target, probs, blind = planted()
    names = np.array(["cat", "dog", "<b>owl</b>"])
    order = np.array([1, 2, 0])                        # the classes sorted by name
    found = spotter.PlaneSpot(reduce="pca").fit(feature, names[target], probs[:, [2, 0, 1]])
    top = found.slices_[0]
    assert top.name == "dog" and top.predicted == "<b>owl</b>" and top.predicted_share == 1
    assert top.class_rate == blind.sum() / (target == 1).sum() and top.claim is None and top.proof is None
    page = found._repr_html_()
    assert "&lt;b&gt;owl&lt;/b&gt; (100%)" in page and "<b>owl" not in page and page.count("<tr>") == 1 + min(
        10, len(found.slices_))
    assert "PlaneSpot(" in spotter.PlaneSpot()._repr_html_()
    two = spotter.PlaneSpot(reduce="pca").fit(feature, target == 1, np.where(blind, 0.1, target == 1))
    assert [s for s in two.slices_ if s.name == "1"][0].predicted == "0"
    assert sum(order) == 3


def test_two_versions_as_a_table():
    feature, target, probs, blind = planted()
    names = np.array(["cat", "<i>dog", "owl"])[target]
    order = np.argsort(["cat", "<i>dog", "owl"])
    before = np.eye(3)[np.where(blind & (np.arange(len(blind)) % 4 > 0), 2, target)] * 0.9 + 1 / 30
    change = spotter.compare(feature, names, before[:, order], (0.9 * np.eye(3)[target] + 1 / 30)[:, order], spotter.JoinSpot())
    s = change.slices[0]
    assert s.verdict == "mended" and s.name == "<i>dog" and s.now == 0 and not change.failed
    page = change._repr_html_()
    assert "&lt;i&gt;dog" in page and "<i>dog" not in page and "mended" in page and "nothing is shown to be worse" in page
    if pandas is None:
        raises("pip install pandas", change.to_frame, ImportError)
        return
    table = change.to_frame()
    assert list(table.kind) == ["slice"] * len(change.slices) + ["class"] * len(change.classes)
    first = table.iloc[0]
    assert first["class"] == s.name and first.verdict == s.verdict and first.rows == s.rows and first.gained == s.gained
    assert (first.before, first.now, first.low, first.p_better) == (s.before, s.now, s.low, s.p_better)


def test_tables():
    feature, target, probs, _ = planted()
    ids = [f"photo-{i}.png" for i in range(len(feature))]
    found = spotter.PlaneSpot(reduce="pca").fit(feature, target, probs, ids=ids)
    if pandas is None:
        e = raises("pip install pandas", found.to_frame, ImportError)
        assert isinstance(e, spotter.SpotterError)
        return
    table, rows = found.to_frame(), found.rows_frame()
    assert len(table) == len(found.slices_) and list(table["size"]) == [s.size for s in found.slices_]
    assert list(rows.columns) == ["id", "number"] and len(rows) == table["size"].sum()
    assert list(rows[rows.number == 1].id) == [ids[i] for i in found.slices_[0].rows]
    given = pandas.DataFrame(feature, columns=[f"e{k}" for k in range(12)])
    again = spotter.PlaneSpot(reduce="pca").fit(given, pandas.Series(target), pandas.DataFrame(probs), ids=pandas.Series(ids))
    assert again.to_frame().equals(table) and list(again.feature_names_in_) == list(given.columns)
    words = pandas.Series(np.array(["owl", "cat", "dog"])[target])
    told = pandas.DataFrame(probs, columns=["owl", "cat", "dog"])            # by name, whatever their order
    named = spotter.PlaneSpot(reduce="pca").fit(given, words, told)
    assert named.slices_[0].name == "cat" and named.slices_[0].predicted == "dog" and named.slices_[0].error_rate == 1
    assert named.score(given, words, told[["dog", "owl", "cat"]]) == named.score(given, words, told) > 0.5
    assert again.rows_frame().equals(rows) and not hasattr(found, "feature_names_in_")


class Given(spotter.PlaneSpot):
    """fit(X, y) of scikit-learn's checks: any numbers are classes, and a rule in X stands for the probabilities."""

    def __init__(self, reduce="pca", **settings):
        super().__init__(reduce=reduce, **settings)

    def fit_predict(self, X, y=None):
        return self.fit(X, y).labels_

    def fit(self, X, y=None):
        X = spotter._arrays.matrix(X, "X")
        if y is not None and len(np.asarray(y)) != len(X):
            raise ValueError("y has another length than X")
        first = X[:, 0]
        return super().fit(X, None, 1 / (1 + np.exp(first - np.median(first))) * np.isfinite(first) if len(X) else first)

    def predict(self, X):
        X = spotter._arrays.matrix(X, "X")
        return super().predict(X, None, np.full(len(X), 0.5))

    def score(self, X, y=None):
        X = spotter._arrays.matrix(X, "X")
        return super().score(X, None, np.full(len(X), 0.2))


def test_look_takes_what_a_network_sees():
    import torch
    torch.manual_seed(1)
    net = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(48, 5), torch.nn.ReLU(), torch.nn.Linear(5, 2))
    x = torch.rand(60, 3, 4, 4)
    y = net(x).argmax(1)
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=16)
    net.train()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        seen = spotter.look(net, loader) if len(set(y.tolist())) > 1 else None
    assert net.training and len(net[3]._forward_pre_hooks) == 0
    if seen is not None:
        assert np.allclose(seen.embeddings, net[:3](x).detach().numpy(), atol=1e-6) and seen.ids[3] == "3"
        assert np.allclose(seen.probs, net(x).softmax(1).detach().numpy(), atol=1e-6) and (seen.targets == y.numpy()).all()
    data = torch.utils.data.TensorDataset(x, 1 - y)
    data.classes = ["up", "down"]                              # as an ImageFolder has them, also below a Subset
    told = spotter.look(net, torch.utils.data.DataLoader(torch.utils.data.Subset(data, range(60)), batch_size=16))
    assert told.class_names == ["up", "down"] and told.images is None and spotter.look(net, loader).class_names is None
    assert spotter.discover(*told, least=5, device="cpu").json["subject"]["class_names"] == ["up", "down"]
    named = spotter.look(net, loader, layer="1")
    assert np.allclose(named.embeddings, x.flatten(1).numpy())
    raises("no layer", lambda: spotter.look(net, loader, layer="head"))
    plain = spotter.look(net, loader).probs
    for said in (lambda z: {"logits": z}, lambda z: (z, 3), lambda z: type("Output", (), {"logits": z}),
                 lambda z: z.softmax(1)):
        wrapped = type("Wrapped", (torch.nn.Module,), {"forward": lambda self, x: said(self.net(x))})()
        wrapped.net = net
        assert np.allclose(spotter.look(wrapped, loader).probs, plain, atol=1e-6)
    one = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(48, 1))
    p = one(x).sigmoid().detach().numpy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert np.allclose(spotter.look(one, loader).probs, np.hstack([1 - p, p]), atol=1e-6)
    assert np.allclose(spotter.look(net, [{"pixel_values": x, "labels": y}]).probs, plain)
    odd = torch.nn.Sequential(net, torch.nn.Unflatten(1, (2, 1)))
    for words, model, batches in (("batches of (inputs, targets)", net, [x]),
                                  ("class numbers (60,)", net, [(x, torch.eye(2)[y])]),
                                  ("has class 3", net, [(x, y + 2)]), ("is function; it must be", lambda x: x, loader),
                                  ("output is Tensor of shape (60, 2, 1)", odd, [(x, y)])):
        raises(words, lambda: spotter.look(model, batches))
    wrong = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, 1 - y), batch_size=16)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        spotter.look(net, wrong)
        assert "which guessing among 2 classes explains" in str(said[0].message)
        found = spotter.PlaneSpot(reduce="pca", device="cpu").fit(*planted()[:2], planted()[2][:, [1, 2, 0]])
    one = next(w for w in said if "which guessing among 3 classes explains" in str(w.message))
    assert one.filename == __file__
    assert str(one.message) in found.warnings_


# The checks that Given cannot pass, and why; of a method itself everything that calls fit(X, y) fails in addition, since fit
# needs probs.
CANNOT = {"check_dtype_object": "a column that is no number is an InputError, which is a ValueError and no TypeError",
          "check_estimators_nan_inf": "it fits fewer than 20 rows; NaN and infinity are refused",
          "check_n_features_in_after_fitting": "it fits fewer than 20 rows",
          "check_fit2d_1feature": "it fits 10 rows; 20 are the least"}


def test_the_checks_of_scikit_learn():
    later = "legacy" in inspect.signature(estimator_checks._yield_all_checks).parameters
    passed = {}
    for one in (Given(), spotter.PlaneSpot()):
        passed[type(one)] = 0
        for check in estimator_checks._yield_all_checks(one, **({"legacy": True} if later else {})):
            name = getattr(check, "func", check).__name__
            try:
                check(type(one).__name__, clone(one))
                passed[type(one)] += 1
            except unittest.SkipTest:
                pass
            except (AssertionError, spotter.InputError) as e:
                assert name in CANNOT or isinstance(one, spotter.PlaneSpot) and type(one) is not Given, (name, e)
    assert passed[Given] >= 25 and passed[spotter.PlaneSpot] >= 9, passed
    raises("is nan, which is not finite", lambda: Given().fit(np.full((40, 2), np.nan)))
    raises("is inf, which is not finite", lambda: Given().fit(np.full((40, 2), np.inf)))


if __name__ == "__main__":
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            test()
            print("ok", name)
