"""Text to tokens and back: tokenizer, chat templates, detokenizer, stop strings, and output parsed to answers and calls."""
