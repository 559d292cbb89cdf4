"""The backend: discovery, readers, store, views, HTTP."""
