"""Pure kernels on text: fold, fingerprint, tokens, runs, background, match, safe_text. No I/O, no SQL, no clock."""
