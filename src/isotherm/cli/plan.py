"""`isotherm plan`: will it fit, and what would have to change?"""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from isotherm.cli import options

if TYPE_CHECKING:
    from isotherm.engine.sizing import Sizing


def plan(
    checkpoint: Annotated[str, typer.Argument(help="A Hugging Face folder or hub id.")],
    gpu_memory: Annotated[str, typer.Option(help="Memory of the GPU (141GB, 80G).")],
    context: Annotated[str, typer.Option(help="Tokens of each conversation (262144, 32k).")] = "32768",
    conversations: Annotated[int, typer.Option(min=1, help="Conversations at once.")] = 1,
    gpu_memory_utilization: options.GpuMemory = 0.9,
    max_num_batched_tokens: options.MaxBatched = 2048,
    kv_offloading_size: options.KvOffload = "0",
    drafter: Annotated[bool, typer.Option("--drafter", help="With the checkpoint's own drafter.")] = False,
    revision: options.Revision = None,
    json_file: options.Json = None,
) -> None:
    """Print what weights, KV and states of CHECKPOINT take of a GPU, what fits, and what to change. Loads nothing.

    Exit code 0 when all conversations fit at full length, 1 when not.
    """
    from isotherm.engine.sizing import Asked, size
    from isotherm.model.source import locate

    asked = Asked(
        memory=options.count("gpu_memory", gpu_memory),
        context=options.count("context", context),
        conversations=conversations,
        utilization=gpu_memory_utilization,
        rows=max_num_batched_tokens,
        drafter=drafter,
        offload_bytes=options.gib_of("kv_offloading_size", kv_offloading_size),
    )
    sizing = size(locate(checkpoint, revision), asked)
    for line in (*_parts(sizing), "", *_advice(sizing), *_not_yet(sizing)):
        typer.echo(line)
    if json_file:
        Path(json_file).write_text(json.dumps(_record(sizing), indent=1) + "\n", encoding="utf-8")
    if sizing.fit < conversations:
        raise typer.Exit(1)


def _bytes(value: int) -> str:
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if value >= size:
            return f"{value / size:,.1f} {unit}"
    return f"{value} B"


def _parts(sizing: "Sizing") -> list[str]:
    spec, asked, weights = sizing.spec, sizing.asked, sizing.weights
    rows = [
        ("checkpoint", f"{spec.kind}: {spec.delta_layers} recurrent and {spec.attention_layers} attention layers"),
        (
            "weights",
            _bytes(weights.model) + (f", {_bytes(weights.fp8)} of it in FP8" if weights.fp8 else " in bfloat16"),
        ),
        ("n-gram tables", f"{_bytes(weights.mapped)}, read from disk and never loaded") if weights.mapped else None,
        ("drafter", _bytes(weights.drafter) + ("" if asked.drafter else ", not loaded")) if weights.drafter else None,
        ("vision tower", f"{_bytes(weights.vision)}, not loaded") if weights.vision else None,
        ("a pass", f"about {_bytes(sizing.passes)} for {asked.rows} rows"),
        (
            "KV",
            f"{_bytes(sizing.block)} a block of 64 tokens, {_bytes(asked.blocks_each * sizing.block)} a conversation",
        ),
        ("state", f"{_bytes(sizing.slot)} a snapshot; {_bytes(2 * sizing.slot + sizing.lane)} a live conversation"),
        (
            "left",
            f"{_bytes(max(sizing.budget, 0))} for blocks and states, of {_bytes(asked.memory)} at {asked.utilization:g}",
        ),
        (
            "host tier",
            f"{_bytes(asked.offload_bytes)} for {sizing.host_blocks:,} blocks ({64 * sizing.host_blocks:,} tokens) and "
            f"{sizing.host_slots:,} snapshots",
        )
        if asked.offload_bytes
        else None,
    ]
    return [f"{row[0]:>14}  {row[1]}" for row in rows if row is not None]


def _advice(sizing: "Sizing") -> list[str]:
    asked = sizing.asked
    wanted = f"{asked.conversations} conversation{'s' * (asked.conversations > 1)} of {asked.context:,} tokens"
    if sizing.fit >= asked.conversations:
        return [f"{wanted} fit at once ({sizing.fit} would), and {sizing.snapshots:,} snapshots beside them."]
    changes = [f"{wanted} do not fit at once without sharing; what could change:"]
    if sizing.fit:
        changes.append(f"  conversations: {sizing.fit} fit; more take turns, by preemption, and give the same answers")
    if sizing.longest:
        changes.append(f"  context: {sizing.longest:,} tokens each (--max-model-len {sizing.longest})")
    changes.append(f"  memory: {_bytes(sizing.enough)}, in one GPU: weights are not split over several")
    return [*changes, "Conversations that share a prefix hold its blocks once, so more fit than is said here."]


def _not_yet(sizing: "Sizing") -> list[str]:
    """Why this model is not computed on a GPU at all, if it is not."""
    from isotherm.engine.device import unsupported

    why = unsupported(sizing.spec)
    return [] if why is None else [f"Not computed on a GPU yet ({why}); the sizes are what it would need."]


def _record(sizing: "Sizing") -> dict[str, object]:
    weights = sizing.weights
    return {
        "weights_bytes": weights.model,
        "fp8_bytes": weights.fp8,
        "mapped_bytes": weights.mapped,
        "drafter_bytes": weights.drafter,
        "vision_bytes": weights.vision,
        "pass_bytes": sizing.passes,
        "block_bytes": sizing.block,
        "snapshot_bytes": sizing.slot,
        "lane_bytes": sizing.lane,
        "budget_bytes": sizing.budget,
        "blocks": 0 if sizing.capacity is None else sizing.capacity.blocks - 1,
        "slots": 0 if sizing.capacity is None else sizing.capacity.slots - 1,
        "conversations_that_fit": sizing.fit,
        "snapshots": sizing.snapshots,
        "longest_context": sizing.longest,
        "enough_bytes": sizing.enough,
        "host_blocks": sizing.host_blocks,
        "host_slots": sizing.host_slots,
    }
