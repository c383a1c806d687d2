"""The paper's experiments: recipes that run them, and the tables and figures made of them."""

from ghr.paper.recipe import DeepSpec, GHRSpec, GPSSpec, MinPlusSpec, Recipe, RecurrentSpec, RGGSpec

__all__ = ["DeepSpec", "GHRSpec", "GPSSpec", "MinPlusSpec", "RGGSpec", "Recipe", "RecurrentSpec"]
