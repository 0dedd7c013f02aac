"""``python -m assay.cli`` is ``assay``: it is there in every installation, and the program of that name is not."""

from assay.cli import main

if __name__ == "__main__":
    main()
