"""Where the numbers of a SURFACE geom lie, and the operations of a tape.

| place | meaning |
|---|---|
| 0 | address of ``support_point`` in this process |
| 1 | radius about the frame's origin that holds the surface [m] |
| 2 | form: IMPLICIT, DERIVED (implicit, its derivatives given), PARAMETRIC or SUPPORT |
| 3 | +1, or -1 if S_u x S_v points inwards |
| 4, 5 | rows of the table, length of the tape: 0 if there is a function of Python's instead |
| 6 ... | registers of the results: F; F, its gradient and Hessian; x, y, z; or h(d) |
| 6, 7 | without a tape: address of what answers, and number of the function, in this process |
| 16 ... | table (k, 5): points of the surface and their parameters u, v; then the tape |
"""

ADDRESS, RADIUS, FORM, SIGN, TABLE_ROWS, LENGTH, RESULT, TABLE = 0, 1, 2, 3, 4, 5, 6, 16  # places
IMPLICIT, DERIVED, PARAMETRIC, SUPPORT = 0, 1, 2, 3  # forms
COLUMNS = 5  # of the table

# a jet: the value, and its derivatives by the variables 1, 2, 3: x, y, z, or u, v
VALUE, D1, D2, D3, D11, D12, D13, D22, D23, D33 = range(10)
NJ = 10  # its numbers
CONSTANT, VARIABLE, ADD, SUBTRACT, MULTIPLY, INVERSE, POWER, LARGER, SMALLER = range(9)
SQRT, EXP, LOG, SIN, COS, TAN, ARCTAN, SINH, COSH, TANH, ABS = range(20, 31)
