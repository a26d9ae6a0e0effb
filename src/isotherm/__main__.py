"""`python -m isotherm`."""

from isotherm.cli.main import main

if __name__ == "__main__":
    main()
