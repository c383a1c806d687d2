"""A search for good settings, by many processes at once and over as many sittings as it takes."""

from ghr.search.importance import weigh_settings
from ghr.search.journal import Journal
from ghr.search.search import Search, with_default_space
from ghr.search.space import DEFAULT_SPACE, Choice, Range, Space, Trial
from ghr.search.work import open_search, work

__all__ = [
    "DEFAULT_SPACE",
    "Choice",
    "Journal",
    "Range",
    "Search",
    "Space",
    "Trial",
    "open_search",
    "weigh_settings",
    "with_default_space",
    "work",
]
