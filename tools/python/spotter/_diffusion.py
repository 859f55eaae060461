"""The user's Stable Diffusion pipeline: prompts with a vector in the place of a word, and the training of such a vector. No
weight of the pipeline changes."""
import contextlib
import hashlib

from ._library import InputError, SpotterError
from ._pictures import address

PARTS = ("tokenizer", "text_encoder", "vae", "unet", "scheduler")


class Missing(SpotterError, ImportError):
    """A package that only spotter.shifts needs is not installed."""


def needed(*packages):
    """The modules of these names."""
    import importlib
    try:
        modules = [importlib.import_module(name) for name in packages]
    except ImportError as e:
        raise Missing(f"spotter.shifts generates with diffusers, and {getattr(e, 'name', None) or 'a package'} does not load "
                      f"({e}): pip install torch diffusers transformers safetensors pillow") from None
    return modules[0] if len(modules) == 1 else modules


def reads_tokens(pipeline):
    """None for Stable Diffusion 1 and 2, which have one text encoder; else the reason why a token cannot be used."""
    for name in PARTS:
        if getattr(pipeline, name, None) is None:
            return f"it has no {name}"
    if getattr(pipeline, "text_encoder_2", None) is not None:
        return "it has two text encoders"
    if pipeline.unet.config.in_channels != pipeline.vae.config.latent_channels:
        return (f"its UNet takes {pipeline.unet.config.in_channels} channels, but its VAE makes "
                f"{pipeline.vae.config.latent_channels}, as for inpainting")
    return None


def check_reads_tokens(pipeline):
    reason = reads_tokens(pipeline)
    if reason:
        raise InputError(f"a token needs a text-to-image pipeline of Stable Diffusion 1 or 2; this is a "
                         f"{type(pipeline).__name__}, and {reason}")


def resolution_of(pipeline):
    """Pixels a side that the pipeline was made for: 768 for Stable Diffusion 2, 512 for 1 and 2 base."""
    side = pipeline.unet.config.sample_size
    return side and side * 2 ** (len(pipeline.vae.config.block_out_channels) - 1)


def width_of(text_encoder):
    return text_encoder.get_input_embeddings().weight.shape[1]


def fingerprint(pipeline):
    """A hash of the first numbers of every weight that shapes a picture: another model or another precision changes it."""
    torch, h = needed("torch"), hashlib.sha256()
    for name, part in sorted(pipeline.components.items()):
        if not isinstance(part, torch.nn.Module) or name == "safety_checker":
            continue
        for key, value in part.state_dict().items():
            if torch.is_tensor(value):
                h.update(f"{name}.{key} {tuple(value.shape)} {value.dtype}\n".encode())
                if value.device.type != "meta":        # there, accelerate keeps the numbers elsewhere
                    first = value[(0,) * max(value.dim() - 1, 0)].reshape(-1)[:64] if value.numel() else value.reshape(-1)
                    h.update(first.double().cpu().numpy().tobytes())
    return h.hexdigest()[:16]


def words(tokenizer, text):
    return list(tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])


class Prompts:
    """Ids of prompts as the pipeline would make them, (n, length), and where each has the place for the vector, (n); -1: none.
    CLIP's tokenizer never joins letters across a space, so the words around the place can be taken alone."""

    def __init__(self, pipeline):
        self.tokenizer, self.encoder = pipeline.tokenizer, pipeline.text_encoder
        self.length = min(self.tokenizer.model_max_length, self.encoder.config.max_position_embeddings)

    def ids(self, prompts):
        """prompts: each a text, or (before, after)."""
        torch, t, rows, places = needed("torch"), self.tokenizer, [], []
        for prompt in prompts:
            if isinstance(prompt, str):
                row, place = words(t, prompt), -1
            else:
                before, after = (words(t, part) for part in prompt)
                row, place = before + [0] + after, 1 + len(before)
            if len(row) + 2 > self.length:
                said = prompt if isinstance(prompt, str) else "{}".join(prompt)
                raise InputError(f"the prompt {said[:200]!r} takes {len(row)} tokens; the pipeline reads {self.length - 2}")
            row = [t.bos_token_id, *row, t.eos_token_id]
            rows.append(row + [t.pad_token_id] * (self.length - len(row)))
            places.append(place)
        return torch.tensor(rows), torch.tensor(places)

    def encode(self, prompts, vector=None):
        """(n, length, width): the text encoder's states, with the vector in its places."""
        torch = needed("torch")
        ids, places = self.ids(prompts)
        device = self.device
        rows = (places >= 0).nonzero()[:, 0]

        def put(_module, _args, embedded):
            embedded = embedded.clone()
            embedded[rows.to(embedded.device), places[rows].to(embedded.device)] = vector.to(embedded)
            return embedded

        mask = None
        if getattr(self.encoder.config, "use_attention_mask", None):
            mask = (ids != self.tokenizer.pad_token_id).to(device)
        hook = self.encoder.get_input_embeddings().register_forward_hook(put) if len(rows) else None
        try:
            return self.encoder(ids.to(device), attention_mask=mask)[0]
        finally:
            if hook:
                hook.remove()

    @property
    def device(self):
        hook = getattr(self.encoder, "_hf_hook", None)             # accelerate, which moves the encoder when it is called
        at = getattr(hook, "execution_device", None)
        return at if at is not None else self.encoder.get_input_embeddings().weight.device


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


def draw(pipeline, prompt, vector, seeds, cfg):
    """Pictures, (side, side, 3) from 0 to 1, one of each seed; None for one that the safety checker withheld. prompt: words, or
    (before, after) around the vector."""
    torch, numpy = needed("torch", "numpy")
    wish = {"num_inference_steps": cfg["steps"], "guidance_scale": cfg["guidance"], "output_type": "np",
            "generator": [torch.Generator().manual_seed(seed) for seed in seeds]}   # CPU: the same noise on any device
    if cfg["resolution"]:
        wish["height"] = wish["width"] = cfg["resolution"]
    negative = cfg["negative_prompt"]
    if reads_tokens(pipeline) is None:
        texts = Prompts(pipeline)
        with torch.no_grad():
            wish["prompt_embeds"] = texts.encode([prompt] * len(seeds), vector)
            if cfg["guidance"] > 1:
                wish["negative_prompt_embeds"] = texts.encode([negative] * len(seeds))
    else:
        wish["prompt"] = [prompt] * len(seeds)
        if negative:
            wish["negative_prompt"] = [negative] * len(seeds)
    with quiet(pipeline):
        made = pipeline(**wish)
    withheld = getattr(made, "nsfw_content_detected", None) or [False] * len(seeds)
    pictures = []
    for k, (rgb, flagged) in enumerate(zip(made.images, withheld)):
        if not flagged and not numpy.isfinite(rgb).all():
            raise SpotterError(f"the picture of seed {seeds[k]} has pixels that are no numbers; use a pipeline in float32 or "
                               "bfloat16")
        pictures.append(None if flagged else rgb)
    if len(pictures) != len(seeds):
        raise SpotterError(f"the pipeline made {len(pictures)} pictures of {len(seeds)}")
    return pictures


@contextlib.contextmanager
def quiet(pipeline):
    """Without the bar of each batch: there is one for the whole."""
    lacks = object()
    own = getattr(pipeline, "_progress_bar_config", lacks)
    pipeline.set_progress_bar_config(disable=True)
    try:
        yield
    finally:
        if own is lacks:
            del pipeline._progress_bar_config
        else:
            pipeline._progress_bar_config = own
