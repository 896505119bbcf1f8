"""Findings against ground truth: how much was found, how much was invented, who was named rightly."""
