"""The gate: is this server's answer a function of the request alone? Talks HTTP like any client."""
