"""Where graphs are kept and come from: a checked cache, downloads, and results of slow work."""
