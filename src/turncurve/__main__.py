"""`python -m turncurve` is the command `turncurve`."""

from turncurve.cli.main import main

if __name__ == "__main__":
    main()
