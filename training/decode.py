"""Greedy decoding of a batch in plain PyTorch, for the evaluation after training."""

import torch
import torch.nn.functional as F
from torch import Tensor

from training.delta_rule import CHUNK, l2_normalise
from training.layers import Attention, GatedDeltaNet
from training.network import Context, Network


class State:
    """What a batch carries between steps: a convolution history and a state, or keys and values, for each layer."""

    def __init__(self, network: Network, prompts: list[list[int]], room: int) -> None:
        self.network = network
        device = network.model.embed_tokens.weight.device
        self.lengths = torch.tensor([len(p) for p in prompts], device=device)
        longest = -(-max(len(p) for p in prompts) // CHUNK) * CHUNK
        tokens = torch.zeros(len(prompts), longest, dtype=torch.long)
        for row, prompt in enumerate(prompts):
            tokens[row, : len(prompt)] = torch.tensor(prompt)
        position = torch.arange(longest, device=device).expand(len(prompts), -1)
        mask = torch.ones(longest, longest, dtype=torch.bool, device=device).tril()[None, None]
        context = Context(
            torch.zeros_like(position), position, position[:, ::CHUNK] == 0, mask, network.rope(position), self.lengths
        )
        hidden = network.hidden(tokens.to(device), context)
        self.last = hidden[torch.arange(len(prompts), device=device), self.lengths - 1]
        self.cache = context.cache
        for name, pair in self.cache.items():
            if pair[0].ndim == 4:
                self.cache[name] = (F.pad(pair[0], (0, 0, 0, room)), F.pad(pair[1], (0, 0, 0, room)))

    def step(self, tokens: Tensor) -> Tensor:
        """Take one token a row; the hidden states [B, H] that predict the next."""
        x = self.network.embed(tokens[:, None])
        rope = self.network.rope(self.lengths[:, None])
        for index, layer in enumerate(self.network.model.layers):
            name, y = f"layers.{index}", layer.input_layernorm(x)
            mixed = (
                self._linear(layer.linear_attn, y, name)
                if layer.kind == "linear_attention"
                else self._attend(layer.self_attn, y, name, rope)
            )
            x = x + mixed
            x = x + layer.mlp(layer.post_attention_layernorm(x))
        self.lengths = self.lengths + 1
        self.last = self.network.model.norm(x)[:, 0]
        return self.last

    def _linear(self, mixer: GatedDeltaNet, x: Tensor, name: str) -> Tensor:
        history, state = self.cache[name]
        window = torch.cat((history, mixer.in_proj_qkv(x)), dim=1)
        convolved = F.silu((window.float() * mixer.conv1d.weight[:, 0].T).sum(1, keepdim=True)).to(x.dtype)
        q, k, v, decay, beta = (part[:, 0] for part in mixer.inputs(x, convolved))
        q, k, v = l2_normalise(q) * mixer.width**-0.5, l2_normalise(k), v.float()
        state = state * decay.exp()[..., None, None]
        update = (v - (state * k[..., None]).sum(-2)) * beta[..., None]
        state = state + k[..., None] * update[..., None, :]
        self.cache[name] = (window[:, 1:], state)
        return mixer.outputs(x, (state * q[..., None]).sum(-2)[:, None])

    def _attend(self, mixer: Attention, x: Tensor, name: str, rope: tuple[Tensor, Tensor]) -> Tensor:
        keys, values = self.cache[name]
        q, k, v, gate = mixer.inputs(x, rope)
        row = torch.arange(len(x), device=x.device)
        keys[row, :, self.lengths], values[row, :, self.lengths] = k[:, :, 0], v[:, :, 0]
        seen = torch.arange(keys.shape[2], device=x.device)[None] <= self.lengths[:, None]
        mixed = F.scaled_dot_product_attention(q, keys, values, attn_mask=seen[:, None, None], enable_gqa=True)
        return mixer.outputs(mixed, gate)


@torch.no_grad()
def greedy(network: Network, prompts: list[list[int]], end: int, limit: int) -> list[list[int]]:
    """The tokens that follow each prompt, `end` included, at most `limit`."""
    state = State(network, prompts, limit)
    written: list[list[int]] = [[] for _ in prompts]
    live = [True] * len(prompts)
    hidden = state.last
    for _ in range(limit):
        choice = network.logits(hidden).float().argmax(-1)
        for row, token in enumerate(choice.tolist()):
            if live[row]:
                written[row].append(token)
                live[row] = token != end
        if not any(live):
            break
        hidden = state.step(choice)
    return written


@torch.no_grad()
def draft_acceptance(network: Network, prompt: list[int], written: list[int]) -> tuple[int, int]:
    """How many of the written tokens after the first the MTP layer drafts right, and how many there are; teacher-forced."""
    if len(written) < 2:
        return 0, 0
    sequence = prompt + written
    device = network.model.embed_tokens.weight.device
    padded = -(-len(sequence) // CHUNK) * CHUNK
    tokens = F.pad(torch.tensor([sequence], device=device), (0, padded - len(sequence)))
    position = torch.arange(padded, device=device)[None]
    mask = torch.ones(padded, padded, dtype=torch.bool, device=device).tril()[None, None]
    context = Context(torch.zeros_like(position), position, position[:, ::CHUNK] == 0, mask, network.rope(position))
    hidden = network.hidden(tokens, context)
    drafted = network.mtp(hidden, network.embed(F.pad(tokens[:, 1:], (0, 1))), context)
    first = len(prompt) - 1  # the trunk has predicted written[0] here; the draft is for written[1]
    guesses = network.logits(drafted[0, first : first + len(written) - 1]).float().argmax(-1).tolist()
    return sum(guess == token for guess, token in zip(guesses, written[1:], strict=True)), len(written) - 1
