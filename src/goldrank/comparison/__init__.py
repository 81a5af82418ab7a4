"""Scores -> Comparison: is B better than A, by how much, how sure is it, and what moved?"""
