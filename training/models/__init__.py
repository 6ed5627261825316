"""Language models: reference opponents, exact measures of their play, data sets for them."""
