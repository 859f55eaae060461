"""Classifiers in files: ONNX, torch.export, TorchScript, and weights of timm's and torchvision's networks. Each becomes a
function from pixels, uint8 (n, side, side, 3), to logits and the input of the last linear layer, numpy arrays (n, numbers).

The module needs nothing of the package but _layers, so that predictor.py runs it without the C library."""
import os
import warnings
from typing import Any, Callable, List, NamedTuple, Optional, Tuple

import numpy as np

if __package__:
    from ._layers import last_linear, logits_of
else:
    from _layers import last_linear, logits_of         # type: ignore[no-redef]

KINDS = (".onnx", ".pt2", ".ts", "timm:", "torchvision:")
PASSES = {"Add", "Softmax", "LogSoftmax", "Identity", "Cast", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Dropout"}


class Failed(Exception):
    """The network cannot be opened, or cannot look at a picture; one sentence."""


class Network(NamedTuple):
    """ask: uint8 (n, side, side, 3), mean and std of pixels / 255 -> logits, embeddings. batch: pictures of a call, None: any.
    side: pixels that it takes, None: any. raw: it takes pixels from 0 to 255. mean, std: those of its training, where it
    says so."""
    ask: Callable[[Any, Any, Any], Tuple[Any, Any]]
    by: str
    batch: Optional[int] = None
    side: Optional[int] = None
    raw: bool = False
    mean: Optional[Tuple[float, ...]] = None
    std: Optional[Tuple[float, ...]] = None


def package(name: str, what: str, install: str = "") -> Any:
    import importlib
    try:
        return importlib.import_module(name)
    except ImportError as e:
        raise Failed(f"{what} needs the package {name}, which does not load ({e}): pip install {install or name}") from None


def note(words: str) -> None:
    import sys
    print(words, file=sys.stderr, flush=True)


def no_features(name: str) -> None:
    note(f"{name}: no linear layer ends in the logits, so there are no embeddings")


# ---- ONNX ----

def _constants(graph: Any) -> set:
    """Names of values that depend on no picture."""
    known = {v.name for v in graph.initializer} | {""}
    for node in graph.node:
        if node.op_type == "Constant" or node.input and all(name in known for name in node.input):
            known.update(node.output)
    return known


def _before_linear(graph: Any, name: str) -> Optional[str]:
    """The input of the last Gemm, or MatMul by weights, on the way to the value `name`."""
    constant, maker = _constants(graph), {out: node for node in graph.node for out in node.output}
    while name in maker:
        node = maker[name]
        moving = [given for given in node.input if given not in constant]
        if len(moving) != 1:
            return None
        if node.op_type in ("Gemm", "MatMul"):
            return moving[0] if moving[0] == node.input[0] else None
        if node.op_type not in PASSES:
            return None
        name = moving[0]
    return None


def _open_onnx(path: str, device: str, threads: int) -> Network:
    onnx, ort = package("onnx", f"{path}"), package("onnxruntime", f"{path}")
    try:
        model = onnx.load(path)
    except Exception as e:
        raise Failed(f"{path} is no ONNX model: {one_line(e)}") from None
    given = {v.name for v in model.graph.initializer}
    inputs = [v for v in model.graph.input if v.name not in given]
    if len(inputs) != 1:
        raise Failed(f"{path} has {len(inputs)} inputs ({', '.join(v.name for v in inputs)}); it must take pictures alone")
    outputs = [v.name for v in model.graph.output]
    logits = "logits" if "logits" in outputs else outputs[0]
    inner = _before_linear(model.graph, logits)
    if inner is None:
        no_features(path)
    elif inner not in outputs:
        model.graph.output.append(onnx.ValueInfoProto(name=inner))
    options = ort.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = threads
    usable = ort.get_available_providers()
    chosen = [p for p in ("CUDAExecutionProvider",) if p in usable and device != "cpu"]
    if device == "cuda" and not chosen:
        raise Failed(f"onnxruntime has no CUDA here, but {', '.join(usable)}: pip install onnxruntime-gpu")
    try:
        session = ort.InferenceSession(model.SerializeToString(), options, providers=chosen + ["CPUExecutionProvider"])
    except Exception as e:
        raise Failed(f"onnxruntime cannot open {path}: {one_line(e)}") from None
    return _onnx_network(path, session, [logits] + [inner] * (inner is not None), ort.__version__)


def _onnx_network(path: str, session: Any, wanted: List[str], version: str) -> Network:
    told = session.get_inputs()[0]
    shape = [v if isinstance(v, int) and v > 0 else None for v in told.shape]
    if len(shape) != 4 or 3 not in (shape[1], shape[3]) and (shape[1] or shape[3]):
        raise Failed(f"{path} takes an input of shape {told.shape}; pictures are (n, 3, height, width) or (n, height, width, "
                     "3)")
    last = shape[1] != 3 and shape[3] == 3
    height, width = (shape[1], shape[2]) if last else (shape[2], shape[3])
    if height and width and height != width:
        raise Failed(f"{path} takes pictures of {width} x {height} pixels; only squares are sent")
    dtype = {"tensor(float)": np.float32, "tensor(float16)": np.float16, "tensor(double)": np.float64,
             "tensor(uint8)": np.uint8}.get(told.type)
    if dtype is None:
        raise Failed(f"{path} takes {told.type}; float, float16, double and uint8 are possible")

    def ask(rgb: Any, mean: Any, std: Any) -> Tuple[Any, Any]:
        x, shape = (rgb, (1, 1, 1, 3)) if last else (rgb.transpose(0, 3, 1, 2), (1, 3, 1, 1))
        if dtype is not np.uint8:
            slope = np.array([1 / (255 * s) for s in std], np.float32).reshape(shape)
            x = np.multiply(x, slope, dtype=np.float32, order="C")
            x -= np.array([m / s for m, s in zip(mean, std)], np.float32).reshape(shape)
        x = np.ascontiguousarray(x.astype(dtype, copy=False))
        said = session.run(wanted, {told.name: x})
        return said[0], said[1] if len(said) > 1 else None

    where = "cuda" if "CUDAExecutionProvider" in session.get_providers() else "cpu"
    return Network(ask, f"onnxruntime {version} on {where}", shape[0], height or width, dtype is np.uint8)


# ---- torch ----

def _torch(what: str) -> Any:
    torch = package("torch", what)
    warnings.simplefilter("ignore")                    # one that tells of deprecation would stand in the log of every run
    return torch


def _place(torch: Any, device: str) -> str:
    usable = torch.cuda.is_available()
    if device == "cuda" and not usable:
        raise Failed("torch sees no GPU here; --device cpu computes without one")
    return "cuda" if usable and device != "cpu" else "cpu"


def _asker(torch: Any, run: Callable[[Any], Tuple[Any, Any]], place: str) -> Callable[[Any, Any, Any], Tuple[Any, Any]]:
    """Pixels go to the device as bytes, and keep their order in memory, which convolutions like."""
    def ask(rgb: Any, mean: Any, std: Any) -> Tuple[Any, Any]:
        with torch.inference_mode():
            x = torch.from_numpy(rgb).to(place).permute(0, 3, 1, 2)
            less, by = (torch.tensor(v, device=place).view(3, 1, 1) for v in (mean, std))
            logits, inner = run((x / 255 - less) / by)
        logits = logits_of(logits)
        if not isinstance(logits, torch.Tensor):
            raise Failed(f"the network answers with {type(logits).__name__}; it must be logits (n, classes)")
        return logits.float().cpu().numpy(), None if inner is None else inner.float().flatten(1).cpu().numpy()
    return ask


def _by(torch: Any, place: str) -> str:
    return f"torch {torch.__version__.split('+')[0]} on {place}"


def _keeper(torch: Any) -> Any:
    """A module that keeps what passes."""
    class Keeper(torch.nn.Module):
        last = None

        def forward(self, x: Any) -> Any:
            self.last = x
            return x
    return Keeper()


def _open_exported(path: str, device: str) -> Network:
    torch = _torch(path)
    if not hasattr(torch, "export"):
        raise Failed(f"{path} needs torch.export, which torch {torch.__version__} lacks: pip install 'torch>=2.1'")
    try:
        program = torch.export.load(path)
    except Exception as e:
        raise Failed(f"{path} is no program of torch.export: {one_line(e)}") from None
    place = _place(torch, device)
    if place == "cuda":
        try:
            from torch.export.passes import move_to_device_pass
            program = move_to_device_pass(program, place)
        except ImportError:
            place = "cpu"
    names = program.graph_signature.user_inputs
    shape = next((n.meta["val"].shape for n in program.graph.nodes if n.op == "placeholder" and n.name == names[0]), None)
    if len(names) != 1 or shape is None or len(shape) != 4:
        raise Failed(f"{path} takes {len(names)} inputs; it must take pictures (n, 3, height, width) alone")
    fixed = [v if isinstance(v, int) else None for v in shape]
    module, seen = program.module(), _keeper(torch)
    linear = [n for n in module.graph.nodes if n.op == "call_function"
              and str(n.target) in ("aten.linear.default", "aten.addmm.default")]
    if linear:
        node = linear[-1]
        with module.graph.inserting_after(node):
            module.add_submodule("spotter_seen", seen)
            module.graph.call_module("spotter_seen", (node.args[1 if "addmm" in str(node.target) else 0],))
        module.recompile()
    else:
        no_features(path)

    return Network(_asker(torch, lambda x: (module(x), seen.last), place), _by(torch, place), fixed[0], fixed[2])


def _open_script(path: str, device: str) -> Network:
    torch = _torch(path)
    place = _place(torch, device)
    try:
        module = torch.jit.load(path, map_location=place).eval()
        frozen = torch.jit.freeze(module)
    except Exception as e:
        raise Failed(f"{path} is no network of TorchScript: {one_line(e)}") from None
    graph = frozen.graph.copy()
    linear = [n for n in graph.nodes() if n.kind() in ("aten::linear", "aten::addmm")]
    outputs = list(graph.outputs())
    if not linear or len(outputs) != 1:
        no_features(path)
        return Network(_asker(torch, lambda x: (frozen(x), None), place), _by(torch, place))
    inner = list(linear[-1].inputs())[0 if linear[-1].kind() == "aten::linear" else 1]
    both = graph.create("prim::TupleConstruct", [outputs[0], inner], 1)
    both.output().setType(torch._C.TupleType([outputs[0].type(), inner.type()]))
    graph.appendNode(both)
    graph.eraseOutput(0)
    graph.registerOutput(both.output())
    function = torch._C._create_function_from_graph("forward", graph)
    return Network(_asker(torch, lambda x: function(frozen, x), place), _by(torch, place))


# ---- weights ----

def _read_weights(path: str, torch: Any) -> dict:
    """The state dict of a file that holds nothing but tensors, without the prefixes of wrappers."""
    try:
        if path.endswith(".safetensors"):
            state = package("safetensors.torch", path, "safetensors").load_file(path)
        else:
            state = torch.load(path, map_location="cpu", weights_only=True)
    except Failed:
        raise
    except Exception as e:
        raise Failed(f"{path} cannot be read as weights alone, without code: {one_line(e)}; save model.state_dict()") from None
    for key in ("state_dict", "model_state_dict", "model", "net", "ema"):
        if isinstance(state, dict) and isinstance(state.get(key), dict):
            state = state[key]
    if not isinstance(state, dict) or not state:
        raise Failed(f"{path} has no state dict; save model.state_dict()")
    for prefix in ("module.", "_orig_mod.", "model.", "module."):
        if all(name.startswith(prefix) for name in state):
            state = {name[len(prefix):]: value for name, value in state.items()}
    return state


def _of_classes(classes: Optional[int]) -> dict:
    return {} if classes is None else {"num_classes": classes}


def _make(library: str, name: str) -> Callable[..., Any]:
    """The function of a number of classes that makes the network; None: as many as usual."""
    if library == "timm":
        timm = package("timm", f"timm:{name}")
        if name.split(".")[0] not in timm.list_models():
            raise Failed(f"timm {timm.__version__} has no network {name}; timm.list_models() names them")
        return lambda classes: timm.create_model(name, pretrained=False, **_of_classes(classes))
    models = package("torchvision", f"torchvision:{name}").models
    known = models.list_models() if hasattr(models, "list_models") else []
    if name not in known:
        raise Failed(f"torchvision has no network {name}; torchvision.models.list_models() names them")
    more = {"init_weights": False} if name in ("googlenet", "inception_v3") else {}
    return lambda classes: models.get_model(name, weights=None, **more, **_of_classes(classes))


def _open_weights(model: str, weights: Optional[str], device: str) -> Network:
    library, name = model.split(":", 1)
    if ":" in name and weights is None:                # timm:NAME:FILE
        name, weights = name.split(":", 1)
    if not weights:
        raise Failed(f"{model} is a network without weights; --weights FILE (or {library}:{name}:FILE) names a .safetensors or "
                     "a .pt file of its state dict")
    torch = _torch(model)
    make, state = _make(library, name), _read_weights(weights, torch)
    net = make(None)
    last = last_linear(net, torch)
    head = state.get(f"{last}.weight")
    if last is not None and head is not None and head.shape[0] != dict(net.named_modules())[last].out_features:
        net = make(int(head.shape[0]))
    try:
        net.load_state_dict(state)
    except RuntimeError as e:
        raise Failed(f"the weights of {weights} are not those of {library}:{name}: {one_line(e)}") from None
    place = _place(torch, device)
    net = net.eval().to(place)
    seen: List[Any] = []
    if last is None:
        no_features(model)
    else:
        dict(net.named_modules())[last].register_forward_pre_hook(lambda _, given: seen.append(given[0]))

    def run(x: Any) -> Tuple[Any, Any]:
        seen.clear()
        said = net(x)
        if last is not None and len(seen) != 1:
            raise Failed(f"{model}: its last linear layer, {last}, ran {len(seen)} times for a batch")
        return said, seen[0] if seen else None

    told = getattr(net, "pretrained_cfg", None) or {}
    return Network(_asker(torch, run, place), _by(torch, place), mean=told.get("mean"), std=told.get("std"))


# ---- any ----

def one_line(e: BaseException) -> str:
    text = " ".join(str(e).split()) or type(e).__name__
    return text if len(text) <= 300 else text[:297] + "..."


def open_network(model: str, weights: Optional[str], device: str, threads: int) -> Network:
    if threads and not model.endswith(".onnx"):
        _torch(model).set_num_threads(threads)
    if model.startswith(("timm:", "torchvision:")):
        return _open_weights(model, weights, device)
    if not model.endswith((".onnx", ".pt2", ".ts")):
        raise Failed(f"{model} is none of net.onnx, net.pt2 (torch.export), net.ts (TorchScript), timm:NAME, torchvision:NAME")
    if not os.path.isfile(model):
        raise Failed(f"there is no file {model}")
    if model.endswith(".onnx"):
        return _open_onnx(model, device, threads)
    return _open_exported(model, device) if model.endswith(".pt2") else _open_script(model, device)
