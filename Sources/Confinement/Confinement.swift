// Confinement
