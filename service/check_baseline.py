"""What a check compares with: a commit, read from git's objects, or a file that --write-baseline wrote."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

from ..estimators.budget_baseline import Base, TreeBase
from .check_files import CommitTree, WorkTree
from .git import Blobs, Git, NotHereError
from .inputs import read_text


class Found(NamedTuple):
    """The base, ``None`` where there is none, and what to say of it."""

    base: Base | None
    notices: tuple[str, ...] = ()


def find_baseline(named: str, git: Git | None, blobs: Blobs, work: WorkTree) -> Found:
    """The base that --baseline names: a JSON file that is there, or a commit.

    Where there is none the budgets are checked without one, and a notice says why. Raises TokengapError
    where git refuses to say.
    """
    if named.endswith(".json") and Path(named).exists():
        from ..estimators.budget_recording import read_recording

        return Found(read_recording(read_text(named), named))
    if git is None:
        return _none(f"there is no git repository here, or no git to look for {named!r} in it")
    try:
        return _commit(named, git, blobs, work)
    except NotHereError as error:
        if not git.is_partial():
            raise
        return _none(f"{error}, in a clone that is partial; fetch it whole, without a filter")


def _commit(named: str, git: Git, blobs: Blobs, work: WorkTree) -> Found:
    if not named.strip("0 "):
        return _none("the base is empty, as in the first push of a branch")
    commit = git.commit(named)
    shallow = git.is_shallow()
    if commit is None:
        return _none(_absent(named, git, shallow=shallow))
    parted = git.merge_base(commit)
    notices = () if parted else (_unparted(named, shallow=shallow),)
    compared = parted or commit
    tree = CommitTree(git.tree(compared), blobs, work)
    name = f"{named} ({compared[:7]})" if not compared.startswith(named) else compared[:7]
    return Found(TreeBase(name, tree, git.renames(compared)), notices)


def _absent(named: str, git: Git, *, shallow: bool) -> str:
    if named.endswith(".json"):
        return f"there is no file {named!r}"
    near = get_close_matches(named, git.refs(), n=1, cutoff=0.6)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    if shallow:
        branch = named.removeprefix("origin/")
        hint = (
            f"; this clone is shallow: fetch the base first, with 'git fetch --depth=1 origin {branch}' and "
            "--baseline FETCH_HEAD, or all history (fetch-depth: 0 of actions/checkout, GIT_DEPTH: 0 of GitLab)"
        )
    return f"{named!r} is no commit of this clone{hint}"


def _unparted(named: str, *, shallow: bool) -> str:
    why = "this clone is shallow" if shallow else "their histories have nothing in common"
    hint = "; with more history (fetch-depth: 0) it would be compared with where they parted" if shallow else ""
    return f"compared with {named} itself, whose latest changes may be among the differences: {why}{hint}"


def _none(why: str) -> Found:
    return Found(None, (f"no base: {why}; only absolute limits are checked",))
