"""The HTTP API: publish, subscribe, ask; GeoJSON in and out."""
