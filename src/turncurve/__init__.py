"""turncurve: does an AI agent get worse the longer it runs, where, how sure are we, and why?"""

__version__ = "0.1.0"
