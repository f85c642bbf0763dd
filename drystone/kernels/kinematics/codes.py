"""What the surface of a geom is like at a contact point, and what is special about a contact."""

# feature of one side
SMOOTH, FACE, EDGE, RIM, VERTEX = 0, 1, 2, 3, 4

# bits of one side
ON_FACE = 1  # the normal is that of a face that the point lies on, or on the border of
AT_BORDER = 2  # within NEAR of where one piece of the surface ends
OFF = 4  # the normal is none of the surface's at that point: a point fixed in the body

# bits of a contact
SINGULAR, ILL, DEGENERATE, BORDER, NOT_EXTREMAL = 1, 2, 4, 8, 16

NEAR = 1e-7  # of a geom's size: closer than this is on an edge or at a vertex
STEEP = 1e-7  # sine of an angle: flatter than this is flat
ROUND = 1e-11  # of a geom's size: rounding of where one piece of a surface ends
