"""Files for other programs. Each module answers how one format looks; `run` writes them."""
