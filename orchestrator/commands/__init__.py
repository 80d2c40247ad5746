"""What a person tells covey at whichever screen: commands, what is done at them, what completes a line.

`typed` is how they are written, `carrying_out` does them, `informing` answers in lines; `completing`, `files` and
`history_file` help to type, `talking` is what a screen takes for granted of a session. Nothing here knows a screen.
"""
