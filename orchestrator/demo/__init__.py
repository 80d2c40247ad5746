"""`covey demo`: a delegating turn on a sample repository, played by the scripted endpoint over real HTTP."""
