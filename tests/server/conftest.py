"""One server with tools and reasoning for the room's tests; its engine forgets everything between them."""

from collections.abc import Iterator

import httpx
import openai
import pytest
from server_fakes import Served, serving


@pytest.fixture(scope="session")
def shared() -> Iterator[Served]:
    with serving(enable_auto_tool_choice=True, tool_call_parser="hermes", max_body_bytes=1 << 20) as served:
        yield served


@pytest.fixture
def served(shared: Served) -> Served:
    shared.engine.reset()
    shared.template.in_reasoning, shared.template.delay = False, 0.0
    return shared


@pytest.fixture
def client(served: Served) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{served.origin}/v1", api_key="none", max_retries=0, timeout=10) as client:
        yield client


@pytest.fixture
def http(served: Served) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=served.origin, timeout=10, trust_env=False) as client:
        yield client
