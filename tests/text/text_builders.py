"""Small byte-level BPE folders and chat templates for the text room's tests; no hub."""

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|fim|>")
ADDED = ("<think>", "</think>", "<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>")
_SPLIT = r"(?i:'s|'t|'re|'ll)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
_CORPUS = [
    "You are a helpful assistant. You may call one or more functions to assist with the user's query.",
    'system\nuser\nassistant\n{"name": "get_weather", "arguments": {"city": "Paris", "days": 3}}\n',
    "<function=get_weather>\n<parameter=city>\nParis\n</parameter>\n</function>\n",
    "The weather in Paris is sunny. What is the weather in Rome? Let me think about it.\n\n",
    "Grüße aus Köln, 你好世界, привет 🙂👍🏽",
] * 4


@lru_cache(maxsize=1)
def backend_json() -> str:
    """A trained tokenizer.json of some 600 tokens, in the shape of Qwen's: NFC, a split, ByteLevel; added tokens at the end."""
    made = Tokenizer(models.BPE())
    made.normalizer = normalizers.NFC()
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(_SPLIT), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    made.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    made.train_from_iterator(
        _CORPUS, trainers.BpeTrainer(vocab_size=600, initial_alphabet=alphabet, show_progress=False)
    )
    made.add_special_tokens([AddedToken(text, special=True, normalized=False) for text in SPECIAL])
    made.add_tokens([AddedToken(text, special=False, normalized=False) for text in ADDED])
    return str(made.to_str())


def write_folder(folder: Path, template: Any = None, **files: dict[str, Any]) -> Path:
    """A model folder with a tokenizer. files: more JSON files by stem; tokenizer_config is merged over the default."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tokenizer.json").write_text(backend_json(), encoding="utf-8")
    config = {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": "<|im_end|>", "pad_token": "<|endoftext|>"}
    if template is not None:
        config["chat_template"] = template
    files["tokenizer_config"] = config | files.get("tokenizer_config", {})
    for stem, value in files.items():
        (folder / f"{stem}.json").write_text(json.dumps(value), encoding="utf-8")
    return folder


_TURNS = """
{%- for message in messages %}
    {%- if message.role == 'user' %}
        {{- '<|im_start|>user\\n' + text(message.content) + '<|im_end|>\\n' }}
    {%- elif message.role == 'assistant' %}
        {{- '<|im_start|>assistant\\n' }}
        {%- if message.reasoning_content is defined and loop.index0 > ns.last_query %}
            {{- '<think>\\n' + message.reasoning_content.strip('\\n') + '\\n</think>\\n\\n' }}
        {%- endif %}
        {{- body(message) + '<|im_end|>\\n' }}
    {%- elif message.role == 'tool' %}
        {%- if loop.previtem is undefined or loop.previtem.role != 'tool' %}{{- '<|im_start|>user' }}{%- endif %}
        {{- '\\n<tool_response>\\n' + text(message.content) + '\\n</tool_response>' }}
        {%- if loop.last or loop.nextitem.role != 'tool' %}{{- '<|im_end|>\\n' }}{%- endif %}
    {%- elif not loop.first %}
        {{- raise_exception('System message must be at the beginning.') }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}
        {{- '<think>\\n\\n</think>\\n\\n' }}
    {%- else %}
        {{- '<think>\\n' }}
    {%- endif %}
{%- endif %}
"""

_OPENING = """
{%- macro text(content) %}
    {%- if content is string %}{{- content }}
    {%- elif content is iterable and content is not mapping %}
        {%- for part in content %}{{- part.text }}{%- endfor %}
    {%- endif %}
{%- endmacro %}
{%- if tools %}
    {{- '<|im_start|>system\\n# Tools\\n\\n<tools>' }}
    {%- for tool in tools %}{{- '\\n' }}{{- tool | tojson }}{%- endfor %}
    {{- '\\n</tools>\\n\\nAnswer in <tool_call></tool_call> tags.' }}
    {%- if messages[0].role == 'system' %}{{- '\\n\\n' + text(messages[0].content) }}{%- endif %}
    {{- '<|im_end|>\\n' }}
{%- elif messages[0].role == 'system' %}
    {{- '<|im_start|>system\\n' + text(messages[0].content) + '<|im_end|>\\n' }}
{%- endif %}
{%- set ns = namespace(last_query=-1) %}
{%- for message in messages %}
    {%- if message.role == 'user' %}{%- set ns.last_query = loop.index0 %}{%- endif %}
{%- endfor %}
"""

_XML_BODY = """
{%- macro body(message) %}
    {%- set content = text(message.content) | trim %}
    {{- content }}
    {%- for call in message.tool_calls or [] %}
        {{- ('\\n\\n' if content else '') if loop.first else '\\n' }}
        {{- '<tool_call>\\n<function=' + call.function.name + '>\\n' }}
        {%- for key, value in call.function.arguments | items %}
            {{- '<parameter=' + key + '>\\n' }}
            {{- value if value is string else value | tojson }}
            {{- '\\n</parameter>\\n' }}
        {%- endfor %}
        {{- '</function>\\n</tool_call>' }}
    {%- endfor %}
{%- endmacro %}
"""

_HERMES_BODY = """
{%- macro body(message) %}
    {{- text(message.content) }}
    {%- for call in message.tool_calls or [] %}
        {%- if not loop.first or message.content %}{{- '\\n' }}{%- endif %}
        {{- '<tool_call>\\n{"name": "' + call.function.name + '", "arguments": ' + call.function.arguments | tojson }}
        {{- '}\\n</tool_call>' }}
    {%- endfor %}
{%- endmacro %}
"""

_NEEDS_USER = "{%- if ns.last_query < 0 %}{{- raise_exception('No user query found in messages.') }}{%- endif %}"

XML_TEMPLATE = _XML_BODY + _OPENING + _NEEDS_USER + _TURNS
"""After the manner of Qwen3.5: XML calls, <think> opened in the prompt, a refusal without a user message."""

HERMES_TEMPLATE = _HERMES_BODY + _OPENING + _TURNS
"""After the manner of Qwen3: Hermes calls; renders a conversation without a user message."""

CHATML_TEMPLATE = """{% for message in messages %}
{{ '<|im_start|>' + message['role'] }}
{% generation %}{{ message['content'] | trim }}{% endgeneration %}<|im_end|>
{% if loop.index > 20 %}{% break %}{% endif %}
{% endfor %}
{% if add_generation_prompt %}
<|im_start|>assistant
{% endif %}"""
"""Plain ChatML with the generation tag and a loop control; takes string content only."""

ODDS_TEMPLATE = """{{ bos_token }}{{ eos_token }}{% set ns = namespace(seen=0, self=1) %}
{%- for message in messages if message.role != 'tool' %}
    {%- set ns.seen = ns.seen + 1 %}
    {{- '[' ~ message.role ~ ' ' ~ ns.seen ~ '] ' ~ message.content }}
    {%- for call in message.tool_calls or [] %}
        {{- call | tojson(indent=2) }}{{- call.function.arguments | dictsort }}
    {%- endfor %}
    {{- message.get('reasoning_content', '') }}{{- message.thinking }}
{%- endfor %}
{{- dict(a=1, b='<é&>') | tojson }}{{- ['é', 1.5, none, true] | tojson(ensure_ascii=true, separators=(',', ':')) }}
{{- {'z': 1, 'a': 2} | tojson(sort_keys=true) }}{{- strftime_now('%Y') }}{{- tools | tojson }}{{- documents }}{{- greeting }}"""
"""Exercises the filters and globals."""

TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather in a city",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string"},
                "days": {"type": "integer"},
                "scale": {"type": "number"},
                "detail": {"type": "boolean"},
                "note": {"type": ["string", "null"]},
                "days_list": {"type": "array", "items": {"type": "integer"}},
                "options": {"$ref": "#/$defs/options"},
                "either": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
                "free": {"description": "no type"},
            },
            "$defs": {"options": {"type": "object"}},
        },
    },
}


def assistant_call(arguments: Any, content: str | None = None, **more: Any) -> dict[str, Any]:
    """An assistant's turn with one call of get_weather."""
    call = {"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": arguments}}
    return {"role": "assistant", "content": content, "tool_calls": [call], **more}
