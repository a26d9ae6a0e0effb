"""Both losses of a batch: the trunk's next token, and the MTP layer's token after that."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.attention.flex_attention import create_block_mask

from training.network import Context, Network
from training.packing import Batch

MTP_WEIGHT = 0.3


@dataclass(frozen=True, slots=True)
class Losses:
    """Means over a batch: the trunk's and the MTP layer's loss, and the shares of assistant tokens that each gets right."""

    total: Tensor
    trunk: Tensor
    mtp: Tensor
    right: Tensor
    mtp_right: Tensor


def block_mask(document: Tensor) -> object:
    """Causal within a document: a flex-attention mask on the GPU, a dense one elsewhere."""
    batch, length = document.shape
    if not document.is_cuda:
        same = document[:, :, None] == document[:, None, :]
        return (same & torch.ones(length, length, dtype=torch.bool).tril())[:, None]

    def allowed(b: Tensor, h: Tensor, q: Tensor, k: Tensor) -> Tensor:
        return (q >= k) & (document[b, q] == document[b, k])

    return _make_block_mask(allowed, batch, None, length, length, device="cuda")


_make_block_mask = torch.compile(create_block_mask) if torch.cuda.is_available() else create_block_mask


def head_loss(hidden: Tensor, embedding: Tensor, targets: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
    """The weighted mean loss, and the share of fully weighted tokens predicted right. hidden [N, H], targets and weight [N]."""
    logits = F.linear(hidden, embedding.to(hidden.dtype)).float()
    loss = F.cross_entropy(logits, targets, reduction="none")
    full = (weight == 1.0).float()
    right = (logits.detach().argmax(-1) == targets).float() * full
    return (loss * weight).sum() / weight.sum().clamp(min=1.0), right.sum() / full.sum().clamp(min=1.0)


def forward(network: Network, batch: Batch, loss_of=head_loss) -> Losses:  # type: ignore[no-untyped-def]
    """Both losses of a batch."""
    context = Context(
        batch.document, batch.position, batch.fresh, block_mask(batch.document), network.rope(batch.position)
    )
    hidden = network.hidden(batch.tokens, context)

    def ahead(x: Tensor, by: int) -> Tensor:
        return F.pad(x[:, by:], (0, by))

    inside = [(ahead(batch.position, by) == batch.position + by) for by in (1, 2)]  # the target is in the same document
    embedding = network.model.embed_tokens.weight
    one = loss_of(
        hidden.flatten(0, 1),
        embedding,
        ahead(batch.tokens, 1).flatten(),
        (ahead(batch.weight, 1) * inside[0]).flatten(),
    )
    drafted = network.mtp(hidden, network.embed(ahead(batch.tokens, 1)), context)
    two = loss_of(
        drafted.flatten(0, 1),
        embedding,
        ahead(batch.tokens, 2).flatten(),
        (ahead(batch.weight, 2) * inside[1]).flatten(),
    )
    return Losses(one[0] + MTP_WEIGHT * two[0], one[0], two[0], one[1], two[1])
