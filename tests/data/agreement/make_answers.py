"""Answers of irrCAC and krippendorff to made-up ratings; not run by the tests.

Run with irrCAC 0.4.4 and krippendorff 0.9.0 installed (irrCAC pins old numpy, so it cannot stand
among the development dependencies): python make_answers.py > answers.json
"""

import json
from importlib.metadata import version

import krippendorff
import numpy as np
import pandas as pd
from irrCAC.raw import CAC

N_ITEMS, N_RATERS, N_CATEGORIES = 40, 4, 4


def ratings() -> np.ndarray:
    rng = np.random.default_rng(15)
    truth = rng.choice(N_CATEGORIES, size=N_ITEMS, p=[0.5, 0.25, 0.15, 0.1])
    noise = rng.choice(N_CATEGORIES, size=(N_ITEMS, N_RATERS))
    given = np.where(rng.random((N_ITEMS, N_RATERS)) < 0.7, truth[:, None], noise).astype(float)
    given[rng.random((N_ITEMS, N_RATERS)) < 0.2] = np.nan
    return given


def main() -> None:
    given = ratings()
    answers = {}
    for weights in ("identity", "linear", "quadratic"):
        cac = CAC(pd.DataFrame(given), weights=weights, digits=8)
        for name in ("gwet", "fleiss", "conger"):
            estimate = getattr(cac, name)()["est"]
            answers[f"{name} {weights}"] = [estimate["coefficient_value"], estimate["se"]]
    for metric in ("nominal", "ordinal", "interval"):
        answers[f"alpha {metric}"] = krippendorff.alpha(
            given.T, level_of_measurement=metric, value_domain=list(range(N_CATEGORIES))
        )
    coded = np.where(np.isnan(given), -1, given).astype(int).tolist()
    versions = {name: version(name) for name in ("irrCAC", "krippendorff")}
    print(json.dumps({"versions": versions, "ratings": coded, "answers": answers}, indent=1))


main()
