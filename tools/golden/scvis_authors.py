"""tests/golden/scvis_authors.bin: loss and gradient of scvis' own TensorFlow graph (shahcompbio/scvis, af73849).

    tools/golden/scvis_authors.py CLONE

builds the authors' graph from a clone of theirs, at the weights, input, noise and dropout mask of scvis.py's case "compat", and
writes the loss (f64) and every third entry of its gradient (f32), in the order of kernels/map/scvis.h. Their code is of
TensorFlow 1: a module stands for `tensorflow` that has compat.v1's names, and of tf.contrib the one initializer and the one
distribution that they use (tensorflow-probability's). Needs tensorflow-cpu 2.21, tensorflow-probability 0.25, tf-keras."""
import os
import sys
import types

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import numpy as np
import tensorflow.compat.v1 as v1
import tensorflow_probability as probability

N, D, DIM, STEP, PERPLEXITY = 48, 8, 2, 3, 10
HIDDEN, DECODER = [128, 64, 32], [32, 32, 32, 64, 128]


def wave(count, a, b):
    i = np.arange(count, dtype=np.float64)
    return np.sin(a * i + b * i * i).astype(np.float32)


def stand_in():
    module = types.ModuleType("tensorflow")
    module.__dict__.update({name: getattr(v1, name) for name in dir(v1) if not name.startswith("__")})
    module.contrib = types.SimpleNamespace(layers=types.SimpleNamespace(xavier_initializer=v1.glorot_uniform_initializer),
                                           distributions=probability.distributions)
    sys.modules["tensorflow"] = module


def in_our_order(model):
    """Their variables as (weight, bias) of the twelve layers, then the degrees of freedom."""
    vae = model.vae
    pairs = list(zip(vae.weights, vae.biases))
    layers = pairs[:3] + [(vae.weights_mu, vae.bias_mu), (vae.weights_sigma_square, vae.bias_sigma_square)] + pairs[3:]
    layers += [(vae.decoder_weights_mu, vae.decoder_bias_mu), (vae.decoder_weights_sigma_square, vae.decoder_bias_sigma_square)]
    freedom, = [v for v in v1.trainable_variables() if v.name.startswith("dof")]
    return [x for layer in layers for x in layer] + [freedom]


def main():
    v1.disable_eager_execution()
    stand_in()
    sys.path[0] = os.path.join(sys.argv[1], "lib")      # in place of this folder, which has a scvis.py, too
    from scvis.model import SCVIS
    from scvis.tsne_helper import compute_transition_probability
    model = SCVIS({"input_dimension": D, "latent_dimension": DIM, "inference": {"layer_size": HIDDEN},
                   "model": {"layer_size": DECODER}},
                  {"regularizer_l2": 0.001, "batch_size": N, "perplexity": PERPLEXITY, "seed": 1,
                   "optimization": {"method": "Adam", "learning_rate": 0.01}})
    variables = in_our_order(model)
    assert len(variables) == len(v1.trainable_variables()) == 25
    gradient = v1.gradients(model.obj, variables)
    size = sum(int(np.prod(v.shape)) for v in variables)
    theta = (0.2 * wave(size, 1.7, 0.013).astype(np.float64) + 0.02).astype(np.float32)
    theta[-D:] = (1 + wave(D, 0.9, 0.1).astype(np.float64)).astype(np.float32)
    x = wave(N * D, 0.31, 0.007).reshape(N, D)
    noise = (1.3 * wave(N * DIM, 2.3, 0.11).astype(np.float64)).astype(np.float32).reshape(N, DIM)
    keep = np.array([e % 10 != 3 for e in range(32 * DIM)], np.float32).reshape(32, DIM)
    # The first dropout of the graph is that of the mu head; a number of at least 1 - 0.9 keeps a weight.
    uniform, = [op.outputs[0] for op in v1.get_default_graph().get_operations()
                if op.name.startswith("encoder-parameter") and op.name.endswith("random_uniform/RandomUniform")]
    session = model.sess
    session.run(v1.global_variables_initializer())
    at = 0
    for v in variables:
        count = int(np.prod(v.shape))
        v.load(theta[at:at + count].reshape(v.shape), session)
        at += count
    p = compute_transition_probability(x.astype(np.float64), perplexity=PERPLEXITY)
    told, *parts = session.run([model.obj, *gradient], {model.x: x, model.p: p, model.batch_size: N, model.iter: STEP,
                                                        model.vae.ep: noise, uniform: keep})
    flat = np.concatenate([np.asarray(g).ravel() for g in parts]).astype(np.float32)
    here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tests/golden")
    with open(os.path.join(here, "scvis_authors.bin"), "wb") as f:
        np.array([told], np.float64).tofile(f)
        flat[::3].tofile(f)
    with open(os.path.join(here, "scvis_compat.bin"), "rb") as f:
        ours = f.read()
    value, other = np.frombuffer(ours[:8], "<f8")[0], np.frombuffer(ours[8:], "<f4")
    print(f"loss {told:.7g}, scvis.py {value:.7g}; gradients differ by at most {np.abs(flat[::3] - other).max():.3g} of "
          f"{np.abs(other).max():.3g}")


if __name__ == "__main__":
    main()
