"""Scores, rules and a baseline -> `Verdict`: may this run pass?"""
