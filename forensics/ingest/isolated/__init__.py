"""What runs in a process of its own, under limits, because the bytes it reads may be made to do harm."""
