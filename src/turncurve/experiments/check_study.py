"""Whether a study could be carried out: all that it names is there and can be loaded."""

from __future__ import annotations

from pathlib import Path

from turncurve.errors import RuleError, StudyError
from turncurve.experiments.accept import Acceptances
from turncurve.experiments.callable_agent import load_target
from turncurve.experiments.stage_study import StageStudy
from turncurve.experiments.stage_study_file import load_study
from turncurve.experiments.study_files import study_files


def checked_study(path: Path) -> StageStudy:
    """The study of a file, once its files are found and its functions loaded.

    Raises:
        StudyError: It does not say what it should, or something that it names is not there.
    """
    study = load_study(path)
    study_files(path, study)
    try:
        Acceptances(study)
    except RuleError as problem:
        raise StudyError(f"{path}: {problem}") from problem
    if study.agent.target is not None:
        load_target(study.agent.target, study.folder)
    return study
