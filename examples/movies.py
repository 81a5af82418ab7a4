"""Recommendations on data in the shape of MovieLens: split by time, remove what users had, compare two recommenders.

The data is made here, with as many popular films, tastes and dates as it takes; no file and no network is needed.
`userId, movieId, rating, timestamp` are the columns of MovieLens' ratings, `genres` those of its films.
"""

from __future__ import annotations

import numpy as np

import goldrank

GENRES = ("Drama", "Comedy", "Action", "Documentary")


def made_up(
    users: int = 200, films: int = 120, seed: int = 1
) -> tuple[list[tuple[str, str, float, int]], dict[str, str]]:
    """Ratings (userId, movieId, rating, timestamp), and the genre of each film."""
    rng = np.random.default_rng(seed)
    genre = {f"m{i}": GENRES[i % 4] for i in range(films)}
    popularity = 1 / (1 + np.arange(films)) ** 0.7
    rows = []
    for user in range(users):
        taste = rng.dirichlet(np.full(4, 0.6))
        weight = popularity * taste[np.arange(films) % 4]
        seen = rng.choice(films, 20, replace=False, p=weight / weight.sum())
        for at, film in enumerate(seen.tolist()):
            liked = 2.5 + 2.5 * taste[film % 4] + rng.normal(0, 0.5)
            rows.append((f"u{user}", f"m{film}", float(np.clip(round(2 * liked) / 2, 0.5, 5)), 1_000 * at + user))
    return rows, genre


def main() -> None:
    """Evaluate the most popular films for everybody against the popular films of each user's genres."""
    ratings, genre = made_up()
    cut = 14_000  # a point in time: what came before is known, what came after is asked for
    train = [row for row in ratings if row[3] < cut]
    test: dict[str, dict[str, int]] = {}
    for user, film, rating, time in ratings:
        if time >= cut and rating >= 3.5:  # the threshold is ours to choose
            test.setdefault(user, {})[film] = 1

    counts: dict[str, int] = dict.fromkeys(genre, 0)
    shares: dict[str, dict[str, int]] = {}
    for user, film, *_ in train:
        counts[film] += 1
        shares.setdefault(user, dict.fromkeys(GENRES, 0))[genre[film]] += 1
    popular = {user: {film: float(counts[film]) for film in genre} for user in test}
    by_genre = {
        user: {film: counts[film] * (0.1 + shares.get(user, {}).get(genre[film], 0)) for film in genre} for user in test
    }
    catalogue = goldrank.Catalogue(
        genre,
        train=[(user, film) for user, film, *_ in train],
        genres=genre,
        vectors={film: [float(name == genre[film]) for name in GENRES] for film in genre},
    )
    measures = ["nDCG@10", "HR@10", "R@50", "ItemCoverage@10", "Gini@10", "Novelty@10", "ILD@10", "Calibration@10"]
    runs = goldrank.Runs({"popular": popular, "by genre": by_genre})
    found = goldrank.evaluate(test, runs, measures, catalogue=catalogue)
    for scores in found.values():
        print(scores, "\n")
    assert found["by genre"]["nDCG@10"] > found["popular"]["nDCG@10"]
    assert found["by genre"]["Calibration@10"] < found["popular"]["Calibration@10"]
    assert any(note.code == "seen-removed" for note in found["popular"].notes)
    decided = goldrank.compare(found, primary="nDCG@10")
    print(decided["nDCG@10", "popular", "by genre"].words)


if __name__ == "__main__":
    main()
