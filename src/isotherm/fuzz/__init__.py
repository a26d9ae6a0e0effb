"""Random schedules against the contract: each request as in a crowd, and alone on a fresh engine with caching off."""
