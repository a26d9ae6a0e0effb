"""What the two generating endpoints' bodies have in common, and how a body is read."""

from typing import Any, Self

from pydantic import BaseModel, ConfigDict, ValidationError
from starlette.requests import Request

from isotherm.server.errors import ApiError, bad_request
from isotherm.server.fields import check_undeclared

_CODES = {
    "missing": "missing_required_parameter",
    "finite_number": "invalid_value",
    "json_invalid": "invalid_json",
}


class Body(BaseModel):
    """A JSON body whose every field is declared, or known to `fields`. Types are not coerced; null means absent."""

    model_config = ConfigDict(extra="allow", strict=True, allow_inf_nan=False, frozen=True)

    @classmethod
    def parse(cls, data: bytes) -> Self:
        """Raises ApiError (400) naming the first parameter that is wrong."""
        try:
            body = cls.model_validate_json(data)
        except ValidationError as error:
            raise _translate(error) from None
        check_undeclared(body.model_extra or {})
        return body


def _translate(error: ValidationError) -> ApiError:
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    code = _CODES.get(first["type"], "invalid_type")
    if not first["loc"]:
        return ApiError(400, first["msg"], code=code)
    param = str(first["loc"][0])
    return bad_request(param, f"{param}: {first['msg']}", code)


async def read_body(request: Request) -> bytes:
    """The raw body. Raises ApiError (415) unless it is announced as JSON.

    The announcement matters to browsers: a page of another site cannot send it without asking first.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise ApiError(415, "send the body with Content-Type: application/json", code="unsupported_media_type")
    return await request.body()


class GenerationBody(Body):
    """Fields of both endpoints, with OpenAI's and vLLM's names and meanings."""

    model: str | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    min_p: float | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    repetition_penalty: float | None = None
    seed: int | None = None
    n: int | None = None
    max_tokens: int | None = None
    min_tokens: int | None = None
    stop: str | list[str] | None = None
    stop_token_ids: list[int] | None = None
    ignore_eos: bool | None = None
    include_stop_str_in_output: bool | None = None
    skip_special_tokens: bool | None = None
    prompt_logprobs: int | None = None
    logit_bias: dict[str, float] | None = None
    response_format: dict[str, Any] | None = None
    stream: bool | None = None
    stream_options: dict[str, Any] | None = None
    return_token_ids: bool | None = None
    return_tokens_as_token_ids: bool | None = None
    cache_salt: str | None = None
    skip_reading_prefix_cache: bool | None = None
    num_speculative_tokens: int | None = None
