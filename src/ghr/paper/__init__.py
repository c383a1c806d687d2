"""The paper's experiments: recipes that run them and figures that show them."""

from ghr.paper.recipe import DeepSpec, GHRSpec, MinPlusSpec, Recipe, RGGSpec

__all__ = ["DeepSpec", "GHRSpec", "MinPlusSpec", "RGGSpec", "Recipe"]
