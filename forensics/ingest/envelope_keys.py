"""The key names that envelopes use, in the order in which they are asked, and which of them an object has.

A region, a cloud account or a service name is no tenant, so none of those stands here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Object = dict[str, Any]

REQUEST_KEYS = ("request", "req", "request_body", "requestBody", "request.body", "input")
RESPONSE_KEYS = ("response", "res", "resp", "response_body", "responseBody", "response.body", "output", "completion")
ID_KEYS = ("request_id", "requestId", "x_request_id", "x-request-id", "req_id", "rid", "call_id")
ID_HEADERS = ("x-request-id", "x-litellm-call-id", "apim-request-id", "cf-aig-log-id", "request-id")
TENANT_KEYS = ("tenant_id", "tenant", "tenantId", "customer_id", "organisation_id", "organization_id", "org_id")
TENANT_HEADERS = ("x-tenant-id", "x-tenant")
TENANT_METADATA = ("tenant_id", "tenant", "tenantId", "customer_id", "organisation_id", "organization_id")
TENANT_HEADERS_LAST = ("openai-organization", "x-organization-id", "openai-project")
USER_KEYS = ("user_id", "user", "end_user", "safety_identifier")
KEY_KEYS = ("api_key_hash", "api_key_id", "api_key", "key_hash")
RECEIVED_KEYS = (
    "timestamp",
    "received_at",
    "ts",
    "@timestamp",
    "start_time",
    "startTime",
    "started_at",
    "request_time",
    "request_timestamp",
    "created_at",
    "time",
)
FINISHED_KEYS = ("finished_at", "end_time", "endTime", "ended_at", "completed_at", "response_timestamp")
FIRST_TOKEN_KEYS = ("first_token_at", "completion_start_time", "completionStartTime")
LATENCY_MS_KEYS = ("latency_ms", "duration_ms", "total_ms")
WORKER_KEYS = ("worker", "worker_id", "replica")
ENDPOINT_KEYS = ("endpoint", "path", "route", "url", "uri")
PROMPT_KEYS = ("messages", "prompt")
# Beside `input` these tell a request of the Responses API from an envelope; an object with one of the second row may
# be an answer itself, without an envelope.
_ASKS = ("instructions", "previous_response_id", "max_output_tokens", "conversation", "tools", "reasoning")
_ANSWERS = ("output", "content", "candidates", "promptFeedback")


@dataclass(frozen=True, slots=True)
class Plan:
    """Which of the known keys objects of one shape (the same keys in the same order) have."""

    headers: tuple[str, ...]
    request: tuple[str, ...]
    response: tuple[str, ...]
    prompt: bool
    asks: bool
    choices: bool
    answers: bool
    ids: tuple[str, ...]
    own_id: bool
    other_ids: tuple[str, ...]
    tenant: tuple[str, ...]
    metadata: bool
    user: tuple[str, ...]
    api_key: tuple[str, ...]
    received: tuple[str, ...]
    finished: tuple[str, ...]
    first_token: tuple[str, ...]
    latency: tuple[str, ...]
    worker: tuple[str, ...]
    endpoint: tuple[str, ...]
    status: tuple[str, ...]


_plans: dict[tuple[str, ...], Plan] = {}
_MOST_PLANS = 1000


def plan_of(obj: Object) -> Plan:
    """The plan for `obj`. A log repeats few shapes, so that the many names are looked up once per shape."""
    shape = tuple(obj)
    plan = _plans.get(shape)
    if plan is None:

        def present(keys: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(key for key in keys if key in obj)

        plan = Plan(
            headers=present(("headers", "request_headers", "response_headers")),
            request=present(REQUEST_KEYS),
            response=present(RESPONSE_KEYS),
            prompt=bool(present(PROMPT_KEYS)),
            asks="contents" in obj or ("input" in obj and bool(present(_ASKS))),
            choices="choices" in obj,
            answers=bool(present(_ANSWERS)),
            ids=present(ID_KEYS),
            own_id="id" in obj,
            other_ids=present(("trace_id", "custom_id", "session_id", "conversation_id")),
            tenant=present(TENANT_KEYS),
            metadata="metadata" in obj,
            user=present(USER_KEYS),
            api_key=present(KEY_KEYS),
            received=present(RECEIVED_KEYS),
            finished=present(FINISHED_KEYS),
            first_token=present(FIRST_TOKEN_KEYS),
            latency=present(LATENCY_MS_KEYS),
            worker=present(WORKER_KEYS),
            endpoint=present(ENDPOINT_KEYS),
            status=present(("status", "status_code")),
        )
        if len(_plans) >= _MOST_PLANS:
            _plans.clear()
        _plans[shape] = plan
    return plan
