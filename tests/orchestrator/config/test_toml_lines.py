"""Pure. On which line of a TOML file each key stands."""

import tomllib

from hypothesis import given
from hypothesis import strategies as st

from orchestrator.config.toml_lines import lines_of_keys

TEXT = '''\
# a comment
top = 1

[endpoint]
url = "x"   # another
"odd key" = [
  1,
  2,
]
text = """
[no.header]
no = "key"
"""
[prices."box/m-1"]
input = 3
a.b = { c = 1 }

[[list]]
x = 1
[[list]]
x = 2
'''


def test_every_key_has_the_line_on_which_it_begins() -> None:
    assert lines_of_keys(TEXT) == {
        ("top",): 2,
        ("endpoint",): 4,
        ("endpoint", "url"): 5,
        ("endpoint", "odd key"): 6,
        ("endpoint", "text"): 10,
        ("prices",): 14,
        ("prices", "box/m-1"): 14,
        ("prices", "box/m-1", "input"): 15,
        ("prices", "box/m-1", "a"): 16,
        ("prices", "box/m-1", "a", "b"): 16,
        ("prices", "box/m-1", "a", "b", "c"): 16,
        ("list",): 18,
        ("list", "x"): 19,
    }
    tomllib.loads(TEXT)


names = st.from_regex(r"[a-z]{1,4}", fullmatch=True)


@given(st.dictionaries(names, st.dictionaries(names, st.integers(0, 9), min_size=1), min_size=1))
def test_each_line_found_is_the_line_written(tables: dict[str, dict[str, int]]) -> None:
    lines: list[str] = []
    wanted: dict[tuple[str, ...], int] = {}
    for table, keys in tables.items():
        lines += ["", f"[{table}]"]
        wanted[table,] = len(lines)
        for key, value in keys.items():
            lines.append(f"{key} = {value}")
            wanted[table, key] = len(lines)
    assert lines_of_keys("\n".join(lines)) == wanted
