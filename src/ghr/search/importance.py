"""How much settings matter for the score, told from trials."""

import warnings
from collections.abc import Sequence

import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.importance import PedAnovaImportanceEvaluator, get_param_importances

from ghr.search.space import Choice, Range, Space, Trial


def weigh_settings(trials: Sequence[Trial], space: Space, *, higher_is_better: bool) -> dict[str, float]:
    """Return how much every setting matters for the score, in shares of one; empty where nobody can say yet.

    The trials may come from anywhere; those drawn at random tell most, since a search soon tries what is good only.

    Args:
        trials: The trials, each with a value for every setting; those that failed are passed over.
        space: What was chosen from.
        higher_is_better: Which scores are better.
    """
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(direction="maximize" if higher_is_better else "minimize")
    distributions = {name: distribution_of(values) for name, values in space.items()}
    for trial in trials:
        if trial.score is not None:
            params = {name: _encode(values, trial.chosen[name]) for name, values in space.items()}
            study.add_trial(optuna.create_trial(params=params, distributions=distributions, value=trial.score))
    return weigh_study(study)


def weigh_study(study: optuna.Study) -> dict[str, float]:
    """Return how much every setting of a study matters; see :func:`weigh_settings`."""
    scores = {trial.value for trial in study.get_trials(deepcopy=False) if trial.value is not None}
    if len(scores) < 2:
        return {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        return dict(get_param_importances(study, evaluator=PedAnovaImportanceEvaluator()))


def distribution_of(values: Range | Choice) -> BaseDistribution:
    """Return values to choose from as Optuna has them; of a choice, their texts."""
    if isinstance(values, Choice):
        return CategoricalDistribution(values.texts)
    if values.whole:
        return IntDistribution(int(values.low), int(values.high), log=values.log)
    return FloatDistribution(values.low, values.high, log=values.log)


def _encode(values: Range | Choice, value: object) -> object:
    return values.texts[[*values.values].index(value)] if isinstance(values, Choice) else value
