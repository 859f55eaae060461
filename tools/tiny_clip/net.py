"""CLIP in PyTorch with Hugging Face's tensor names, as small as wanted; saving it for Spotter and transformers."""
import json
import math

import torch
from torch import nn
from torch.nn import functional as F

MEAN = torch.tensor([0.48145466, 0.4578275, 0.40821073])
STD = torch.tensor([0.26862954, 0.26130258, 0.27577711])


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.q_proj, self.k_proj = nn.Linear(width, width), nn.Linear(width, width)
        self.v_proj, self.out_proj = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x, causal):
        n, t, w = x.shape
        q, k, v = (p(x).view(n, t, self.heads, -1).transpose(1, 2) for p in (self.q_proj, self.k_proj, self.v_proj))
        x = F.scaled_dot_product_attention(q, k, v, is_causal=causal)
        return self.out_proj(x.transpose(1, 2).reshape(n, t, w))


class Mlp(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        x = self.fc1(x)
        return self.fc2(x * torch.sigmoid(1.702 * x))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.self_attn = Attention(width, heads)
        self.layer_norm1, self.layer_norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.mlp = Mlp(width)

    def forward(self, x, causal):
        x = x + self.self_attn(self.layer_norm1(x), causal)
        return x + self.mlp(self.layer_norm2(x))


class Encoder(nn.Module):
    def __init__(self, width, layers, heads):
        super().__init__()
        self.layers = nn.ModuleList(Block(width, heads) for _ in range(layers))

    def forward(self, x, causal):
        for layer in self.layers:
            x = layer(x, causal)
        return x


class ImageEmbeddings(nn.Module):
    def __init__(self, side, patch, width):
        super().__init__()
        self.class_embedding = nn.Parameter(0.02 * torch.randn(width))
        self.patch_embedding = nn.Conv2d(3, width, patch, patch, bias=False)
        self.position_embedding = nn.Embedding((side // patch) ** 2 + 1, width)

    def forward(self, x):
        x = self.patch_embedding(x).flatten(2).transpose(1, 2)
        return torch.cat([self.class_embedding.expand(len(x), 1, -1), x], 1) + self.position_embedding.weight


class ImageTower(nn.Module):
    def __init__(self, side, patch, width, layers, heads):
        super().__init__()
        self.embeddings = ImageEmbeddings(side, patch, width)
        self.pre_layrnorm, self.post_layernorm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.encoder = Encoder(width, layers, heads)

    def forward(self, x):
        x = (x.permute(0, 3, 1, 2).float() / 255 - MEAN[:, None, None]) / STD[:, None, None]
        return self.post_layernorm(self.encoder(self.pre_layrnorm(self.embeddings(x)), False)[:, 0])


class TextEmbeddings(nn.Module):
    def __init__(self, vocabulary, context, width):
        super().__init__()
        self.token_embedding, self.position_embedding = nn.Embedding(vocabulary, width), nn.Embedding(context, width)

    def forward(self, ids):
        return self.token_embedding(ids) + self.position_embedding.weight[:ids.shape[1]]


class TextTower(nn.Module):
    def __init__(self, vocabulary, context, width, layers, heads):
        super().__init__()
        self.embeddings = TextEmbeddings(vocabulary, context, width)
        self.encoder = Encoder(width, layers, heads)
        self.final_layer_norm = nn.LayerNorm(width)

    def forward(self, ids, length):
        x = self.final_layer_norm(self.encoder(self.embeddings(ids), True))
        return x[torch.arange(len(x)), length - 1]


class Clip(nn.Module):
    def __init__(self, shape):
        super().__init__()
        i, t = shape["image"], shape["text"]
        self.shape = shape
        self.vision_model = ImageTower(shape["side"], shape["patch"], i["width"], i["layers"], i["heads"])
        self.text_model = TextTower(shape["vocabulary"], shape["context"], t["width"], t["layers"], t["heads"])
        self.visual_projection = nn.Linear(i["width"], shape["dim"], bias=False)
        self.text_projection = nn.Linear(t["width"], shape["dim"], bias=False)
        self.logit_scale = nn.Parameter(torch.tensor(math.log(10.0)))
        for name, p in self.named_parameters():
            if "embedding" in name and p.dim() == 2:
                nn.init.normal_(p, std=0.02)
            elif p.dim() == 2:
                nn.init.normal_(p, std=p.shape[1] ** -0.5 * (0.5 if name.endswith(("fc2.weight", "out_proj.weight")) else 1))
            elif name.endswith("bias"):
                nn.init.zeros_(p)

    def texts(self, ids, length):
        return F.normalize(self.text_projection(self.text_model(ids, length)), dim=-1)


def pad(rows, context):
    """Ids of texts -> ids (n, longest), lengths (n)."""
    longest = max(map(len, rows))
    if longest > context:
        raise ValueError(f"a caption of {longest} ids; the context is {context}")
    return torch.tensor([r + [r[-1]] * (longest - len(r)) for r in rows]), torch.tensor([len(r) for r in rows])


def write(folder, net, state, vocabulary):
    """model.safetensors in F16 and config.json, which tell everything that Spotter and transformers ask for."""
    from safetensors.torch import save_file
    s = net.shape
    tower = {"hidden_act": "quick_gelu", "layer_norm_eps": 1e-5, "projection_dim": s["dim"], "attention_dropout": 0.0}

    def sizes(t):
        return {"hidden_size": t["width"], "intermediate_size": 4 * t["width"], "num_hidden_layers": t["layers"],
                "num_attention_heads": t["heads"]}
    config = {"architectures": ["CLIPModel"], "model_type": "clip", "projection_dim": s["dim"],
              "logit_scale_init_value": 2.6592}
    config["text_config"] = {"model_type": "clip_text_model", **tower, **sizes(s["text"]), "vocab_size": s["vocabulary"],
                             "max_position_embeddings": s["context"], "bos_token_id": vocabulary.start,
                             "eos_token_id": vocabulary.end, "pad_token_id": vocabulary.end}
    config["vision_config"] = {"model_type": "clip_vision_model", **tower, **sizes(s["image"]), "image_size": s["side"],
                               "patch_size": s["patch"], "num_channels": 3}
    save_file({k: v.half().contiguous() for k, v in state.items()}, f"{folder}/model.safetensors", metadata={"format": "pt"})
    with open(f"{folder}/config.json", "w") as f:
        json.dump(config, f, indent=1)
        f.write("\n")
    vocabulary.write(folder)
