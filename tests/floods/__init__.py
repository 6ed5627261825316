"""What honest players keep while one stranger floods a host, beside what a bare aiohttp server keeps: `make floods`."""
