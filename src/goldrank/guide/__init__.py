"""Which measures to take, and what to beware of."""
