"""Textual inversion: the training of one vector on pictures. No weight and no flag of the pipeline changes."""
import contextlib
import hashlib
import json
import os
from pathlib import Path

import numpy as np

from ._diffusion import Prompts, needed, words
from ._files import write_whole
from ._library import InputError, SpotterError
from ._pictures import address
from ._tokens import read_tensors

ENDS = (".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp")
SCHEDULE = ("prediction_type", "beta_schedule", "beta_start", "beta_end", "num_train_timesteps")


class Photos:
    """The training pictures: the middle square, bicubic, side x side x 3 uint8."""

    def __init__(self, images, side):
        self.side = side
        if isinstance(images, (str, os.PathLike)):
            images = self._of_folder(Path(images))
        self.images = list(images) if np.iterable(images) else []
        if not self.images:
            raise InputError("images has no picture; give a folder, or a list of paths, PIL images or uint8 arrays")

    @staticmethod
    def _of_folder(folder):
        try:
            return sorted(p for p in folder.iterdir() if p.suffix.lower() in ENDS)
        except OSError as e:
            raise InputError(f"cannot list {folder}: {e.strerror}") from None

    def __len__(self):
        return len(self.images)

    def identity(self):
        """A hash of the files' names and sizes, or of the arrays, by which a checkpoint knows its pictures again."""
        h = hashlib.sha256()
        for k, x in enumerate(self.images):
            if isinstance(x, (str, os.PathLike)):
                path = Path(x)
                h.update(f"{path.name} {path.stat().st_size if path.exists() else 0}\n".encode(errors="replace"))
            else:
                h.update(np.asarray(self._open(k)).tobytes())
        return f"{len(self.images)}, {h.hexdigest()[:16]}"

    def _open(self, k):
        image, ops = self.images[k], needed("PIL.ImageOps")
        Image = needed("PIL.Image")
        if isinstance(image, np.ndarray):
            if image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3 or not image.size:
                raise InputError(f"images[{k}] has shape {image.shape}, type {image.dtype}; an array must be "
                                 "(height, width, 3) uint8")
            return Image.fromarray(image)
        if isinstance(image, Image.Image):
            return image.convert("RGB")
        if not isinstance(image, (str, os.PathLike)):
            raise InputError(f"images[{k}] is a {type(image).__name__}, which is no path, PIL image or array")
        try:
            with Image.open(image) as file:
                return ops.exif_transpose(file).convert("RGB")
        except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as e:
            raise InputError(f"cannot read the picture {image}: {e}") from None

    def pixels(self, k, flip):
        image, Image = self._open(k), needed("PIL.Image")
        least = min(image.size)
        left, top = ((n - least) // 2 for n in image.size)
        square = image.crop((left, top, left + least, top + least)).resize((self.side, self.side), Image.BICUBIC)
        rgb = np.array(square)
        return np.ascontiguousarray(rgb[:, ::-1]) if flip else rgb


def mean_vector(pipeline, text):
    """The mean of the text's token embeddings, (width) float32."""
    ids = words(pipeline.tokenizer, text)
    if not ids:
        raise InputError(f"{text!r} has no tokens to start from; give init_words")
    with needed("torch").no_grad():
        return pipeline.text_encoder.get_input_embeddings().weight[ids].float().mean(0)


@contextlib.contextmanager
def frozen(pipeline):
    """No gradient for a weight, no dropout; afterwards all flags are as they were."""
    torch = needed("torch")
    modules = [m for name in ("text_encoder", "vae", "unet") for m in getattr(pipeline, name).modules()]
    training = [(m, m.training) for m in modules]
    wanted = [(p, p.requires_grad) for m in modules for p in m.parameters(recurse=False)]
    try:
        for m in modules:
            m.training = False
        for p, _ in wanted:
            p.requires_grad_(False)
        with torch.inference_mode(False), torch.enable_grad():
            yield
    finally:
        for m, flag in training:
            m.training = flag
        for p, flag in wanted:
            p.requires_grad_(flag)


def one_device(pipeline):
    """The device of all parts. A part that accelerate moves about has no place for a gradient."""
    parts = [getattr(pipeline, name) for name in ("text_encoder", "vae", "unet")]
    devices = {p.device for part in parts for p in part.parameters()}
    if len(devices) != 1 or any(hasattr(part, "_hf_hook") for part in parts):
        raise InputError("training needs the whole pipeline on one device: load it without offloading, then "
                         "pipeline.to('cuda')")
    return devices.pop()


class Inversion:
    """The training of one vector, step by step. Every random number has an address (seed, class, step), so that the state is
    the vector and the optimizer's moments alone."""

    def __init__(self, pipeline, pictures, class_name, cfg):
        torch, diffusers = needed("torch", "diffusers")
        self.pipeline, self.pictures, self.name, self.cfg = pipeline, pictures, class_name, cfg
        self.device, self.prompts, self.done = one_device(pipeline), Prompts(pipeline), 0
        config = pipeline.scheduler.config
        self.target = config.get("prediction_type", "epsilon")
        if "beta_schedule" not in config or self.target not in ("epsilon", "v_prediction"):
            raise InputError(f"the pipeline's {type(pipeline.scheduler).__name__} predicts {self.target!r}; textual inversion "
                             "knows the schedules of Stable Diffusion with epsilon and v_prediction")
        self.noise = diffusers.DDPMScheduler.from_config(config)
        self.raw = mean_vector(pipeline, cfg["init_words"]).requires_grad_(True)
        self.norm = self.raw.detach().norm()
        if not torch.isfinite(self.norm) or not self.norm > 0:
            raise InputError(f"the embedding to start {class_name!r} from has length {self.norm.item()}; give other init_words")
        self.optimizer = torch.optim.AdamW([self.raw], lr=cfg["lr"], betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01)
        half = pipeline.unet.dtype == torch.float16
        self.scale = 2.0 ** 12 if half else 1.0        # float16 loses small gradients without it
        self.skipped = 0

    def vector(self):
        """The raw vector brought to the length of the start where it is pinned; the gradient goes through this."""
        return self.raw * (self.norm / self.raw.norm()) if self.cfg["pin_norm"] else self.raw

    def _picture(self, number):
        """The place of the number-th picture of the training: every epoch has its own order."""
        torch, n = needed("torch"), len(self.pictures)
        order = torch.Generator().manual_seed(address(self.cfg["seed"], self.name, "order", number // n))
        return int(torch.randperm(n, generator=order)[number % n])

    def batch(self, step):
        """Pictures (n, 3, side, side) from -1 to 1, prompts, and the step's generator."""
        torch, cfg = needed("torch"), self.cfg
        draw = torch.Generator().manual_seed(address(cfg["seed"], self.name, "step", step))
        pixels, prompts = [], []
        for b in range(cfg["batch"]):
            flip = float(torch.rand(1, generator=draw)) < cfg["flip"]
            prompts.append(cfg["templates"][int(torch.randint(len(cfg["templates"]), (1,), generator=draw))])
            x = torch.from_numpy(self.pictures.pixels(self._picture(step * cfg["batch"] + b), flip))
            pixels.append(x.permute(2, 0, 1).float() / 127.5 - 1)
        return torch.stack(pixels), prompts, draw

    def loss(self, step):
        """The mean squared error of the UNet's prediction, of the noise or of v."""
        torch, vae, unet = needed("torch"), self.pipeline.vae, self.pipeline.unet
        pixels, prompts, draw = self.batch(step)
        with torch.no_grad():
            latents = vae.encode(pixels.to(self.device, vae.dtype)).latent_dist.sample(generator=draw)
            latents = (latents - (vae.config.get("shift_factor") or 0)) * vae.config.scaling_factor
        noise = torch.randn(latents.shape, generator=draw).to(latents)
        t = torch.randint(self.noise.config.num_train_timesteps, (len(pixels),), generator=draw).to(self.device)
        noisy = self.noise.add_noise(latents, noise, t).to(unet.dtype)
        states = self.prompts.encode(prompts, self.vector()).to(unet.dtype)
        want = noise if self.target == "epsilon" else self.noise.get_velocity(latents, noise, t)
        return torch.nn.functional.mse_loss(unet(noisy, t, states).sample.float(), want.float())

    def step(self):
        """One step; returns its loss. A step of float16 whose gradient overflows is left out, and the scale halved."""
        torch = needed("torch")
        loss = self.loss(self.done)
        gradient = torch.autograd.grad(loss * self.scale, self.raw)[0] / self.scale
        if torch.isfinite(gradient).all() and torch.isfinite(loss):
            self.raw.grad = gradient
            self.optimizer.step()
            self.raw.grad = None
            self.skipped = 0
        else:
            self.skipped += 1
            if self.scale <= 1 or self.skipped > 20 or not torch.isfinite(loss):
                raise SpotterError(f"step {self.done + 1} of {self.name!r}: the loss or its gradient is no number; use a "
                                   "pipeline in float32 or bfloat16, or a lower lr")
            self.scale /= 2
        self.done += 1
        return float(loss.detach())

    def state(self):
        torch, moments = needed("torch"), self.optimizer.state.get(self.raw, {})
        zero = torch.zeros_like(self.raw)
        numbers = torch.tensor([self.done, int(moments.get("step", 0)), self.scale, self.skipped], dtype=torch.float64)
        return {"raw": self.raw.detach().cpu().clone(), "numbers": numbers,
                "mean": moments.get("exp_avg", zero).detach().cpu().clone(),
                "square": moments.get("exp_avg_sq", zero).detach().cpu().clone()}

    def resume(self, state):
        torch = needed("torch")
        done, updates, self.scale, self.skipped = (float(x) for x in state["numbers"])
        self.done, self.skipped = int(done), int(self.skipped)
        with torch.no_grad():
            self.raw.copy_(state["raw"])
        if updates:
            self.optimizer.state[self.raw] = {"step": torch.tensor(updates, dtype=torch.float32),
                                              "exp_avg": state["mean"].to(self.raw), "exp_avg_sq": state["square"].to(self.raw)}


def save_state(state, path, told):
    from safetensors.torch import save
    try:
        write_whole(path, save(state, {"spotter.inversion": json.dumps(told)}))
    except OSError as e:
        raise SpotterError(f"cannot write {path}: {e.strerror}") from None


def resume(training, path, told):
    """Goes on from the file, where it is there. told: the settings that must be the same."""
    if not path.exists():
        if not path.parent.is_dir():
            raise InputError(f"there is no folder {path.parent} for the checkpoint")
        return
    state, about = read_tensors(path)
    try:
        before = json.loads(about["spotter.inversion"])
        width = training.raw.shape
        good = all(state[k].shape == width for k in ("raw", "mean", "square")) and state["numbers"].shape == (4,)
    except (KeyError, ValueError, TypeError):
        before, good = None, False
    if not good or not isinstance(before, dict):
        raise InputError(f"{path} is no checkpoint of textual_inversion with this pipeline; give another name")
    now = json.loads(json.dumps(told))
    for key in sorted(now):
        if before.get(key) != now[key]:
            raise InputError(f"{path} has other settings: {key} was {str(before.get(key))[:80]}, now it is "
                             f"{str(now[key])[:80]}; remove it, or give another name")
    if float(state["numbers"][0]) > training.cfg["steps"]:
        raise InputError(f"{path} has {int(state['numbers'][0])} steps, more than the {training.cfg['steps']} that are wanted")
    training.resume(state)
