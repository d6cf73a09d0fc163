// Stores
