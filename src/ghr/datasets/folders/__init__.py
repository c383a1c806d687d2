"""A user's own graphs: from tables, GraphML or PyG files to graphs and a task, and back to a table of predictions."""

from ghr.datasets.folders.folder import FolderData
from ghr.datasets.folders.numbering import Names
from ghr.datasets.folders.predictions import write_predictions
from ghr.datasets.folders.read import read_folder
from ghr.datasets.folders.schema import Column, Schema

__all__ = ["Column", "FolderData", "Names", "Schema", "read_folder", "write_predictions"]
