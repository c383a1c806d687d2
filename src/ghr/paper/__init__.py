"""What the paper prints, made again: rows that are trained, and the tables and figures made of them."""
