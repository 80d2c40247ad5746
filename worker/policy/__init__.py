"""What an agent may do: rules, how a call is judged by them, and who is asked. Knows no file, tool or front end."""
