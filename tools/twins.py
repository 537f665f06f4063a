"""Code of `src` that stands there twice: the same tokens, whatever the names are.

    python tools/twins.py                     the 40 longest
    python tools/twins.py --least 60 --most 0 all of 60 tokens or more
    python tools/twins.py src/pass src/split  of some folders

A line per pair: tokens, the share of these that are the same as written, both places. Names, numbers
and texts count as one token each; pairs that share less than --alike of them are left out, for
tables are alike that say different things.
"""

import argparse
import collections
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[1]
TOKEN = re.compile(
    r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\])+\'|[A-Za-z_]\w*|\d[\w.]*|->|\+\+|--|&&|\|\||[<>=!+*/%&|^-]=|<<|>>|\S'
)
KEPT = set("if else for while do return switch case default break continue struct static const".split())
NO_CODE = re.compile(r"/\*.*?\*/|//[^\n]*|^#[^\n]*(?:\\\n[^\n]*)*", re.S | re.M)


def kind_of(word):
    """What stands for the token."""
    if word[0] in "\"'" or word[0].isdigit():
        return "0"
    return "name" if re.match(r"[A-Za-z_]", word) and word not in KEPT else word


def tokens_of(path):
    """(kind, word, path, line) of every token; ends with one that no other file has."""
    text = NO_CODE.sub(lambda m: "\n" * m[0].count("\n"), path.read_text())
    line = at = 0
    for m in TOKEN.finditer(text):
        line, at = line + text.count("\n", at, m.start()), m.start()
        yield kind_of(m[0]), m[0], path, line + 1
    yield str(path), "", path, line + 1


def twins_of(tokens, least):
    """(length, first, second) of pairs that can't be longer."""
    kinds, places = [t[0] for t in tokens], collections.defaultdict(list)
    for i in range(len(kinds) - least):
        places[tuple(kinds[i : i + least])].append(i)
    for same in places.values():
        for n, i in enumerate(same):
            for j in same[n + 1 :]:
                if j < i + least or (i and kinds[i - 1] == kinds[j - 1]):
                    continue
                length = least
                while i + length < j and kinds[i + length] == kinds[j + length]:
                    length += 1
                yield length, i, j


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="*", type=pathlib.Path, default=[ROOT / "src"])
    parser.add_argument("--least", type=int, default=40, help="tokens")
    parser.add_argument("--most", type=int, default=40, help="pairs; 0: all")
    parser.add_argument("--alike", type=float, default=0.85)
    args = parser.parse_args()
    files = sorted(f for folder in args.folders for f in folder.rglob("*.[ch]"))
    tokens, rows = [t for f in files for t in tokens_of(f)], []
    for length, i, j in twins_of(tokens, args.least):
        alike = sum(tokens[i + k][1] == tokens[j + k][1] for k in range(length)) / length
        if alike >= args.alike:
            rows.append((length, alike, *("{2}:{3}".format(*tokens[at]) for at in (i, j))))
    for length, alike, *places in sorted(rows, reverse=True)[: args.most or None]:
        print(f"{length:4} {alike:.2f}  {places[0]}  {places[1]}")


if __name__ == "__main__":
    main()
