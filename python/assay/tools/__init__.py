"""Tools for the tester and its models, outside every test: only the command line imports them.

``crosscheck`` measures a drive with our engine and with fio in turn, ``iostack`` traces I/Os to the device, ``simfit``
fits drive models. A drive, a folder or published figures enter. Records leave, with pages or a file of a drive model.
"""
