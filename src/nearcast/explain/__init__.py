"""Why does a subscription want a message, or why not?"""

from nearcast.explain.match import ClauseExplanation, Explanation, explain

__all__ = ["ClauseExplanation", "Explanation", "explain"]
