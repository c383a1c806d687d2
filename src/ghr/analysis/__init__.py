"""What a trained model does: how far it looks, by the influence of nodes at a distance, and whether it settles."""

from ghr.analysis.exchange import measure_exchange
from ghr.analysis.hops import count_hops
from ghr.analysis.jacobian import measure_influence
from ghr.analysis.profile import Profile
from ghr.analysis.range import Trained, measure_range, range_of
from ghr.analysis.settling import Settling, measure_settling

__all__ = [
    "Profile",
    "Settling",
    "Trained",
    "count_hops",
    "measure_exchange",
    "measure_influence",
    "measure_range",
    "measure_settling",
    "range_of",
]
