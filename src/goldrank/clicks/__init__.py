"""Clicks -> judgements: one click model for each file, all behind `judgements_from_clicks`."""

from goldrank.clicks.judgements import MODELS, ClickJudgements, judgements_from_clicks

__all__ = ["MODELS", "ClickJudgements", "judgements_from_clicks"]
