"""`isotherm eval`: how well a model calls tools, measured on cases with answers that a machine can check."""
