"""Test code: makes an SGLang engine leak on purpose, and writes down what it did. Never install it anywhere else."""
