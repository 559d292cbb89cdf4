"""One module per view: a selection and parameters in, a typed result out. Pure over the store."""
