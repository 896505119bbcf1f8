"""Forensics for leaked LLM responses. Import the rooms you need; importing this package loads nothing else."""

__version__ = "0.1.0"
