"""test_shifts_diffusers.py: spotter.shifts on a Stable Diffusion of random weights, run by test_shifts_diffusers.sh in an empty
folder. diffusers itself is the peer: its prompts, its textual inversion files, and plain autograd on a row of the embedding."""
import copy
import hashlib
import json
import time
from pathlib import Path

import diffusers
import numpy as np
import safetensors.numpy
import torch
import transformers
from diffusers import AutoencoderKL, DDIMScheduler, EulerDiscreteScheduler, StableDiffusionPipeline, UNet2DConditionModel
from PIL import Image
from transformers import CLIPTextConfig, CLIPTextModel, CLIPTokenizer

import spotter
from python_checks import raises
from spotter import _diffusion, _inversion, shifts

torch.set_num_threads(1)                               # the networks are tiny
WORDS = ["a", "an", "the", "photo", "picture", "image", "of", "in", "snow", "fox", "king", "snake", "one"]


def tokenizer():
    """CLIP's byte pairs with merges that make WORDS whole."""
    printing = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [b for b in range(256) if b not in printing]
    letters = [chr(b) for b in printing] + [chr(256 + i) for i in range(len(others))]
    merges = []
    for word in WORDS:
        parts = [*word[:-1], word[-1] + "</w>"]
        while len(parts) > 1:
            pair = (parts[0], parts[1])
            merges += [pair] if pair not in merges else []
            parts[:2] = ["".join(pair)]
    names = [*letters, *(x + "</w>" for x in letters), *map("".join, merges), "<|startoftext|>", "<|endoftext|>"]
    folder = Path("tokenizer")
    folder.mkdir(exist_ok=True)
    (folder / "vocab.json").write_text(json.dumps({name: i for i, name in enumerate(names)}))
    (folder / "merges.txt").write_text("#version: 0.2\n" + "\n".join(map(" ".join, merges)) + "\n")
    end = "<|endoftext|>"
    (folder / "tokenizer_config.json").write_text(json.dumps(
        {"tokenizer_class": "CLIPTokenizer", "model_max_length": 20, "bos_token": "<|startoftext|>", "eos_token": end,
         "unk_token": end, "pad_token": end}))
    return CLIPTokenizer.from_pretrained(str(folder)), len(names)


def pipeline(prediction="epsilon", scheduler=EulerDiscreteScheduler, kind=StableDiffusionPipeline, channels=4):
    torch.manual_seed(0)
    t, count = tokenizer()
    text = CLIPTextModel(CLIPTextConfig(
        vocab_size=count, hidden_size=16, intermediate_size=32, num_hidden_layers=2, num_attention_heads=2, projection_dim=16,
        max_position_embeddings=20, bos_token_id=count - 2, eos_token_id=count - 1, pad_token_id=count - 1))
    for p in text.get_input_embeddings().parameters():
        p.data.mul_(20)                                # as far from each other as in a trained encoder
    vae = AutoencoderKL(block_out_channels=(8, 16), norm_num_groups=4, layers_per_block=1, latent_channels=4, sample_size=16,
                        down_block_types=("DownEncoderBlock2D",) * 2, up_block_types=("UpDecoderBlock2D",) * 2,
                        scaling_factor=0.31)
    unet = UNet2DConditionModel(
        sample_size=8, in_channels=channels, out_channels=4, layers_per_block=1, block_out_channels=(8, 16), norm_num_groups=4,
        down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"), up_block_types=("UpBlock2D", "CrossAttnUpBlock2D"),
        cross_attention_dim=16, attention_head_dim=4)
    noise = scheduler(beta_start=0.00085, beta_end=0.012, beta_schedule="scaled_linear", prediction_type=prediction,
                      steps_offset=1)
    made = kind(vae=vae, text_encoder=text, tokenizer=t, unet=unet, scheduler=noise, safety_checker=None,
                feature_extractor=None, requires_safety_checker=False)
    for part in (vae, text, unet):
        part.eval()
    unet.requires_grad_(True)
    unet.mid_block.train()                             # an odd mixture of flags, to be found again
    return made


def state(pipe):
    """Everything of a pipeline that training might change."""
    h = hashlib.sha256()
    for name in ("text_encoder", "vae", "unet"):
        part = getattr(pipe, name)
        for key, value in part.state_dict().items():
            h.update(key.encode() + value.numpy().tobytes())
        h.update(repr([(n, p.requires_grad, p.grad is None) for n, p in part.named_parameters()]).encode())
        h.update(repr([(n, m.training, len(m._forward_hooks)) for n, m in part.named_modules()]).encode())
    return h.hexdigest(), len(pipe.tokenizer), dict(pipe.scheduler.config), type(pipe.scheduler)


def photos(n=3):
    rng = np.random.default_rng(4)
    return [Image.fromarray(rng.integers(0, 256, (20, 17 + 9 * k, 3), dtype=np.uint8)) for k in range(n)]


def pngs(root):
    return {str(p.relative_to(root)): p.read_bytes() for p in Path(root).rglob("*.png")}


# --- Textual inversion

def test_the_vector_alone_is_trained():
    for prediction in ("epsilon", "v_prediction"):
        pipe = pipeline(prediction)
        before = state(pipe)
        start = _inversion.mean_vector(pipe, "king snake")
        table = pipe.text_encoder.get_input_embeddings().weight
        ids = pipe.tokenizer("king snake")["input_ids"][1:-1]
        assert len(ids) == 2 and torch.equal(start, (table[ids[0]] + table[ids[1]]).detach() / 2)
        told = []
        token = shifts.textual_inversion(pipe, photos(2), "king snake", steps=3, lr=0.1, progress=lambda *a: told.append(a))
        assert state(pipe) == before, prediction
        assert [t[:2] for t in told] == [(1, 3), (2, 3), (3, 3)] and token.settings["steps"] == 3
        assert abs(np.linalg.norm(token.vector) / float(start.norm()) - 1) < 1e-6
        assert np.abs(token.vector - start.numpy()).max() > 0.05
        again = shifts.textual_inversion(pipe, photos(2), "king snake", steps=3, lr=0.1)
        assert (again.vector == token.vector).all()
        other = shifts.textual_inversion(pipe, photos(2), "king snake", steps=3, lr=0.1, seed=1)
        assert (other.vector != token.vector).any()
        free = shifts.textual_inversion(pipe, photos(2), "king snake", steps=3, lr=0.1, pin_norm=False, init_words="fox")
        assert abs(np.linalg.norm(free.vector) / float(_inversion.mean_vector(pipe, "fox").norm()) - 1) > 1e-3
        with torch.no_grad(), torch.inference_mode():
            assert (shifts.textual_inversion(pipe, photos(2), "king snake", steps=3, lr=0.1).vector == token.vector).all()


def test_steps_agree_with_autograd_on_a_row_of_the_table():
    """The peer adds a word as diffusers' users do, differentiates the whole table, and updates by the formula of AdamW."""
    for prediction in ("epsilon", "v_prediction"):
        pipe = pipeline(prediction)
        cfg = {"init_words": "fox", "lr": 0.02, "seed": 5, "batch": 2, "flip": 0.5, "pin_norm": False,
               "templates": [("a photo of a ", ""), ("the ", " in snow"), ("", "")]}
        pictures = _inversion.Photos(photos(3), 16)
        peer = copy.deepcopy(pipe)
        peer.tokenizer.add_tokens("<new>")
        peer.text_encoder.resize_token_embeddings(len(peer.tokenizer))
        for part in (peer.vae, peer.text_encoder, peer.unet):
            part.eval()
        new = peer.tokenizer.convert_tokens_to_ids("<new>")
        table = peer.text_encoder.get_input_embeddings().weight
        bars = torch.cumprod(1 - torch.linspace(0.00085 ** 0.5, 0.012 ** 0.5, 1000) ** 2, 0)
        with _inversion.frozen(pipe):
            ours = _inversion.Inversion(pipe, pictures, "fox", cfg)
            vector, m, v = ours.raw.detach().clone(), 0, 0
            for step in range(4):
                pixels, prompts, draw = ours.batch(step)
                table.data[new] = vector
                latents = peer.vae.encode(pixels).latent_dist.sample(generator=draw).detach() * 0.31
                noise = torch.randn(latents.shape, generator=draw)
                t = torch.randint(1000, (2,), generator=draw)
                a, b = (bars[t] ** 0.5)[:, None, None, None], ((1 - bars[t]) ** 0.5)[:, None, None, None]
                texts = peer.tokenizer(["<new>".join(p) for p in prompts], padding="max_length", return_tensors="pt").input_ids
                assert texts.shape == (2, 20) and (texts == new).sum() == 2
                said = peer.unet(a * latents + b * noise, t, peer.text_encoder(texts)[0]).sample
                loss = ((said - (noise if prediction == "epsilon" else a * noise - b * latents)) ** 2).mean()
                g = torch.autograd.grad(loss, table)[0][new]
                m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
                vector = vector * (1 - 0.02 * 0.01)
                vector -= 0.02 * (m / (1 - 0.9 ** (step + 1))) / ((v / (1 - 0.999 ** (step + 1))) ** 0.5 + 1e-8)
                assert abs(ours.step() / loss.item() - 1) < 1e-5
                assert (ours.raw - vector).abs().max() < 1e-4, (prediction, step, (ours.raw - vector).abs().max())
        assert g.abs().max() > 0


def test_pictures_are_cut_and_mirrored():
    wide = np.zeros((10, 30, 3), np.uint8)
    wide[:, 10:20] = 200
    wide[:, 10:15, 0] = 100
    cut = _inversion.Photos([wide], 10)
    assert (cut.pixels(0, False) == wide[:, 10:20]).all() and (cut.pixels(0, True) == wide[:, 19:9:-1]).all()
    photo = photos(1)[0]
    peer = photo.crop((0, 1, 17, 18)).resize((16, 16), Image.BICUBIC)
    assert (_inversion.Photos([photo], 16).pixels(0, False) == np.asarray(peer)).all()
    cfg = {"init_words": "fox", "seed": 0, "batch": 1, "flip": 0.5, "templates": [("a ", ""), ("the ", "")], "lr": 1,
           "pin_norm": True}
    pipe = pipeline()
    one = _inversion.Inversion(pipe, _inversion.Photos(photos(3), 16), "fox", cfg)
    assert sorted(one._picture(k) for k in range(3, 6)) == [0, 1, 2]           # an epoch takes each once
    assert len({tuple(one._picture(3 * e + k) for k in range(3)) for e in range(20)}) > 3
    pixels = one.batch(0)[0][0].permute(1, 2, 0).numpy()                       # 0..255 as -1..1, straight or mirrored
    straight = one.pictures.pixels(one._picture(0), False) / 127.5 - 1
    assert min(np.abs(pixels - straight).max(), np.abs(pixels - straight[:, ::-1]).max()) < 1e-6
    drawn = [one.batch(s)[1][0] for s in range(40)]
    assert 8 < drawn.count(("a ", "")) < 32


def test_a_stopped_training_goes_on_to_the_same_bits():
    pipe = pipeline("v_prediction")
    how = {"steps": 5, "lr": 0.05, "checkpoint": "fox.part.safetensors", "every": 2}
    whole = shifts.textual_inversion(pipe, photos(), "fox", steps=5, lr=0.05)
    before = state(pipe)

    def stop(done, *_):
        if done == 3:
            raise KeyboardInterrupt

    raises("stopped after 3 of 5 steps", lambda: shifts.textual_inversion(pipe, photos(), "fox", progress=stop, **how),
           KeyboardInterrupt)
    assert state(pipe) == before
    halfway = copy.deepcopy(Path("fox.part.safetensors").read_bytes())
    own = torch.optim.AdamW.step

    def interrupted(self, *args):
        own(self, *args)
        raise KeyboardInterrupt                        # after the vector has changed, before the step counts

    torch.optim.AdamW.step = interrupted
    try:
        raises("stopped after 3 of 5", lambda: shifts.textual_inversion(pipe, photos(), "fox", **how), KeyboardInterrupt)
    finally:
        torch.optim.AdamW.step = own
    assert Path("fox.part.safetensors").read_bytes() == halfway
    seen = []
    rest = shifts.textual_inversion(pipe, photos(), "fox", progress=lambda done, *_: seen.append(done), **how)
    assert seen == [4, 5] and (rest.vector == whole.vector).all()
    assert (shifts.textual_inversion(pipe, photos(), "fox", progress=stop, **how).vector == whole.vector).all()
    raises("other settings: lr was", lambda: shifts.textual_inversion(pipe, photos(), "fox", **{**how, "lr": 0.1}))
    raises("other settings: pictures was", lambda: shifts.textual_inversion(pipe, photos(2), "fox", **how))
    raises("other settings: weights was", lambda: shifts.textual_inversion(pipe.to(torch.bfloat16), photos(), "fox", **how))
    shifts.save_tokens("token.safetensors", whole)
    raises("no checkpoint", lambda: shifts.textual_inversion(pipe, photos(), "fox", checkpoint="token.safetensors"))


def test_half_precision():
    """The first gradient points where float32's does; a token trained in half precision can be used."""
    cfg = {"init_words": "fox", "seed": 0, "batch": 2, "flip": 0, "templates": [("a ", "")], "lr": 0.05, "pin_norm": True}
    cut = _inversion.Photos(photos(2), 16)
    gradient = {}
    for kind in (torch.float32, torch.bfloat16, torch.float16) if halves_on_cpu() else (torch.float32, torch.bfloat16):
        pipe = pipeline("v_prediction").to(kind)
        before = [value.clone() for value in pipe.unet.state_dict().values()]
        with _inversion.frozen(pipe):
            one = _inversion.Inversion(pipe, cut, "fox", cfg)
            gradient[kind] = torch.autograd.grad(one.loss(0) * one.scale, one.raw)[0] / one.scale
        token = shifts.textual_inversion(pipe, photos(2), "fox", steps=3, lr=0.05)
        assert all(torch.equal(a, b) for a, b in zip(before, pipe.unet.state_dict().values()))
        assert token.vector.dtype == np.float32 and shifts.generate(pipe, token, {}, f"{kind}", images=1, steps=2).made == 1
    for kind, g in gradient.items():
        alike = torch.nn.functional.cosine_similarity(g, gradient[torch.float32], 0)
        old = kind is torch.bfloat16 and torch.__version__ < "2"               # its sums are of bfloat16, too: 0.906
        assert alike > (0.85 if old else 0.999), (kind, alike)


def halves_on_cpu():
    try:
        torch.nn.functional.conv2d(torch.ones(1, 1, 3, 3).half(), torch.ones(1, 1, 3, 3).half())
        return True
    except RuntimeError:
        return False


# --- Tokens

def test_tokens_are_written_and_read():
    one = shifts.Token("king snake", np.arange(16, dtype=np.float32) / 7, {"steps": 3})
    two = shifts.Token("fox", np.ones(16))
    shifts.save_tokens("both.safetensors", [one, two])
    back = shifts.load_tokens("both.safetensors")
    assert [t.class_name for t in back] == ["fox", "king snake"] and back[1].settings == {"steps": 3}
    assert all((a.vector == b.vector).all() for a, b in zip(back, (two, one)))
    safetensors.numpy.save_file({"<newt>": np.ones((1, 16), np.float16)}, "foreign.safetensors")
    assert repr(shifts.load_tokens("foreign.safetensors")) == "[Token('newt', 16 numbers, ? steps)]"
    Path("token.bin").write_bytes(b"\x80\x02.")
    raises("pickle", lambda: shifts.load_tokens("token.bin"))
    raises("cannot read none.safetensors", lambda: shifts.load_tokens("none.safetensors"))
    Path("cut.safetensors").write_bytes(Path("both.safetensors").read_bytes()[:-5])
    raises("cannot read cut.safetensors", lambda: shifts.load_tokens("cut.safetensors"))
    for name, bad in (("shape", np.ones((2, 16), np.float32)), ("shape", np.ones(16, np.int32)),
                      ("finite", np.full(16, np.nan))):
        safetensors.numpy.save_file({"<newt>": bad}, "bad.safetensors")
        raises(name, lambda: shifts.load_tokens("bad.safetensors"))
    safetensors.numpy.save_file({"<newt>": np.ones(16)}, "bad.safetensors", {"spotter.tokens": '{"<newt>": 3}'})
    raises("damaged", lambda: shifts.load_tokens("bad.safetensors"))
    raises("folder", lambda: shifts.Token("../fox", np.ones(4)))
    raises(".safetensors", lambda: shifts.save_tokens("tokens.bin", one))
    raises("one name", lambda: shifts.save_tokens("twice.safetensors", [one, one]))


def test_diffusers_reads_a_token_and_agrees():
    pipe = pipeline()
    token = shifts.textual_inversion(pipe, photos(2), "fox", steps=3, lr=0.1)
    shifts.save_tokens("fox.safetensors", token)
    peer = copy.deepcopy(pipe)
    peer.load_textual_inversion("fox.safetensors")
    with torch.no_grad():
        for before, after in (("a photo of a ", " in the snow"), ("", ""), ("a x-", "-y, 2z")):
            theirs = peer.encode_prompt(before + token.name + after, "cpu", 1, False)[0]
            ours = _diffusion.Prompts(pipe).encode([(before, after)], torch.from_numpy(token.vector))
            assert torch.equal(ours, theirs), (before, after)


# --- Pictures

PROMPTS = {"in the snow": "a photo of a {} in the snow"}


def test_pictures_are_those_of_the_pipeline():
    """A token with the vector of `fox` is the word fox; and both are what a user would get from the pipeline alone."""
    pipe = pipeline("v_prediction")
    token = shifts.Token("fox", _inversion.mean_vector(pipe, "fox").numpy())
    how = {"images": 2, "steps": 3, "size": 24, "seed": 7, "batch": 1}
    made = shifts.generate(pipe, [token], PROMPTS, "out", source="token", **how)
    assert (made.made, made.present, made.withheld) == (4, 0, 0)
    shifts.generate(pipe, "fox", PROMPTS, "out", source="name", **how)
    by_token, by_name = pngs("out/token"), pngs("out/name")
    assert sorted(by_token) == [f"{s}/fox/0000{i}.png" for s in ("base", "in_the_snow") for i in range(2)]
    assert by_token == by_name and len(set(by_token.values())) == 4
    pipe.set_progress_bar_config(disable=True)
    seed = spotter._pictures.address(7, "fox", "in the snow", 1)
    alone = pipe("a photo of a fox in the snow", num_inference_steps=3, guidance_scale=7.5,
                 generator=torch.Generator().manual_seed(seed)).images[0].resize((24, 24), Image.BICUBIC)
    assert (np.asarray(Image.open("out/name/in_the_snow/fox/00001.png")) == np.asarray(alone)).all()
    assert pipe._progress_bar_config == {"disable": True}
    shifts.generate(pipe, token, {"base": "a {}"}, "out", source="away", negative_prompt="king snake", guidance=3, **how)
    seed = spotter._pictures.address(7, "fox", "base", 0)
    alone = pipe("a fox", negative_prompt="king snake", num_inference_steps=3, guidance_scale=3,
                 generator=torch.Generator().manual_seed(seed)).images[0].resize((24, 24), Image.BICUBIC)
    assert (np.asarray(Image.open("out/away/base/fox/00000.png")) == np.asarray(alone)).all()
    pipe.text_encoder_2 = pipe.text_encoder            # now it is no pipeline for tokens, and is asked in words
    shifts.generate(pipe, "fox", PROMPTS, "out", source="words", folders={"fox": "n02119022"}, **how)
    assert {name.replace("n02119022", "fox"): data for name, data in pngs("out/words").items()} == by_name
    del pipe.text_encoder_2
    batched = shifts.generate(pipe, [token, "king snake"], PROMPTS, "out", source="batched", **{**how, "batch": 2})
    assert batched.made == 8
    for name, data in by_token.items():
        a, b = (np.asarray(Image.open(Path("out", s, name))).astype(int) for s in ("token", "batched"))
        assert np.abs(a - b).max() <= 1, name


def test_nothing_is_made_twice_or_overwritten():
    pipe, calls = pipeline(), []
    own = type(pipe).__call__

    class Counted(StableDiffusionPipeline):
        def __call__(self, *args, **more):
            calls.append(len(more["generator"]))
            return own(self, *args, **more)

    pipe.__class__ = Counted
    how = {"steps": 2, "size": 16, "batch": 2}
    go = lambda images, **more: shifts.generate(pipe, ["fox"], PROMPTS, "kept", images=images, **{**how, **more})

    def stop(done, total, words):
        assert total == 6 and words.startswith(("base, fox", "in the snow, fox"))
        if done == 3:
            raise KeyboardInterrupt

    raises("stopped after 3 new", lambda: go(3, progress=stop), KeyboardInterrupt)
    assert len(pngs("kept")) == 3 and calls == [2, 1]
    first = pngs("kept")
    rest = go(3)
    assert (rest.made, rest.present) == (3, 3) and calls == [2, 1, 2, 1]
    assert go(3).made == 0 and go(2).made == 0 and len(calls) == 4
    assert go(4).made == 2 and calls[4:] == [1, 1] and len(pngs("kept")) == 8
    assert first.items() <= pngs("kept").items()
    Path("kept/base/fox/00002.png").unlink()
    all_of = pngs("kept")
    assert go(4).made == 1 and all_of.items() <= pngs("kept").items() and len(calls) == 7
    for key, value in (("steps", 3), ("guidance", 5.0), ("seed", 1), ("size", 12), ("negative_prompt", "snow")):
        raises(f"other settings: {key} was", lambda: go(4, **{key: value}))
    raises("other settings: prompt was", lambda: shifts.generate(pipe, ["fox"], {"in the snow": "a {} in snow"}, "kept",
                                                                     images=4, **how))
    pipe.scheduler = DDIMScheduler.from_config(pipe.scheduler.config)
    raises("other settings: schedule was", lambda: go(4))
    pipe.scheduler = EulerDiscreteScheduler.from_config(pipe.scheduler.config)
    weight = pipe.unet.conv_out.weight.data.clone()
    pipe.unet.conv_out.weight.data[0] += 1
    raises("other settings: weights was", lambda: go(4))
    pipe.unet.conv_out.weight.data.copy_(weight)
    there = pngs("kept")
    Path("kept/base/fox/00004.png").write_bytes(b"the user's own")
    raises("00004.png was not made here", lambda: go(5))
    Path("kept/base/fox/00001.png").write_bytes(b"changed")
    raises("00001.png was not made here, or has changed", lambda: go(2))
    assert Path("kept/base/fox/00001.png").read_bytes() == b"changed"
    assert Path("kept/base/fox/00004.png").read_bytes() == b"the user's own"
    for text in ("", "[]", "{}", '{"spotter.shifts": 1, "settings": {}, "pictures": {"00000.png": "x"}}', "[" * 100000):
        Path("kept/base/fox/spotter.json").write_text(text)
        raises("no list of pictures", lambda: go(5))
    assert len(calls) == 7 and len(there) == 8


def test_withheld_pictures_are_counted_and_not_tried_again():
    class Careful(StableDiffusionPipeline):
        def run_safety_checker(self, image, device, dtype):
            return image * 0, [True] + [False] * (len(image) - 1)

    pipe = pipeline(kind=Careful)
    made = shifts.generate(pipe, "fox", {}, "safe", images=2, steps=2, batch=2)
    assert (made.made, made.present, made.withheld) == (1, 0, 1) and list(pngs("safe")) == ["base/fox/00001.png"]
    made = shifts.generate(pipe, "fox", {}, "safe", images=2, steps=2, batch=2)
    assert (made.made, made.present, made.withheld) == (0, 1, 1)


def test_what_is_wrong_is_said():
    pipe, fox = pipeline(), "fox"
    learn = lambda p=pipe, images=None, **more: shifts.textual_inversion(p, images or photos(2), fox, **{"steps": 1, **more})
    make = lambda p=pipe, classes=fox, prompts=PROMPTS, out="wrong", **more: shifts.generate(
        p, classes, prompts, out, images=1, **{"steps": 2, "size": 16, **more})
    raises("has no tokenizer", lambda: learn(None))
    two = pipeline()
    two.text_encoder_2 = two.text_encoder
    raises("two text encoders", lambda: learn(two))
    raises("two text encoders", lambda: make(two, shifts.Token(fox, np.ones(16))))
    raises("inpainting", lambda: learn(pipeline(channels=9)))
    raises("'sample'", lambda: learn(pipeline("sample")))
    raises("multiple of 4", lambda: learn(resolution=18))
    raises("images has no picture", lambda: learn(images=5))
    Path("empty").mkdir()
    raises("images has no picture", lambda: learn(images="empty"))
    raises("cannot list nowhere", lambda: learn(images="nowhere"))
    Path("empty/broken.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    raises("broken.png", lambda: learn(images="empty"))
    raises("shape (4, 4)", lambda: learn(images=[np.zeros((4, 4), np.uint8)]))
    raises("NoneType", lambda: learn(images=[None]))
    raises("one {}", lambda: learn(templates=["a photo of {} and {}"]))
    raises("no list", lambda: learn(templates="a {}"))
    raises("takes 30 tokens; the pipeline reads 18", lambda: learn(templates=["a " * 29 + "{}"]))
    raises("no tokens", lambda: learn(init_words=" "))
    raises("init_words is 3", lambda: learn(init_words=3))
    raises("steps is 0", lambda: learn(steps=0))
    raises("flip is 2", lambda: learn(flip=2))
    raises("lr is nan", lambda: learn(lr=float("nan")))
    raises("no folder", lambda: learn(checkpoint="nowhere/part.safetensors"))
    broken = pipeline()
    broken.unet.conv_out.weight.data.fill_(float("nan"))
    raises("step 1 of 'fox'", lambda: learn(broken), spotter.SpotterError)
    raises("pixels that are no numbers", lambda: make(broken), spotter.SpotterError)
    raises("has 3 numbers, but this pipeline's text encoder takes 16", lambda: make(classes=shifts.Token(fox, np.ones(3))))
    raises("takes 24 tokens", lambda: make(prompts={"long": "a " * 23 + "{}"}))
    raises("NoneType", lambda: make(None))
    raises("given twice", lambda: make(classes=[fox, shifts.Token(fox, np.ones(16))]))
    raises("classes is no", lambda: make(classes=[]))
    raises("two classes have one folder", lambda: make(classes=["king snake", "king_snake"]))
    raises("folders is no", lambda: make(folders={"cat": "n02"}))
    raises("folder '../fox'", lambda: make(folders={fox: "../fox"}))
    raises("multiple of 4", lambda: make(resolution=18))
    Path("file").write_text("")
    raises("cannot read file", lambda: make(out="file"))
    assert not pngs(".").keys() & {"wrong/base/fox/00000.png"}


print(f"torch {torch.__version__}, diffusers {diffusers.__version__}, transformers {transformers.__version__}")
for name, test in list(globals().items()):
    if name.startswith("test_"):
        began = time.time()
        test()
        print(f"ok {name} {time.time() - began:.1f} s", flush=True)
