"""The offline page: replays packed into one HTML file that needs no network and no server."""
