"""The sandbox that chat templates run in: what transformers gives a template, without importing transformers."""

import json
import re
from collections.abc import Callable
from datetime import datetime
from functools import lru_cache
from typing import Any, NoReturn

import jinja2
from jinja2 import nodes
from jinja2.ext import Extension, loopcontrols
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Namespace

from isotherm.text.arguments import RawArray, RawObject, written

_ESCAPED_MARK = re.compile(r"\\u(fd[de][0-9a-f])")


class GenerationTag(Extension):
    """{% generation %} ... {% endgeneration %}: marks the assistant's text for training; here it only renders its body."""

    tags = {"generation"}  # noqa: RUF012  (the base class declares it so)

    def parse(self, parser: Parser) -> nodes.Node:
        """Its own scope, as in transformers."""
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return nodes.CallBlock(self.call_method("_render"), [], [], body).set_lineno(line)

    def _render(self, caller: Callable[[], str]) -> str:
        return caller()


class TemplateNamespace(Namespace):
    """A namespace() that takes no underscored names, so that a template cannot reach Python's own."""

    def __init__(*args: Any, **kwargs: Any) -> None:  # `self` is in args, so that a template may use the name
        self, *rest = args
        attributes = dict(*rest, **kwargs)
        for name in attributes:
            _refuse_underscore(name)
        Namespace.__init__(self, attributes)

    def __setitem__(self, name: str, value: Any) -> None:
        _refuse_underscore(name)
        super().__setitem__(name, value)


def _refuse_underscore(name: str) -> None:
    if name.startswith("_"):
        raise jinja2.exceptions.SecurityError(f"a template may not set {name!r} on a namespace")


def _dict(*args: Any, **kwargs: Any) -> dict[Any, Any]:
    return dict(*args, **kwargs)


def _raise_exception(message: str) -> NoReturn:
    raise jinja2.exceptions.TemplateError(message)


def _strftime_now(form: str) -> str:
    return datetime.now().strftime(form)


def _tojson(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | str | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    """JSON without HTML escapes. Arguments that arrived as JSON text are written as they arrived.

    That text is what the model generated, so a history renders to the tokens that the cache holds.
    """
    if isinstance(value, RawObject | RawArray) and (ensure_ascii, indent, separators, sort_keys) == (
        False,
        None,
        None,
        False,
    ):
        return written(value)
    text = json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)
    # The marks of control tokens (control.py) must not be hidden by an escape.
    return _ESCAPED_MARK.sub(lambda match: chr(int(match[1], 16)), text) if ensure_ascii else text


@lru_cache(maxsize=1)
def environment() -> ImmutableSandboxedEnvironment:
    """The environment: it keeps no state between templates."""
    made = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[GenerationTag, loopcontrols])
    made.filters["tojson"] = _tojson
    made.globals.update(
        raise_exception=_raise_exception, strftime_now=_strftime_now, dict=_dict, namespace=TemplateNamespace
    )
    return made
