"""Pages that show what a model does on a graph, step by step."""

from ghr.view.page import Page, make_page
from ghr.view.scene import Subject

__all__ = ["Page", "Subject", "make_page"]
