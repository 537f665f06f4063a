"""Reports the budgets of CONVENTIONS.md: lines per folder, function lengths, asserts, #if, long
lines. Enforces nothing.
"""

import ast
import pathlib
import re
import statistics

ROOT = pathlib.Path(__file__).resolve().parent.parent
FUNCTION = re.compile(r"^[A-Za-z_][^;={}#]*\)\s*\{\s*$")


def function_lengths(lines):
    """(name, lines) of each function: from a brace that ends an unindented line to the next
    unindented closing brace.
    """
    start = None
    for number, line in enumerate(lines):
        if start is None and FUNCTION.match(line):
            start = number
        elif start is not None and line.startswith("}"):
            name = re.search(r"(\w+)\s*\(", lines[start])
            yield (name[1] if name else "?"), number - start - 1
            start = None


def python_function_lengths(lines):
    tree = ast.parse("\n".join(lines))
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name, node.end_lineno - node.lineno


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(len(values) * share))] if values else 0


def folder_row(name, files, functions=function_lengths):
    texts = [path.read_text().splitlines() for path in files]
    lines = [line for text in texts for line in text]
    lengths = [n for text in texts for _, n in functions(text)]
    kloc = max(len(lines), 1) / 1000
    asserts = sum(bool(re.search(r"\b(assert|CTX_CHECK)\(", line)) for line in lines) / kloc
    ifs = sum(bool(re.match(r"\s*#\s*if", line)) for line in lines) / kloc
    wide = sum(len(line) > 100 for line in lines)
    longest = max((len(text) for text in texts), default=0)
    median = int(statistics.median(lengths)) if lengths else 0
    print(
        f"{name:12}{len(files):6}{len(lines):8}{longest:9}{len(lengths):6}{median:8}"
        f"{percentile(lengths, 0.9):6}{asserts:9.1f}{ifs:6.1f}{wide:6}"
    )


def main():
    folders = sorted(p for p in (ROOT / "src").iterdir() if p.is_dir())
    everything = sorted(p for p in (ROOT / "src").rglob("*") if p.suffix in (".c", ".h"))
    print(
        f"{'':12}{'files':>6}{'lines':>8}{'longest':>9}{'fns':>6}{'median':>8}{'p90':>6}"
        f"{'asserts/k':>9}{'#if/k':>6}{'>100':>6}"
    )
    for folder in folders:
        folder_row("src/" + folder.name, [p for p in everything if folder in p.parents])
    folder_row("src", everything)
    folder_row("test/ref", sorted((ROOT / "test/ref").glob("*.[ch]")))
    folder_row("test/unit", sorted((ROOT / "test/unit").glob("*.c")))
    folder_row("python", sorted((ROOT / "python").rglob("*.py")), python_function_lengths)
    print("\nlongest functions:")
    found = [
        (n, name, path)
        for path in everything
        for name, n in function_lengths(path.read_text().splitlines())
    ]
    for n, name, path in sorted(found, key=lambda f: (-f[0], f[1]))[:10]:
        print(f"  {n:5}  {name}  {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
