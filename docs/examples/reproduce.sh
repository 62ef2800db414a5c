# full
# Six claims of the paper, and what layers cost; the numbers of parameters of Table 3.
dragoman reproduce checks --scale tiny
dragoman reproduce table1 --scale tiny --out table1
dragoman reproduce table3 --params

# A rehearsal of a table that trains; the second call shows what the first has found.
dragoman reproduce table2 --scale tiny
dragoman reproduce table2 --scale tiny
