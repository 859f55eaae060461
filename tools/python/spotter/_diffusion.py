"""The user's pipeline: its kind, its weights' fingerprint, prompts with a vector in the place of a word, pictures."""
import contextlib
import hashlib

from ._library import InputError, SpotterError

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
