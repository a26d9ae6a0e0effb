"""Two matrices side by side: row m of the result is a[m] and then b[m]. Bits are only copied."""
