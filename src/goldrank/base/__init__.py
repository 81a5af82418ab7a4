"""The lowest layer: errors, ids, notes, escaping, writing. It imports nothing from the layers above."""
