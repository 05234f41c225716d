import pickle
from itertools import chain, combinations, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearcast.text import ANYTHING, Clause, Expression, ExpressionError, parse
from nearcast.text._syntax import MAX_NESTING
from nearcast.text.expression import MAX_WORDS

WORDS = ["a", "b", "c", "d", "and"]  # the last one only in quotes
MESSAGES = [
    frozenset(words)
    for words in chain.from_iterable(combinations(WORDS, size) for size in range(len(WORDS) + 1))
]

# A tree is a word, ("not", tree), ("and", tree, tree) or ("or", tree, tree).
trees = st.recursive(
    st.sampled_from(WORDS),
    lambda trees: (
        st.tuples(st.just("not"), trees) | st.tuples(st.sampled_from(["and", "or"]), trees, trees)
    ),
    max_leaves=12,
)
BINDING = {"or": 0, "and": 1, "not": 2}


def holds(tree, words):
    """The plain meaning of a tree."""
    match tree:
        case "not", part:
            return not holds(part, words)
        case "and", left, right:
            return holds(left, words) and holds(right, words)
        case "or", left, right:
            return holds(left, words) or holds(right, words)
    return tree in words


@st.composite
def written(draw, tree, around=0):
    """A text for the tree in one of many spellings, with the parentheses that it needs."""
    if isinstance(tree, str):
        return draw(st.sampled_from([f'"{tree}"', f"#{tree}!"] + [tree.upper()] * (tree != "and")))
    operator, *parts = tree
    texts = [draw(written(part, BINDING[operator])) for part in parts]
    spelled = draw(st.sampled_from([operator.upper(), operator, operator.title()]))
    if operator == "not":
        text = f"{spelled} {texts[0]}"
    elif operator == "and" and draw(st.booleans()):
        text = " ".join(texts)
    else:
        text = f" {spelled} ".join(texts)
    if BINDING[operator] < around or draw(st.booleans()):
        return f"({text})"
    return text


def meaning(expression):
    return [expression.matches(words) for words in MESSAGES]


def parsed(data, tree):
    """The tree as an expression, or None where it has to be refused."""
    text = data.draw(written(tree))
    expected = [holds(tree, words) for words in MESSAGES]
    if any(expected) and not expected[0]:  # the first message has no words
        expression = parse(text)
        assert meaning(expression) == expected
        return expression
    with pytest.raises(ExpressionError):
        parse(text)
    return None


@given(trees, st.data())
def test_means_what_the_tree_means(tree, data):
    parsed(data, tree)


@given(trees, st.data())
def test_str_is_a_text_for_the_same_expression(tree, data):
    if expression := parsed(data, tree):
        assert parse(str(expression)) == expression
        assert eval(repr(expression)) == expression


@given(trees, st.data())
def test_no_clause_can_be_dropped_or_shortened(tree, data):
    if not (expression := parsed(data, tree)):
        return
    clauses = set(expression.clauses)
    for clause in clauses:
        required, forbidden = clause.required, clause.forbidden
        assert required
        assert not required & forbidden
        shorter = [Clause(required - {word}, forbidden) for word in required]
        shorter += [Clause(required, forbidden - {word}) for word in forbidden]
        for others in ([], *([clause] for clause in shorter)):
            changed = [*(clauses - {clause}), *others]
            assert [
                any(c.required <= words and not c.forbidden & words for c in changed)
                for words in MESSAGES
            ] != meaning(expression)


@given(trees, trees, st.data())
def test_two_expressions_are_equal_when_they_mean_the_same(first, second, data):
    one, other = parsed(data, first), parsed(data, second)
    if one and other:
        assert (one == other) == (meaning(one) == meaning(other))
        assert one != other or (hash(one), str(one)) == (hash(other), str(other))


@given(trees, st.data())
def test_the_spelling_does_not_matter(tree, data):
    rewritten = ("or", ("and", tree, "a"), ("and", tree, ("not", "a")))
    assert parsed(data, tree) == parsed(data, rewritten)


def test_of_several_minimal_forms_always_the_same_one_is_taken():
    words = ["a", "b", "c"]
    rings = [
        " OR ".join(f"({x} NOT {y})" for x, y in zip(order, order[1:] + order[:1], strict=True))
        for order in map(list, permutations(words))
    ]
    assert len({str(parse(ring)) for ring in rings}) == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ipad AND (discount OR sale)", "(discount AND ipad) OR (ipad AND sale)"),
        ("b a", "a AND b"),
        ("a OR b c", "a OR (b AND c)"),
        ("a AND NOT b OR c", "(a AND NOT b) OR c"),
        ("a NOT (b OR c)", "a AND NOT b AND NOT c"),
        ("a NOT NOT b", "a AND b"),
        ("(a)(b)", "a AND b"),
        ("wi-fi", "fi AND wi"),
        ("tea NOT wi-fi", "(tea AND NOT fi) OR (tea AND NOT wi)"),
        ('"or" AND rock', '"or" AND rock'),
        ("Straße", "strasse"),
        ("a OR a b", "a"),
        ("a b OR a NOT b", "a"),
        ("a b OR NOT a c OR b c", "(a AND b) OR (c AND NOT a)"),
        ("a (b OR NOT b)", "a"),
    ],
)
def test_normal_form(text, expected):
    assert str(parse(text)) == expected


@pytest.mark.parametrize(
    ("text", "column", "problem"),
    [
        ("", 1, "there is no word; give at least one"),
        (" \n ", 1, "there is no word; give at least one"),
        ("!!!", 1, "'!!!' has no letter or digit; write a word, AND, OR, NOT, '(' or ')'"),
        ("a && b", 3, "'&&' has no letter or digit; write a word, AND, OR, NOT, '(' or ')'"),
        ("a AND ", 6, "a word is missing here, at the end; add one"),
        ("a NOT", 6, "a word is missing here, at the end; add one"),
        ("a (", 4, "a word is missing here, at the end; add one"),
        (
            "a or OR b",
            6,
            "a word is missing before this OR; add one, or look for the word itself by putting it "
            'in quotes: "or"',
        ),
        (
            "and b",
            1,
            "a word is missing before this AND; add one, or look for the word itself by putting "
            'it in quotes: "and"',
        ),
        ("a ()", 4, "a word is missing before this ')'; add one"),
        ("(a NOT)", 7, "a word is missing before this ')'; add one"),
        ("a (b OR (c)", 3, "this '(' is never closed; add a ')'"),
        ("a OR b) c", 7, "this ')' closes nothing; remove it or add a '(' before it"),
        (
            "a OR NOT b NOT c",
            1,
            "'NOT b AND NOT c' needs no word, so nearly every message would match; "
            "put a required word beside it with AND",
        ),
        (
            "NOT (a NOT a)",
            1,
            "'NOT a' needs no word, so nearly every message would match; "
            "put a required word beside it with AND",
        ),
        (
            "a NOT a",
            1,
            "no message can satisfy this, as it asks for a word and forbids it; remove one",
        ),
        ("(" * 51 + "a", 51, "more than 50 nested parentheses; write it flatter"),
    ],
)
def test_an_error_points_at_the_place(text, column, problem):
    with pytest.raises(ExpressionError) as caught:
        parse(text)
    error = caught.value
    assert error.column == column
    line = text.replace("\n", " ")
    caret = " " * (column - 1) + "^"
    assert str(error) == f"expression, column {column}: {problem}\n    {line}\n    {caret}"
    assert isinstance(error, ValueError)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_an_error_in_a_long_text_shows_the_part_around_the_caret():
    text = " ".join(f"word{i}" for i in range(1000)) + " !!! " + "end " * 100
    with pytest.raises(ExpressionError) as caught:
        parse(text)
    _, line, caret = str(caught.value).splitlines()
    assert caught.value.column == text.index("!!!") + 1
    assert len(line) < 110
    assert line[caret.index("^") :].startswith("!!! end")


def test_the_deepest_nesting_allowed():
    text = "(" * MAX_NESTING + "a" + ")" * MAX_NESTING
    assert parse(f"{text} OR {text}") == parse("a")


@pytest.mark.parametrize("text", ["(" * 100_000, "(" * 100_000 + "a" + ")" * 100_000])
def test_deep_nesting_is_refused_rather_than_followed(text):
    with pytest.raises(ExpressionError, match="more than 50 nested parentheses"):
        parse(text)


def test_a_thousand_words():
    words = [f"word{i}" for i in range(1000)]
    assert len(parse(" OR ".join(words)).clauses) == 1000
    assert parse(" AND ".join(words)) == parse(" ".join(words)) == Expression.of_words(words)
    assert parse("x NOT (" + " OR ".join(words) + ")").clauses == (
        Clause(frozenset({"x"}), frozenset(words)),
    )
    assert parse("NOT " * 1000 + "a") == parse("a")


def any_of(letter, count):
    return "(" + " OR ".join(f"{letter}{i}" for i in range(count)) + ")"


@pytest.mark.parametrize(
    "text",
    [
        " AND ".join(f"(a{i} OR b{i})" for i in range(40)),
        any_of("a", 1000) + " AND " + any_of("b", 1000),
        any_of("a", 1025),
        # As written 80 clauses, but any pair of an a and a b without x is one more.
        f"(x AND {any_of('a', 40)}) OR (NOT x AND {any_of('b', 40)})",
    ],
)
def test_too_many_clauses_are_refused(text):
    with pytest.raises(
        ExpressionError, match="means more than 1024 alternatives; split it"
    ) as caught:
        parse(text)
    assert caught.value.column == 1


def test_too_many_words_are_refused():
    text = " ".join(f"word{i}" for i in range(MAX_WORDS + 1))
    with pytest.raises(ExpressionError, match="this has 10001 words, more than 10000; split it"):
        parse(text)


def test_many_redundant_clauses_shrink():
    """Each `a AND b` follows from the two clauses that it stands between, whoever comes first."""
    choices = [f"(a{i} x{i}) OR (b{i} NOT x{i})" for i in range(50)]
    between = [f"(a{i} b{i})" for i in range(50)]
    assert parse(" OR ".join(between + choices)) == parse(" OR ".join(choices))
    assert len(parse(" OR ".join(choices)).clauses) == 100


def test_of_words():
    assert Expression.of_words(["Wi-Fi", "tea", "tea"]) == parse("wi fi tea")
    assert Expression.of_words(word for word in ["not", "or"]) == parse('"not" "or"')


@pytest.mark.parametrize(
    ("words", "error", "message"),
    [
        ([], ValueError, "there are no keywords; give at least one word"),
        (["a", "!!!"], ValueError, "keyword '!!!' has no letter or digit; leave it out"),
        ("tea", TypeError, "keywords 'tea' are one string; give a list, or use parse"),
        (["a", 3], TypeError, "keyword 3 is not a string"),
    ],
)
def test_words_refused(words, error, message):
    with pytest.raises(error, match=message):
        Expression.of_words(words)


@pytest.mark.parametrize("text", [None, 3, ["a"]])
def test_what_is_not_a_text_is_refused(text):
    with pytest.raises(TypeError, match=r"is not a string; for a list use Expression\.of_words"):
        parse(text)


def test_anything():
    assert ANYTHING.matches(set())
    assert ANYTHING.matches({"a"})
    assert ANYTHING.clauses == (Clause(frozenset()),)
    assert (str(ANYTHING), repr(ANYTHING)) == ("*", "ANYTHING")


def test_the_order_of_clauses_is_canonical():
    a, b = Clause(frozenset({"a"})), Clause(frozenset({"b"}))
    assert Expression((b, a)) == Expression((a, b))
    assert Expression((b, a)).clauses == (a, b)


def test_an_expression_is_a_value():
    expression = parse("a OR b NOT c")
    assert pickle.loads(pickle.dumps(expression)) == expression
    assert {expression} == {parse("b AND NOT c OR a")}


@pytest.mark.parametrize(
    "clauses",
    [
        (),
        (Clause(frozenset(), frozenset({"a"})),),
        (Clause(frozenset()), Clause(frozenset({"a"}))),
    ],
)
def test_clauses_that_hold_for_nothing_or_without_a_word_are_refused(clauses):
    with pytest.raises(ValueError, match="clause"):
        Expression(clauses)


@pytest.mark.parametrize("word", ["iPad", "", "two words", "!", "\ud800"])
def test_a_clause_of_what_is_no_token_is_refused(word):
    with pytest.raises(ValueError, match="not a token"):
        Clause(frozenset({word}))


def test_a_clause_cannot_require_and_forbid_a_word():
    with pytest.raises(ValueError, match="both required and forbidden"):
        Clause(frozenset({"tea"}), frozenset({"tea", "cup"}))
