"""HTTP: OpenAI's endpoints over an engine client. Tensors and the engine's insides are never seen here."""
