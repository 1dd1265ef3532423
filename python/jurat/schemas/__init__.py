"""Names at the places where programs of another origin look for them."""
