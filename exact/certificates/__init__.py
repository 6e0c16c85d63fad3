"""Certificates: a plan and a dual bound that anyone can check in exact arithmetic, without a solver."""
