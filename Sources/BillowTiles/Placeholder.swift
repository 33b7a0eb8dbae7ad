// BillowTiles
