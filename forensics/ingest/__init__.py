"""Evidence files to records to the tables of the case. `run.run` is the stage; `docs/formats.md` says what is read."""
