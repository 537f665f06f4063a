"""What can be changed in a C file: one operator, constant or condition at a time; marks that tell
whether a test comes by, and switches that hold many mutants in one program (mutant schemata).

The syntax tree (tree-sitter) says what is an operator, so comments, strings, types, directives and
assertions stay as they are. A switch is the expression with the mutant beside it, chosen by a
number that the program reads when it starts:

    a + b       (mutants_is(7) ? (a - b) : (a + b))
    a < b       ({ l = a; r = b; mutants_hit[7] |= (l < r) != (l <= r); 7 ? l <= r : l < r; })

The second form marks only runs in which the mutant has another value. Source: Untch, Offutt,
Harrold, Mutation analysis using mutant schemata, ISSTA 1993.
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
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
EXPRESSIONS = (
    "binary_expression",
    "assignment_expression",
    "update_expression",
    "unary_expression",
)
CONSTANT = ("enumerator", "bitfield_clause", "subscript_designator")  # where C wants a constant
EFFECTS = ("call_expression", "assignment_expression", "update_expression")
HEADER = (
    b"extern unsigned char mutants_hit[]; extern int mutants_number;\n"
    b"#define mutants_is(n) (mutants_hit[n] = 1, mutants_number == (n))\n"
    b"#line 1\n"
)
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


def mark_edits(root, first):
    """([(from, to, order, text)], [(from, to)] of block first, first + 1, ...)."""
    edits, blocks = [], []
    for at, start, end, braces in block_starts(root):
        mark = f" mutants_hit[{first + len(blocks)}] = 1; ".encode()
        blocks.append((start, end))
        edits.append((at, at, opens(1 << 30), b"{" + mark if braces else mark))
        if braces:
            edits.append((end, end, closes(1 << 30), b"}"))
    return edits, blocks


# ---- switches ----
def opens(size, nth=0):
    """Order of what is put in at one place: ends first, the inner one before the outer."""
    return 1, -size, nth


def closes(size, nth=0):
    return 0, size, -nth


def expression_of(root, mutant):
    """The smallest expression that has the mutant in it."""
    node = root.descendant_for_byte_range(mutant.start, mutant.end)
    if node.parent.type in EXPRESSIONS and node == node.parent.child_by_field_name("operator"):
        return node.parent
    return node


def is_switchable(node):
    """Whether C takes an expression there that is no constant."""
    child, node = node, node.parent
    while node is not None and node.type != "function_definition":
        is_label = node.type == "case_statement" and child == node.child_by_field_name("value")
        is_static = node.type == "declaration" and any(
            c.type == "storage_class_specifier" and c.text == b"static" for c in node.children
        )
        if node.type in CONSTANT or is_label or is_static:
            return False
        child, node = node, node.parent
    return node is not None


def has_effects(node):
    return node.type in EFFECTS or any(has_effects(c) for c in node.children)


def is_condition(mutant, node):
    return mutant.new in ("0", "1") and node.type != "number_literal"


def comparison_edits(mutant, node, number):
    """Both sides once, then both comparisons: inside of what else takes the whole expression."""
    nth, size, operator = 1 << 30, node.end_byte - node.start_byte, node.child_by_field_name("operator")
    left, right = f"mutants_l{number}", f"mutants_r{number}"
    was, now = f"{left} {mutant.old} {right}", f"{left} {mutant.new} {right}"
    last = f") + 0; mutants_hit[{number}] |= ({was}) != ({now});"
    last += f" mutants_number == {number} ? {now} : {was}; }})"
    middle = f") + 0; __auto_type {right} = ("
    yield node.start_byte, node.start_byte, opens(size, nth), f"({{ __auto_type {left} = ("
    yield operator.start_byte, operator.end_byte, opens(0), middle
    yield node.end_byte, node.end_byte, closes(size, nth), last


def condition_edits(mutant, node, number, nth):
    size, value = node.end_byte - node.start_byte, f"mutants_c{number}"
    last = f"); mutants_hit[{number}] |= {value} != {mutant.new};"
    last += f" mutants_number == {number} ? {mutant.new} : {value}; }})"
    yield node.start_byte, node.start_byte, opens(size, nth), f"({{ int {value} = !!("
    yield node.end_byte, node.end_byte, closes(size, nth), last


def choice_edits(mutant, node, source, number, nth):
    size = node.end_byte - node.start_byte
    before, after = source[node.start_byte : mutant.start], source[mutant.end : node.end_byte]
    changed = (before + mutant.new.encode() + after).decode()
    truth = "!!" if is_condition(mutant, node) or mutant.old == "!" else ""
    first = f"(mutants_is({number}) ? {truth}({changed}) : {truth if mutant.old != '!' else ''}("
    yield node.start_byte, node.start_byte, opens(size, nth), first
    yield node.end_byte, node.end_byte, closes(size, nth), "))"


def switch_edits(root, source, numbered):
    """numbered: [(mutant, number)]"""
    for nth, (mutant, number) in enumerate(numbered):
        node = expression_of(root, mutant)
        if mutant.old in COMPARISONS and node.type == "binary_expression":
            edits = comparison_edits(mutant, node, number)
        elif is_condition(mutant, node) and not has_effects(node):
            edits = condition_edits(mutant, node, number, nth)
        else:
            edits = choice_edits(mutant, node, source, number, nth)
        yield from ((start, end, order, text.encode()) for start, end, order, text in edits)


def switchable(source, found):
    root = PARSER.parse(source).root_node
    return [m for m in found if is_switchable(expression_of(root, m))]


def with_marks(source, first, numbered=()):
    """(the source that notes which blocks run and has the mutants, [(from, to)] of block first,
    first + 1, ...)."""
    root = PARSER.parse(source).root_node
    edits, blocks = mark_edits(root, first)
    edits += switch_edits(root, source, numbered)
    out, last = [HEADER], 0
    for start, end, _, text in sorted(edits, key=lambda e: (e[0], e[2])):
        out += [source[last:start], text]
        last = end
    return b"".join([*out, source[last:]]), blocks


def block_of(blocks, mutant):
    """Index of the smallest block around the mutant; None outside of functions."""
    around = [
        (end - start, i)
        for i, (start, end) in enumerate(blocks)
        if start <= mutant.start and mutant.end <= end
    ]
    return min(around)[1] if around else None
