"""Chat templates: where a model folder keeps them, and one of them compiled."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
from jinja2 import meta, nodes

from isotherm.core.errors import CheckpointError, ConfigError, IsothermError, RequestError
from isotherm.text.environment import environment
from isotherm.text.folder import read_object, read_text


@dataclass(frozen=True, slots=True)
class Template:
    """One compiled template.

    literals: every string written in it. variables: what it reads from the request. joint: what it puts between the text
    parts of a content list, "\\n" when it cannot render such a list.
    """

    source: str
    compiled: jinja2.Template
    literals: str
    variables: frozenset[str]
    joint: str

    @classmethod
    def compile(cls, source: str) -> "Template":
        """Raises jinja2.TemplateSyntaxError."""
        tree = environment().parse(source)
        compiled = environment().from_string(source)
        texts = [node.data for node in tree.find_all(nodes.TemplateData)]
        texts += [node.value for node in tree.find_all(nodes.Const) if isinstance(node.value, str)]
        variables = frozenset(meta.find_undeclared_variables(tree))
        return cls(source, compiled, "\0".join(texts), variables, _joint(compiled))

    def render(self, context: dict[str, Any]) -> str:
        """The rendered text. Raises RequestError with the template's own message when it refuses or fails."""
        try:
            return self.compiled.render(context)
        except jinja2.TemplateError as error:
            raise RequestError("messages", f"the chat template refused them: {error.message or error}") from error
        except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
            raise RequestError("messages", f"the chat template failed: {type(error).__name__}: {error}") from error


def find_templates(folder: Path, override: Path | None) -> dict[str, Template]:
    """Templates by name, "default" the usual one; empty when the model has none.

    From `override` alone when it is given; else chat_template.jinja with additional_chat_templates/*.jinja; else
    chat_template.json; else tokenizer_config.json. Raises ConfigError for a bad override, CheckpointError for a bad folder.
    """
    if override is not None:
        text = read_text(override)
        if text is None:
            raise ConfigError("chat_template", f"{override}: no such file")
        return {"default": _compile(text, ConfigError("chat_template", str(override)))}
    return {
        name: _compile(text, CheckpointError(f"{folder}: chat template {name}"))
        for name, text in _sources(folder).items()
    }


def _sources(folder: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    if (text := read_text(folder / "chat_template.jinja")) is not None:
        found["default"] = text
    for path in sorted((folder / "additional_chat_templates").glob("*.jinja")):
        found[path.stem] = read_text(path) or ""
    for name in ("chat_template.json", "tokenizer_config.json"):
        found = found or _declared(read_object(folder / name).get("chat_template"), folder / name)
    return found


def _declared(value: object, source: Path) -> dict[str, str]:
    """A chat_template field: a string, or a list of {name, template}."""
    if value is None:
        return {}
    if isinstance(value, str):
        return {"default": value}
    try:
        return {entry["name"]: entry["template"] for entry in value}  # type: ignore[attr-defined]
    except (KeyError, TypeError) as error:
        raise CheckpointError(f"{source}: chat_template must be a string or a list of name and template") from error


def _compile(source: str, blame: IsothermError) -> Template:
    try:
        return Template.compile(source)
    except jinja2.TemplateSyntaxError as error:
        message = f"line {error.lineno}: {error.message}"
        if isinstance(blame, ConfigError):
            raise ConfigError(blame.field, f"{blame.message}: {message}") from error
        raise CheckpointError(f"{blame}: {message}") from error


def _joint(compiled: jinja2.Template) -> str:
    """Found by rendering two parts and looking at what is between them."""
    parts = [{"type": "text", "text": "isotherm-first"}, {"type": "text", "text": "isotherm-second"}]
    try:
        text = compiled.render(messages=[{"role": "user", "content": parts}])
    except Exception:  # a template may refuse in any way; then it takes strings only
        return "\n"
    _, found, rest = text.partition("isotherm-first")
    between, both, _ = rest.partition("isotherm-second")
    return between if found and both and not between.strip() else "\n"
