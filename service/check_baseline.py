"""What a check compares with: a commit, read from git's objects, or a file that --write-baseline wrote."""

from __future__ import annotations

import re
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
    """The base that --baseline names: a commit, or a file that is there and no commit's name.

    Where there is none the budgets are checked without one, and a notice says why. Raises TokengapError
    where git refuses to say.
    """
    if _is_recording(named, git):
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


def _is_recording(named: str, git: Git | None) -> bool:
    """Whether a file is meant: its name ends in .json, or it is there and names no commit."""
    path = Path(named)
    if not named or not path.exists():
        return False
    return named.endswith(".json") or (path.is_file() and (git is None or git.commit(named) is None))


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
    if named.endswith(".json") or named.startswith(("./", "../", "/")):
        return f"there is no file {named!r}"
    from difflib import get_close_matches

    near = get_close_matches(named, git.refs(), n=1, cutoff=0.6)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    if shallow:
        hint = f"; this clone is shallow: {_deeper(named)} (fetch-depth: 0 of actions/checkout, GIT_DEPTH: 0 of GitLab)"
    return f"{named!r} is no commit of this clone{hint}"


def _deeper(named: str) -> str:
    """What brings a commit into a shallow clone: another repository knows branches, tags and whole hashes."""
    if back := re.fullmatch(r"(.+?)((?:[~^][0-9]*)+)", named):
        steps = sum(int(count or 1) if sign == "~" else 1 for sign, count in re.findall(r"([~^])([0-9]*)", back[2]))
        return f"fetch what is before {back[1]} with 'git fetch --deepen={steps}', or all history"
    if re.fullmatch(r"[0-9a-f]{4,39}", named):
        return (
            f"fetch all history with 'git fetch --unshallow', since only a whole hash can be fetched, and not {named}"
        )
    branch = named.removeprefix("refs/heads/").removeprefix("origin/")
    if not re.fullmatch(r"[\w./+-]+", branch) or branch == "HEAD" or branch.startswith("-"):
        return "fetch all history with 'git fetch --unshallow'"
    fetch = f"'git fetch --depth=1 origin {branch}' and --baseline FETCH_HEAD"
    return f"fetch the base first, with {fetch}, or all history"


def _unparted(named: str, *, shallow: bool) -> str:
    why = "this clone is shallow" if shallow else "their histories have nothing in common"
    hint = "; with more history (fetch-depth: 0) it would be compared with where they parted" if shallow else ""
    return f"compared with {named} itself, whose latest changes may be among the differences: {why}{hint}"


def _none(why: str) -> Found:
    return Found(None, (f"no base: {why}; only absolute limits are checked",))
