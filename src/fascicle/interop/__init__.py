"""Components of other tools that are made of predictors; each module needs its tool."""
