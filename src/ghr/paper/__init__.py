"""The paper's experiments: recipes that run them, and the tables and figures made of them."""

from ghr.paper.data_specs import RGGSpec
from ghr.paper.model_specs import DeepSpec, GHRSpec, GPSSpec, MinPlusSpec, RecurrentSpec
from ghr.paper.recipe import Recipe

__all__ = ["DeepSpec", "GHRSpec", "GPSSpec", "MinPlusSpec", "RGGSpec", "Recipe", "RecurrentSpec"]
