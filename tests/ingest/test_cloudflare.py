"""Cloudflare's encrypted fields, encrypted here by the library's own words and read with the key, without, and with another."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from forensics.case.errors import MissingInput, UsageError
from forensics.ingest.cloudflare import key_of

pytest.importorskip("cryptography")
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.ciphers.aead import AESGCM


@pytest.fixture(scope="module")
def key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, 2048)


def encrypted(key: rsa.RSAPrivateKey, text: str) -> dict[str, str]:
    secret, iv = AESGCM.generate_key(256), b"123456789012"
    wrapped = key.public_key().encrypt(secret, padding.OAEP(padding.MGF1(hashes.SHA256()), hashes.SHA256(), None))
    data = AESGCM(secret).encrypt(iv, text.encode(), None)
    return {
        "type": "encrypted",
        **{n: base64.b64encode(v).decode() for n, v in (("key", wrapped), ("iv", iv), ("data", data))},
    }


def written(path: Path, key: object) -> Path:
    path.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())  # type: ignore[attr-defined]
    )
    return path


def line(key: rsa.RSAPrivateKey) -> str:
    row = {"Gateway": "gw", "Provider": "p", "Model": "m1", "StatusCode": 200, "Timestamp": "2026-03-04T05:06:08Z"}
    row["Metadata"] = encrypted(key, '{"tenant_id": "acme"}')
    row["RequestBody"] = encrypted(key, '{"messages": [{"role": "user", "content": "When does pier 4 open?"}]}')
    row["ResponseBody"] = encrypted(
        key, '{"id": "c-1", "choices": [{"message": {"content": "At six."}, "finish_reason": "stop"}]}'
    )
    return json.dumps(row) + "\n"


def test_a_private_key_opens_what_it_was_made_for(make_bench, tmp_path, key):
    bench = make_bench("with")
    bench.put("log.jsonl", line(key))
    pem = written(tmp_path / "key.pem", key)
    bench.run(private_keys=(pem,))
    (call,) = bench.joined().values()
    assert (call["request_id"], call["tenant_id"]) == ("c-1", "acme")
    assert bench.texts("c-1") == {"<messages[0].content": "When does pier 4 open?", "choices[0].content": "At six."}
    saved = json.dumps([row[2] for row in bench.case.rows("schema/stage_rows")])
    assert str(pem) not in saved
    assert "PRIVATE" not in saved


def test_without_the_key_and_with_another_it_stays_encrypted(make_bench, tmp_path, key):
    other = written(tmp_path / "other.pem", rsa.generate_private_key(65537, 2048))
    for name, keys in (("none", ()), ("other", (other,))):
        bench = make_bench(name)
        bench.put("log.jsonl", line(key))
        summary = bench.run(private_keys=keys)
        (call,) = bench.joined().values()
        assert (call["prompt_state"], call["response_state"], call["tenant_id"]) == ("encrypted", "encrypted", None)
        assert any("private key" in warning for warning in summary.warnings) == bool(keys)


def test_a_key_that_cannot_serve_is_refused(tmp_path):
    with pytest.raises(MissingInput):
        key_of(tmp_path / "none.pem")
    (tmp_path / "junk.pem").write_text("junk")
    with pytest.raises(UsageError, match="PEM"):
        key_of(tmp_path / "junk.pem")
    with pytest.raises(UsageError, match="RSA"):
        key_of(written(tmp_path / "curve.pem", ec.generate_private_key(ec.SECP256R1())))


def test_a_trial_of_a_profile_takes_a_key(tmp_path, key):
    from typer.testing import CliRunner

    from forensics.cli.main import app

    profile = tmp_path / "own.toml"
    profile.write_text(
        '[profile]\nname = "own"\nvantage = "gateway"\n[detect]\nkeys = ["/call", "/said"]\n'
        '[decode]\n"/said" = "cloudflare"\n[map]\nrequest_id = "/call"\n[response]\ncontent = "/said"\n'
    )
    (tmp_path / "log.jsonl").write_text(json.dumps({"call": "a-1", "said": encrypted(key, "At six.")}) + "\n")
    pem = written(tmp_path / "key.pem", key)
    call = ["profile", "test", str(profile), str(tmp_path / "log.jsonl"), "--json", "--reveal"]
    shut = CliRunner().invoke(app, call)
    assert shut.exit_code == 0, shut.output
    assert "At six." not in shut.output
    opened = CliRunner().invoke(app, [*call, "--private-key", str(pem)])
    assert opened.exit_code == 0, opened.output
    assert "At six." in opened.output
    assert str(pem) not in opened.output
    assert CliRunner().invoke(app, [*call, "--private-key", str(tmp_path / "none.pem")]).exit_code == 10
