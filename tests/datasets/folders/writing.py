"""Small folders for tests."""

from pathlib import Path

NODES = "graph,node,size,element\nm1,a,1.5,C\nm1,b,2.5,H\nm2,a,3,O\nm2,b,4,C\nm2,c,5,H\n"
EDGES = "graph,source,target,kind\nm1,a,b,single\nm2,a,b,double\nm2,b,c,single\n"
GRAPHS = "graph,energy\nm2,-3.5\nm1,2\n"


def write(folder: Path, *, nodes: str | None = None, edges: str | None = EDGES, graphs: str | None = None) -> Path:
    """Write the files that are given into a folder, and return it."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (("nodes", nodes), ("edges", edges), ("graphs", graphs)):
        if text is not None:
            (folder / f"{name}.csv").write_text(text, encoding="utf-8")
    return folder
