from __future__ import annotations

import re
from pathlib import Path

from case_builder import small_case

from forensics.case.pseudonyms import assign, load_pseudonyms

KEY = bytes(range(32))


def test_codes_do_not_depend_on_order_and_never_collide() -> None:
    # 40,000 values in a space of 32,768 three-letter codes: most of them must collide at first.
    values = [f"worker {i}" for i in range(40_000)]
    codes = assign(KEY, "W", values)
    assert len(set(codes.values())) == len(values)
    assert codes == assign(KEY, "W", reversed(values))


def test_codes_look_like_codes() -> None:
    tenants = assign(KEY, "T", ["alpha", "../../x"])
    assert all(re.fullmatch(r"T-[0-9A-HJKMNP-TV-Z]{4}", code) for code in tenants.values())
    assert all(re.fullmatch(r"R-[0-9A-HJKMNP-TV-Z]{6}", code) for code in assign(KEY, "R", ["x"]).values())


def test_the_key_follows_the_evidence_and_is_kept(tmp_path: Path) -> None:
    with small_case().write(tmp_path / "one") as case:
        first = load_pseudonyms(case)
        path = case.root / "restricted/pseudonym.key"
        assert path.stat().st_mode & 0o777 == 0o600
        path.write_text("ab" * 32)
        assert load_pseudonyms(case).tenants != first.tenants
    with small_case().write(tmp_path / "two") as case:
        assert load_pseudonyms(case) == first
    other = small_case()
    other.requests[0]["record_digest"] = "another"
    with other.write(tmp_path / "three") as case:
        assert load_pseudonyms(case).tenants != first.tenants
