"""One module per exact back-end; :data:`exact.BACKENDS` finds them."""
