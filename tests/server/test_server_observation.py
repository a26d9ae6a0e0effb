"""Metrics, log lines, the reuse warning, and the endpoints that describe the server."""

import logging

import httpx
import openai
import pytest
from prometheus_client.parser import text_string_to_metric_families
from server_fakes import BEGIN, INFO, Served

from isotherm.core.stats import EngineStats, HostStats
from isotherm.server.reuse_watch import LIMIT, ReuseWatch

HI = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]
CHAT = "/v1/chat/completions"


def samples(http: httpx.Client) -> dict[tuple[str, ...], float]:
    """Metric values by name and labels other than the model and bucket."""
    values = {}
    for family in text_string_to_metric_families(http.get("/metrics").text):
        for sample in family.samples:
            if not sample.name.startswith("process_"):
                assert sample.labels["model_name"] == "tiny"
            extra = [value for name, value in sample.labels.items() if name not in ("model_name", "le")]
            values[(sample.name, *extra)] = sample.value
    return values


def test_the_engines_numbers_are_metrics_with_vllms_stems(http: httpx.Client, served: Served) -> None:
    served.engine.current = EngineStats(
        running=2,
        waiting=3,
        blocks_used=25,
        slots_used=5,
        cache_queries=1000,
        cache_hits=640,
        matched=7,
        restored=6,
        declined={"no_snapshot": 1, "opted_out": 2},
        preemptions=4,
        prompt_tokens=500,
        generation_tokens=90,
        host=HostStats(3, 2, 40, 9, 30, 8, 1, 5, 1920, 77_000),
    )
    values = samples(http)
    expected = {
        ("num_requests_running",): 2,
        ("num_requests_waiting",): 3,
        ("kv_cache_usage_perc",): 0.25,
        ("state_slot_usage_perc",): 0.5,
        ("prefix_cache_queries_total",): 1000,
        ("prefix_cache_hits_total",): 640,
        ("prefix_cache_matched_total",): 7,
        ("prefix_cache_restored_total",): 6,
        ("prefix_cache_declined_total", "no_snapshot"): 1,
        ("prefix_cache_declined_total", "opted_out"): 2,
        ("num_preemptions_total",): 4,
        ("prompt_tokens_total",): 500,
        ("generation_tokens_total",): 90,
        ("host_cache_usage_bytes",): 77_000,
        ("host_cache_blocks",): 3,
        ("host_cache_snapshots",): 2,
        ("host_cache_offloaded_blocks_total",): 40,
        ("host_cache_offloaded_snapshots_total",): 9,
        ("host_cache_reloaded_blocks_total",): 30,
        ("host_cache_reloaded_snapshots_total",): 8,
        ("host_cache_lost_snapshots_total",): 1,
        ("host_cache_restored_total",): 5,
        ("external_prefix_cache_hits_total",): 1920,
    }
    assert {key: values[(f"isotherm:{key[0]}", *key[1:])] for key in expected} == expected


def test_latencies_and_endings_are_counted(http: httpx.Client, served: Served) -> None:
    names = (
        "time_to_first_token_seconds_count",
        "inter_token_latency_seconds_count",
        "e2e_request_latency_seconds_count",
    )
    before = samples(http)
    http.post(CHAT, json={"messages": HI, "n": 2})
    http.post(CHAT, json={"messages": HI, "max_tokens": 1, "stream": True})
    after = samples(http)

    def grown(*key: str) -> float:
        return after[key] - before.get(key, 0.0)

    assert [grown(f"isotherm:{name}") for name in names] == [2, 2 * len("Hello world."), 2]
    assert grown("isotherm:request_success_total", "stop") == 2
    assert grown("isotherm:request_success_total", "length") == 1


def test_each_call_leaves_one_log_line(http: httpx.Client, served: Served, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "isotherm.server")
    served.engine.say("Hello", cached=64)
    answer = http.post(CHAT, json={"messages": HI, "n": 2}).json()
    lines = [line for line in (record.getMessage() for record in caplog.records) if answer["id"] in line]
    assert len(lines) == 1
    prompt = answer["usage"]["prompt_tokens"]
    start = f"request {answer['id']}: {prompt} prompt tokens, 64 cached, 12 generated, finish stop, first token "
    assert lines[0].startswith(start)


def test_twenty_matches_without_a_restore_are_warned_of_once(
    http: httpx.Client, served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    for count in range(1, LIMIT + 3):
        served.engine.current = EngineStats(matched=count, declined={"no_snapshot": count})
        http.post(CHAT, json={"messages": HI})
        assert served.until(lambda count=count: served.engine.stats_calls == count)  # type: ignore[misc]
        assert served.until(lambda count=count: caplog.text.count("matched cached") == (count >= LIMIT))  # type: ignore[misc]


def test_a_restore_starts_the_count_again(caplog: pytest.LogCaptureFixture) -> None:
    watch = ReuseWatch()
    watch.read(EngineStats(declined={"no_snapshot": LIMIT - 1}))
    watch.read(EngineStats(restored=1, declined={"no_snapshot": LIMIT}))
    watch.read(EngineStats(restored=1, declined={"no_snapshot": 2 * LIMIT - 1}))
    assert caplog.text == ""
    watch.read(EngineStats(restored=1, declined={"no_snapshot": 2 * LIMIT}))
    watch.read(EngineStats(restored=1, declined={"no_snapshot": 3 * LIMIT}))
    assert caplog.text.count("matched cached blocks") == 1


def test_requests_that_opted_out_do_not_count_as_declined(caplog: pytest.LogCaptureFixture) -> None:
    ReuseWatch().read(EngineStats(matched=100, declined={"opted_out": 50, "prompt_logprobs": 50}))
    assert caplog.text == ""


def test_models_are_listed_and_found_by_name(client: openai.OpenAI) -> None:
    models = list(client.models.list())
    assert [model.id for model in models] == ["tiny", "other"]
    assert models[0].max_model_len == INFO.max_model_len
    assert client.models.retrieve("other").id == "other"
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("none")


def test_version_tells_the_build_and_the_caches_numbers(http: httpx.Client) -> None:
    version = http.get("/version").json()
    assert version["build"] == INFO.build
    assert (version["block_size"], version["snapshot_interval"], version["prefix_caching"]) == (64, 2048, True)


def test_tokenize_gives_tokens_and_hint_and_detokenize_turns_them_back(http: httpx.Client) -> None:
    answer = http.post("/tokenize", json={"prompt": "Hé", "return_token_strs": True}).json()
    assert (answer["tokens"], answer["count"], answer["hint"]) == ([72, 0xC3, 0xA9], 3, 0)
    assert answer["token_strs"] == ["H", "\ufffd", "\ufffd"] and answer["max_model_len"] == 4096
    answer = http.post("/tokenize", json={"messages": HI, "add_generation_prompt": False}).json()
    assert answer["tokens"][0] == BEGIN and answer["hint"] == 7
    assert http.post("/detokenize", json={"tokens": [BEGIN, 72, 0xC3, 0xA9]}).json() == {"prompt": "<|begin|>Hé"}
    assert http.post("/detokenize", json={"tokens": []}).json() == {"prompt": ""}


@pytest.mark.parametrize(
    ("path", "body", "param"),
    [
        ("/tokenize", {}, "prompt"),
        ("/tokenize", {"prompt": "a", "messages": HI}, "prompt"),
        ("/detokenize", {"tokens": [300]}, "tokens"),
        ("/detokenize", {"tokens": "a"}, "tokens"),
        ("/detokenize", {"tokens": [1], "colour": 1}, "colour"),
    ],
)
def test_text_endpoints_name_what_is_wrong(http: httpx.Client, path: str, body: dict[str, object], param: str) -> None:
    response = http.post(path, json=body)
    assert (response.status_code, response.json()["error"]["param"]) == (400, param)


def test_the_description_of_the_api_has_the_bodies_fields(http: httpx.Client) -> None:
    paths = http.get("/openapi.json").json()["paths"]
    schema = paths[CHAT]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert {"messages", "temperature", "cache_salt"} <= set(schema["properties"])
