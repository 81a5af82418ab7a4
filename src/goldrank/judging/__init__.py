"""Ask models for judgements: prompts, judges, and the job that asks them without losing or repeating anything."""
