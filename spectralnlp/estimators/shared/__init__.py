"""Building blocks that several families of estimators share."""
