"""How problems are solved: one method per file, one contract (``base``), one entry (``solve``)."""
