"""The one pipeline: inputs -> placements -> tables -> columns -> `Scores`."""
