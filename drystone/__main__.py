"""``python -m drystone``: the same as the command ``drystone``."""

from drystone.cli.main import main

if __name__ == "__main__":
    main()
