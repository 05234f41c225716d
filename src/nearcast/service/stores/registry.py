"""The database of tokens and subscriptions."""

from __future__ import annotations

from nearcast.pipeline.log.database import Database
from nearcast.service.data_folder import DataFolder
from nearcast.service.stores.subscriptions import SUBSCRIPTION_TABLES
from nearcast.service.stores.tokens import TOKEN_TABLES


def open_registry(folder: DataFolder) -> Database:
    """Open it, or make it."""
    return Database(folder.registry, "registry", (*TOKEN_TABLES, *SUBSCRIPTION_TABLES), {})
