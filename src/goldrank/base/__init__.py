"""What everything stands on: errors, ids, notes, escaping, writing. Nothing here imports from above."""
