"""Pictures of distribution shifts, generated with the user's Stable Diffusion (dataset interfaces, Vendrow et al. 2023), in the
folders that `spotter shifts` reads. Needs torch, diffusers, transformers and safetensors when it generates, not before.

    from spotter import shifts
    pipeline = diffusers.StableDiffusionPipeline.from_pretrained("stable-diffusion-2", torch_dtype=torch.float16).to("cuda")
    pipeline.scheduler = diffusers.EulerDiscreteScheduler.from_config(pipeline.scheduler.config)
    fox = shifts.textual_inversion(pipeline, "train/fox", "fox", checkpoint="fox.part.safetensors")
    shifts.save_tokens("tokens.safetensors", [fox])
    shifts.generate(pipeline, [fox], "shifts.yaml", "generated", source="token")       # generated/token/<shift>/fox/*.png
    shifts.generate(pipeline, ["fox"], "shifts.yaml", "generated", source="name")      # the paper's baseline
"""
from __future__ import annotations

import hashlib
import io
import sys
from collections import namedtuple
from pathlib import Path
from typing import Any, Callable, Dict, Optional, Sequence, Union

import numpy as np

from . import _diffusion, _inversion
from ._classifier import Place
from ._diffusion import Missing, needed
from ._library import InputError, Stopped
from ._pictures import Folder, address, check_count, check_name, check_real, folder_of, plain, read_shifts, split_prompt
from ._tokens import Token, load_tokens, save_tokens

__all__ = ["Generated", "Missing", "TEMPLATES", "Token", "generate", "load_tokens", "save_tokens", "textual_inversion"]

Progress = Callable[[int, int, str], Any]
TEMPLATES = (
    "a photo of a {}", "a photo of the {}", "a photo of one {}", "a picture of a {}", "a picture of the {}", "an image of a {}",
    "a photograph of a {}", "a snapshot of a {}", "a close photo of a {}", "a photo of a {} from nearby",
    "a photo of a {} from afar", "a sharp photo of a {}", "a blurred photo of a {}", "a bright photo of a {}",
    "a dim photo of a {}", "a cropped picture of a {}", "a photo of part of a {}", "a photo of a whole {}",
    "a photo of a big {}", "a photo of a little {}", "a photo of my {}", "a photo of some {}",
    "a photo that shows a {}", "a plain photo of a {}", "a color photo of a {}", "a photo of a {} in the middle",
    "this is a photo of a {}")


class Generated:
    """made, present, withheld: numbers of pictures written now, there before, and withheld by the safety checker of the
    pipeline. folder: the root of <shift>/<class>/*.png."""

    folder: Path
    made: int
    present: int
    withheld: int

    def __init__(self, folder: Path) -> None:
        self.folder, self.made, self.present, self.withheld = folder, 0, 0, 0

    def __repr__(self) -> str:
        return f"Generated({str(self.folder)!r}, made={self.made}, present={self.present}, withheld={self.withheld})"


class _Progress:
    """progress(done, total, words) of the user, else a bar of tqdm on a terminal where tqdm is installed."""

    def __init__(self, progress, total, done, what):
        self.tell, self.total, self.done, self.what, self.bar = progress, total, done, what, None
        if progress is None and sys.stderr.isatty():
            try:
                from tqdm import tqdm
                self.bar = tqdm(total=total, initial=done, desc=what)
            except ImportError:
                pass

    def add(self, n, what=None):
        self.done += n
        if self.bar is not None:
            self.bar.update(n)
            self.bar.set_postfix_str(what or "")
        elif self.tell:
            self.tell(self.done, self.total, what or self.what)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.bar is not None:
            self.bar.close()


def textual_inversion(pipeline: Any, images: Any, class_name: str, *, init_words: Union[None, str, Sequence[str]] = None,
                      steps: int = 3000, lr: float = 5e-4, seed: int = 0, batch: int = 1, resolution: Optional[int] = None,
                      flip: float = 0.5, templates: Sequence[str] = TEMPLATES, pin_norm: bool = True,
                      checkpoint: Optional[Place] = None, every: int = 500, progress: Optional[Progress] = None) -> Token:
    """Learns a word for a class from its pictures (textual inversion, Gal et al. 2022). Returns a Token; the pipeline, one of
    Stable Diffusion 1 or 2 for text to image, is left as it was.

    The defaults are the paper's: AdamW with betas 0.9 and 0.999, eps 1e-8, weight decay 0.01, a constant lr, one picture a
    step, the middle square of a picture at the pipeline's resolution, mirrored half of the time. pin_norm keeps the vector at
    the length of its start, as the authors' code does and the paper does not say; False: as the paper says.

    images: a folder, or a list of paths, PIL images or (height, width, 3) uint8 arrays. init_words: the vector starts at the
    mean of their tokens' embeddings; None: class_name. templates: prompts with one {}; each step draws one. checkpoint: a file
    that keeps the training every `every` steps and at a stop (Ctrl-C); the same call goes on from it, to the same bits as
    without the stop where the device repeats itself, as a CPU does.
    progress(done, total, words) is called after each step."""
    _check_training(steps, lr, seed, batch, flip, every, class_name, templates)
    start = _start(init_words, class_name)
    needed("torch", "diffusers", "safetensors.torch", "PIL.Image")
    _diffusion.check_reads_tokens(pipeline)
    side = _resolution(pipeline, resolution)
    photos = _inversion.Photos(images, side)
    cfg = {"steps": steps, "lr": float(lr), "seed": seed, "batch": batch, "resolution": side, "flip": float(flip),
           "pin_norm": bool(pin_norm), "init_words": start, "templates": [split_prompt(t, "a template") for t in templates]}
    told = {**{k: v for k, v in cfg.items() if k != "steps"}, "class_name": class_name, "pictures": photos.identity(),
            "weights": _diffusion.fingerprint(pipeline),
            "schedule": {k: pipeline.scheduler.config.get(k) for k in _inversion.SCHEDULE}}
    with _inversion.frozen(pipeline):
        training = _inversion.Inversion(pipeline, photos, class_name, cfg)
        if checkpoint is not None:
            _inversion.resume(training, Path(checkpoint), told)
        _train(training, checkpoint, every, told, progress)
        vector = training.vector().detach().cpu().numpy()
    settings = {**told, "steps": training.done, "model": str(pipeline.config.get("_name_or_path", ""))}
    return Token(class_name, vector, {**settings, "templates": ["{}".join(t) for t in cfg["templates"]]})


def _check_training(steps, lr, seed, batch, flip, every, class_name, templates):
    for value, what in ((steps, "steps"), (batch, "batch"), (every, "every")):
        check_count(value, what)
    check_count(seed, "seed", 0)
    check_real(lr, "lr", 0)
    check_real(flip, "flip", most=1)
    check_name(class_name, "class")
    if isinstance(templates, str) or not np.iterable(templates) or not len(templates):
        raise InputError("templates is no list of prompts")


def _start(init_words, class_name):
    if init_words is None:
        return class_name
    if isinstance(init_words, (list, tuple)) and all(isinstance(word, str) for word in init_words):
        return " ".join(init_words)
    if not isinstance(init_words, str):
        raise InputError(f"init_words is {init_words!r}; it must be words, or a list of them")
    return init_words


def _train(training, checkpoint, every, told, progress):
    steps, name = training.cfg["steps"], training.name
    done = training.state()                            # of whole steps, for a stop in the middle of one
    try:
        with _Progress(progress, steps, training.done, name) as bar:
            while training.done < steps:
                loss = training.step()
                done = training.state()
                if checkpoint is not None and (training.done % every == 0 or training.done == steps):
                    _inversion.save_state(done, Path(checkpoint), told)
                bar.add(1, f"{name}, loss {loss:.4f}")
    except KeyboardInterrupt:
        if checkpoint is not None:
            _inversion.save_state(done, Path(checkpoint), told)
        raise Stopped(f"{name!r} stopped after {int(done['numbers'][0])} of {steps} steps; " + (
            f"the same call goes on from {checkpoint}" if checkpoint is not None else
            "nothing is kept, because there is no checkpoint")) from None


def _resolution(pipeline, wanted):
    side = _diffusion.resolution_of(pipeline) if wanted is None else wanted
    check_count(side, "resolution", 8)
    step = 2 ** (len(pipeline.vae.config.block_out_channels) - 1) * 2 ** (len(pipeline.unet.config.block_out_channels) - 1)
    if side % step:
        raise InputError(f"resolution is {side}; for this pipeline it must be a multiple of {step}")
    return side


def generate(pipeline: Any, classes: Union[str, Token, Sequence[Union[str, Token]]], shifts: Union[Place, Dict[str, str]],
             out: Place, *, images: int = 50, size: Optional[int] = 512, steps: int = 50, guidance: float = 7.5, seed: int = 0,
             source: Optional[str] = None, batch: int = 4, resolution: Optional[int] = None, negative_prompt: str = "",
             folders: Optional[Dict[str, str]] = None, progress: Optional[Progress] = None) -> Generated:
    """Writes <out>[/<source>]/<shift>/<class>/00000.png ..., with '_' for ' ' in folders. Pipeline and scheduler are the user's
    (the paper's scheduler: EulerDiscrete). The same call goes on after a stop; with more `images` it adds the missing.

    classes: a Token, the name of a class (the paper's baseline: the name stands in the prompt; any text-to-image pipeline), or
    a list of them. shifts: {shift: "a photo of a {} in the snow"}, or the path of a config of `spotter shifts`; the base, "a
    photo of a {}" unless given, is made too. size: the pictures' side after a bicubic resize; None: as the pipeline makes them.
    resolution: the side that the pipeline makes; None: its own (768 for Stable Diffusion 2). guidance: the weight of the
    prompt; 1: none. folders: {class: folder} for classes whose folder is not their name. batch: pictures at a time.
    progress(done, total, words) is called after each batch.

    The noise of a picture comes from (seed, class, shift, number) alone. A file that this did not write is never replaced: it
    is named before anything is made, as are pictures of other settings. One process at a time may fill a class of a shift."""
    _check_generation(images, size, steps, guidance, seed, batch, resolution, negative_prompt)
    classes = _classes(classes)
    folders = _folders(classes, folders or {})
    prompts = read_shifts(shifts, source)
    needed("torch", "diffusers", "PIL.Image")
    _check_generates(pipeline, classes, resolution)
    cfg = {"steps": steps, "guidance": float(guidance), "resolution": resolution, "negative_prompt": negative_prompt,
           "size": size, "seed": seed}
    done = Generated(Path(out) if source is None else Path(out, check_name(source, "source")))
    jobs = _jobs(pipeline, classes, folders, prompts, images, cfg, done)
    if _diffusion.reads_tokens(pipeline) is None:
        _diffusion.Prompts(pipeline).ids([job.prompt for job in jobs] + [negative_prompt])             # none is too long
    try:
        with _Progress(progress, images * len(jobs), done.present + done.withheld, "pictures") as bar:
            for job in jobs:
                for at in range(0, len(job.missing), batch):
                    _make(pipeline, job, job.missing[at:at + batch], cfg, done)
                    bar.add(len(job.missing[at:at + batch]), f"{job.shift}, {job.name}")
    except KeyboardInterrupt:
        raise Stopped(f"stopped after {done.made} new pictures in {done.folder}; the same call goes on from there") from None
    return done


def _check_generation(images, size, steps, guidance, seed, batch, resolution, negative_prompt):
    for value, what in ((images, "images"), (steps, "steps"), (batch, "batch")):
        check_count(value, what)
    check_count(seed, "seed", 0)
    check_real(guidance, "guidance")
    for value, what in ((size, "size"), (resolution, "resolution")):
        if value is not None:
            check_count(value, what, 8)
    if not isinstance(negative_prompt, str):
        raise InputError(f"negative_prompt is {negative_prompt!r}; it must be words")


_Job = namedtuple("_Job", "folder prompt vector name shift missing")       # a class under a shift; missing: numbers of pictures


def _jobs(pipeline, classes, folders, prompts, images, cfg, done):
    """All folders with their missing pictures, before anything is made; done counts the present ones."""
    jobs, made_with, settings = [], _made_with(pipeline), plain({**cfg, **_settings_of(pipeline)})
    for name, (_, vector) in classes.items():
        for shift, place, (before, after) in prompts:
            prompt = (before, after) if vector is not None else before + name + after
            said = {"prompt": "".join((before, "{}" if vector is not None else name, after)), "token": _hash(vector)}
            folder = Folder(done.folder / place / folders[name], {**settings, **said}, made_with)
            missing = folder.missing(images)
            withheld = sum(folder.sizes.get(folder.name(i), 0) is None for i in range(images))
            done.withheld += withheld
            done.present += images - len(missing) - withheld
            jobs.append(_Job(folder, prompt, vector, name, shift, missing))
    return jobs


def _make(pipeline, job, numbers, cfg, done):
    Image, files, size = needed("PIL.Image"), {}, cfg["size"]
    seeds = [address(cfg["seed"], job.name, job.shift, i) for i in numbers]
    for i, rgb in zip(numbers, _diffusion.draw(pipeline, job.prompt, job.vector, seeds, cfg)):
        files[i] = None
        if rgb is not None:
            image = Image.fromarray((rgb * 255).round().clip(0, 255).astype(np.uint8))
            if size is not None and image.size != (size, size):
                image = image.resize((size, size), Image.BICUBIC)
            file = io.BytesIO()
            image.save(file, "PNG")
            files[i] = file.getvalue()
    job.folder.keep(files)
    withheld = sum(data is None for data in files.values())
    done.made += len(files) - withheld
    done.withheld += withheld


def _classes(classes):
    """{class name: (item, vector tensor or None)}"""
    items = [classes] if isinstance(classes, (str, Token)) else list(classes) if np.iterable(classes) else []
    if not items:
        raise InputError("classes is no Token, no name of a class, and no list of them")
    named = {}
    for item in items:
        name = item.class_name if isinstance(item, Token) else check_name(item, "class")
        if name in named:
            raise InputError(f"the class {name!r} is given twice; use a source for each")
        named[name] = item, None
    for name, (item, _) in named.items():
        if isinstance(item, Token):
            named[name] = item, needed("torch").from_numpy(item.vector)
    return named


def _folders(classes, given):
    """{class name: folder}"""
    if not hasattr(given, "items") or not all(name in classes for name in given):
        raise InputError("folders is no {class: folder} of the classes that are generated")
    folders = {name: check_name(given.get(name, folder_of(name)), "folder") for name in classes}
    if len(set(folders.values())) != len(folders):
        raise InputError("two classes have one folder; ' ' and '_' are the same there, unless `folders` says otherwise")
    return folders


def _check_generates(pipeline, classes, resolution):
    if not callable(pipeline) or not hasattr(pipeline, "components"):
        raise InputError(f"pipeline is a {type(pipeline).__name__}; give a text-to-image pipeline of diffusers")
    for name, (item, vector) in classes.items():
        if vector is None:
            continue
        _diffusion.check_reads_tokens(pipeline)
        width = _diffusion.width_of(pipeline.text_encoder)
        if vector.numel() != width:
            raise InputError(f"the token of {name!r} has {vector.numel()} numbers, but this pipeline's text encoder takes "
                             f"{width}: it was trained for another model")
    if resolution is not None and _diffusion.reads_tokens(pipeline) is None:
        _resolution(pipeline, resolution)


def _settings_of(pipeline):
    scheduler = getattr(pipeline, "scheduler", None)
    config = {k: v for k, v in dict(getattr(scheduler, "config", {})).items() if k[0] != "_"}
    return {"pipeline": type(pipeline).__name__, "weights": _diffusion.fingerprint(pipeline),
            "scheduler": type(scheduler).__name__, "schedule": config}


def _made_with(pipeline):
    torch, diffusers = needed("torch", "diffusers")
    return {"model": str(pipeline.config.get("_name_or_path", "")), "torch": torch.__version__,
            "diffusers": diffusers.__version__}


def _hash(vector):
    return None if vector is None else hashlib.sha256(vector.numpy().tobytes()).hexdigest()[:16]
