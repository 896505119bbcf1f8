"""The fake engine, hooked as SGLang's registry hooks."""

from __future__ import annotations

from tests.support.fake_sglang import engine

__all__ = ["engine"]
