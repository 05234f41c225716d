"""Many subscriptions, many messages, many matches: as columns, without an object per row."""

from nearcast.batches.expression_column import ExpressionColumn
from nearcast.batches.matches import Matches
from nearcast.batches.messages import MessageBatch
from nearcast.batches.rejects import BadRows
from nearcast.batches.subscriptions import SubscriptionBatch

__all__ = ["BadRows", "ExpressionColumn", "Matches", "MessageBatch", "SubscriptionBatch"]
