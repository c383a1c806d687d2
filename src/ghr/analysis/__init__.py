"""How far a trained model really looks: the influence of nodes by distance, and the range measured with it."""

from ghr.analysis.hops import count_hops
from ghr.analysis.jacobian import measure_influence
from ghr.analysis.profile import Profile
from ghr.analysis.range import Trained, measure_range, range_of

__all__ = ["Profile", "Trained", "count_hops", "measure_influence", "measure_range", "range_of"]
