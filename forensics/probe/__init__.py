"""A recorder for SGLang: who sat in which slot, batch and prefix, when. An SGLang plugin (`sglang.srt.plugins`).

Installable alone (`pip install ./forensics/probe`), needs nothing but SGLang, writes nothing until `SLOT_PROBE_DIR`
names a folder. It records ids, numbers and times; never a prompt or an answer. docs/probe.md says what to switch on.
"""

__version__ = "1.0.0"
