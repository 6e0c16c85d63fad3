"""Several workers at once: holder sets of every chunk, prices on the budgets, enumeration by labels.

The one-worker oracle answers for one worker while the others stand still. What is here answers for all of them (or
a chosen few) together, by a dynamic program over which workers hold each chunk: :mod:`~prefixplace.joint.states` says
what is still possible, :mod:`~prefixplace.joint.prices` bounds it, :mod:`~prefixplace.joint.enumeration` searches it.
"""
