"""Values that every room shares: requests, passes, results, configuration, errors. No torch."""
