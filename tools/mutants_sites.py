"""What can be changed in a C file: one operator, constant or condition at a time, and blocks that
tell whether a test comes by.

The syntax tree (tree-sitter) says what is an operator, so comments, strings, types, directives and
assertions stay as they are.
"""

import dataclasses
import hashlib
import re

import tree_sitter
import tree_sitter_c

OPERATORS = {
    "<": ["<=", ">"],
    "<=": ["<", ">="],
    ">": [">=", "<"],
    ">=": [">", "<="],
    "==": ["!="],
    "!=": ["=="],
    "&&": ["||"],
    "||": ["&&"],
    "+": ["-"],
    "-": ["+"],
    "*": ["/"],
    "/": ["*"],
    "%": ["/"],
    "<<": [">>"],
    ">>": ["<<"],
    "&": ["|"],
    "|": ["&"],
    "^": ["&"],
    "+=": ["-="],
    "-=": ["+="],
    "*=": ["/="],
    "/=": ["*="],
    "&=": ["|="],
    "|=": ["&="],
    "++": ["--"],
    "--": ["++"],
    "<<=": [">>="],
    ">>=": ["<<="],
}
WORDS = {"true": "false", "false": "true"}
# What only proves something, and what is room and no value.
ASSERTIONS = re.compile(r"^(\w*assert|\w*CHECK|\w*check_failed)$", re.IGNORECASE)
LEFT_ALONE = {"array_declarator", "preproc_if", "preproc_ifdef", "preproc_include", "ERROR"}
BODIES = ("if_statement", "else_clause", "for_statement", "while_statement", "do_statement")
AROUND = {
    *BODIES,
    "function_definition",
    "compound_statement",
    "case_statement",
    "labeled_statement",
}
PARSER = tree_sitter.Parser(tree_sitter.Language(tree_sitter_c.language()))


@dataclasses.dataclass(frozen=True)
class Mutant:
    """Bytes start..end of the file at `path` read `new` instead of `old`."""

    path: str
    start: int
    end: int
    old: str
    new: str
    number: int  # of the line
    function: str
    line: str
    nth: int = 1  # of those that say the same of the same line

    @property
    def key(self):
        """Stays the same where the file moves or lines come before it."""
        which = f" ({self.nth})" if self.nth > 1 else ""
        return f"{self.function}: {self.line} | {self.old} -> {self.new}{which}"

    def apply(self, source):
        return source[: self.start] + self.new.encode() + source[self.end :]


def is_assertion(node):
    function = node.child_by_field_name("function")
    return (
        node.type == "call_expression"
        and function is not None
        and bool(ASSERTIONS.match(function.text.decode()))
    )


def number_changes(text):
    """Of a literal: one more, one less; twice a fraction."""
    if text == "0":
        return ["1"]
    is_hex = "0x" in text.lower()
    if re.search(r"[.pP]" if is_hex else r"[.eE]", text):
        return ["1.0"] if re.fullmatch(r"[0.]+[fFlL]?", text) else [f"({text} * 2)"]
    return [f"({text} + 1)", f"({text} - 1)"]


def condition_of(node):
    """The node of a statement's condition without its parentheses."""
    condition = node.child_by_field_name("condition")
    if condition is not None and condition.type == "parenthesized_expression":
        condition = condition.named_children[0] if condition.named_children else None
    return condition


def changes_at(node):
    """(node, new texts) of what this node holds."""
    if node.type in ("binary_expression", "assignment_expression", "update_expression"):
        operator = node.child_by_field_name("operator")
        if operator is not None:
            yield operator, OPERATORS.get(operator.text.decode(), [])
    elif node.type == "unary_expression":
        operator = node.child_by_field_name("operator")
        if operator is not None and operator.text in (b"!", b"-", b"~"):
            yield operator, [""]
    elif node.type == "number_literal":
        yield node, number_changes(node.text.decode())
    elif node.type in WORDS:
        yield node, [WORDS[node.type]]
    elif node.type in ("if_statement", "conditional_expression"):
        yield condition_of(node), ["1", "0"]
    elif node.type in ("while_statement", "for_statement"):
        yield condition_of(node), ["0"]


def function_name(node):
    declarator = node.child_by_field_name("declarator")
    while declarator is not None and declarator.type != "identifier":
        inner = declarator.child_by_field_name("declarator")
        declarator = inner if inner is not None else next(iter(declarator.named_children), None)
    return declarator.text.decode() if declarator is not None else "?"


def walk(node, function="-"):
    """(node, name of the function around it), without what is left alone."""
    if node.type == "function_definition":
        function = function_name(node)
    yield node, function
    for child in node.children:
        if child.type not in LEFT_ALONE and not is_assertion(child):
            yield from walk(child, function)


def mutants(path, source):
    """All of the file, in the order of their places."""
    lines, seen, found = source.split(b"\n"), {}, []
    for node, function in walk(PARSER.parse(source).root_node):
        for place, texts in changes_at(node):
            if place is None or place.is_missing or place.type in WORDS and place is not node:
                continue
            row, old = place.start_point.row, " ".join(place.text.decode().split())
            line = " ".join(lines[row].decode().split())
            for new in texts:
                said = (function, line, old, new)
                seen[said] = seen.get(said, 0) + 1
                where = (path, place.start_byte, place.end_byte)
                found.append(Mutant(*where, old, new, row + 1, function, line, seen[said]))
    return sorted(found, key=lambda m: (m.start, m.end, m.new))


def rank(seed, text):
    return hashlib.sha256(f"{seed}|{text}".encode()).digest()


def in_order_of_seed(seed, found):
    """One of each place, shuffled. A change elsewhere moves no mutant out of the order."""
    places = {}
    for m in found:
        best = places.get((m.path, m.start, m.end))
        if best is None or rank(seed, m.key) < rank(seed, best.key):
            places[(m.path, m.start, m.end)] = m
    return sorted(places.values(), key=lambda m: rank(seed, m.key))


# ---- blocks ----
def block_starts(root):
    """(where a mark goes, from, to, whether it needs braces) of each block of statements."""
    for node, _ in walk(root):
        if node.type == "compound_statement" and node.parent.type in AROUND:
            yield node.start_byte + 1, node.start_byte, node.end_byte, False
        elif node.type == "case_statement":
            colon = next((c for c in node.children if c.type == ":"), None)
            after = [c for c in node.named_children if colon and c.start_byte > colon.start_byte]
            if after:
                yield colon.end_byte, node.start_byte, node.end_byte, False
        elif node.type in BODIES:
            for body in node.named_children[-1:]:
                is_body = body.type.endswith("_statement") and body.type not in (
                    "compound_statement",
                    "if_statement" if node.type == "else_clause" else "",
                )
                if is_body:
                    yield body.start_byte, body.start_byte, body.end_byte, True
        if node.type == "if_statement":
            body = node.child_by_field_name("consequence")
            if (
                body is not None
                and body.type != "compound_statement"
                and body != node.named_children[-1]
            ):
                yield body.start_byte, body.start_byte, body.end_byte, True


def with_marks(source, first):
    """(the source that notes which blocks run, [(from, to)] of block first, first + 1, ...)."""
    edits, blocks = [], []
    for at, start, end, braces in block_starts(PARSER.parse(source).root_node):
        mark = f" mutants_hit[{first + len(blocks)}] = 1; ".encode()
        blocks.append((start, end))
        edits.append((at, 1, b"{" + mark if braces else mark))
        if braces:
            edits.append((end, 0, b"}"))
    out, last = [b"extern unsigned char mutants_hit[];\n"], 0
    for at, _, text in sorted(edits, key=lambda e: (e[0], e[1])):
        out += [source[last:at], text]
        last = at
    return b"".join([*out, source[last:]]), blocks


def block_of(blocks, mutant):
    """Index of the smallest block around the mutant; None outside of functions."""
    around = [
        (end - start, i)
        for i, (start, end) in enumerate(blocks)
        if start <= mutant.start and mutant.end <= end
    ]
    return min(around)[1] if around else None
