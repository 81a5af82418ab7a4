"""Python objects: mappings, lists of ids, arrays, objects with fields."""
