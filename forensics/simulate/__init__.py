"""An engine and traffic that leak on purpose, with ground truth. Shares no code with attribution or text."""
