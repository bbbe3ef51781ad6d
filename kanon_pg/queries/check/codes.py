"""The catalogue of findings: every code with what it forbids, why, and what to write instead.

`docs/reference/findings.md` is written from this tuple. The message of a finding is more specific and stands where
the code is used; a test compares the codes that are used with those that stand here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class FindingCode:
    """A kind of finding.

    Parameters
    ----------
    code : str
        ``Q`` (queries) or ``G`` (other statements at the gateway) and three digits.
    sentence : str
        What is refused.
    reason : str
        Why it is refused.
    instead : str
        What to write instead; empty if there is nothing that does the same.
    """

    code: str
    sentence: str
    reason: str
    instead: str = ""


CHAPTERS: Final = {
    "Q0": "Text and grammar",
    "Q1": "Names",
    "Q2": "Types, constants and functions",
    "Q3": "Use of protected columns",
    "Q4": "Joins",
    "Q5": "Clauses and modes",
    "G0": "Statements at the gateway",
}
"""The first two characters of the codes of each chapter."""

_SAFE_TEXT = "Different lexers could read the text differently."
_CANNOT_FAIL = "An error that depends on a row would answer a query about that row."
_ONE_FORM = "Only forms whose meaning the checker knows completely are let through."

CATALOGUE: Final = (
    FindingCode("Q001", "The query is too large.", "Checking and running it must stay cheap.", "Write a simpler query."),
    FindingCode("Q002", "There is not exactly one statement.", _ONE_FORM, "Send every query by itself."),
    FindingCode(
        "Q003",
        "A character has no place outside of strings.",
        _SAFE_TEXT,
        "Use ordinary spaces, and names of letters, digits and underscores.",
    ),
    FindingCode("Q004", "A string has a prefix (E, B, X, N, U&).", _SAFE_TEXT, "Write an ordinary string: 'text'."),
    FindingCode("Q005", "A name is longer than 63 characters.", "PostgreSQL would cut it off.", "Write it as the catalog has it."),
    FindingCode("Q006", "A number runs into a name.", _SAFE_TEXT, "Put a space between them."),
    FindingCode("Q007", "A string is quoted by dollars.", _SAFE_TEXT, "Write strings in single quotes."),
    FindingCode("Q008", "A string, quoted name or comment does not end.", _SAFE_TEXT, "Add the closing quote."),
    FindingCode(
        "Q009",
        "An operator or character is not allowed.",
        _ONE_FORM,
        "Use + - * / % ||, comparisons and LIKE; write parameters $1 or %s.",
    ),
    FindingCode("Q010", "The text is no query that can be parsed.", _ONE_FORM, "Write one SELECT in PostgreSQL's grammar."),
    FindingCode("Q020", "A clause or option is not allowed here.", _ONE_FORM, "Leave it out, or follow the hint."),
    FindingCode("Q021", "A kind of statement or expression is not allowed here.", _ONE_FORM, "Write one SELECT with ordinary expressions."),
    FindingCode("Q022", "A name begins with kanon_.", "Such names stand for hidden columns and tables.", "Choose another name."),
    FindingCode("Q023", "The number of a parameter is out of range.", _ONE_FORM, "Number parameters from $1 to $99."),
    FindingCode("Q024", "A cast has a length or precision.", _CANNOT_FAIL, "Write the type alone; round() cuts decimals."),
    FindingCode("Q025", "The unit of an interval is not allowed.", _ONE_FORM, "Write interval '30 days'."),
    FindingCode("Q026", "A function of another schema is called.", "It may be anybody's code.", "Use PostgreSQL's own functions without a schema."),
    FindingCode("Q027", "A kind of join is not allowed.", "Rows without a partner would show who is missing.", "Write JOIN or LEFT JOIN, one after the other."),
    FindingCode("Q028", "A subquery in FROM has no name.", _ONE_FORM, "Write (SELECT ...) AS x."),
    FindingCode("Q099", "The checker failed.", "A defect must not let a query pass.", "Write the query differently, and report it."),
    FindingCode("Q100", "There is no such relation for this role.", "Relations that a role may not know do not exist for it.", "Check the spelling and the schema."),
    FindingCode("Q101", "There is no such column that can be used.", "Queries read numbers, texts, truth values, dates, moments, times, intervals, ranges of whole numbers and of days, uuid, enums and domains over these: of other types, and of collations that take different texts for equal, no equality is safe.", "Ask a curator to offer the value as text or number, in a column or in a declared view."),
    FindingCode("Q102", "There is no such table in FROM.", _ONE_FORM, "Name a table or alias of FROM."),
    FindingCode("Q103", "A column or output is ambiguous.", _ONE_FORM, "Write table.column, or name outputs with AS."),
    FindingCode("Q104", "A name stands twice in FROM or WITH.", _ONE_FORM, "Give one of them an alias."),
    FindingCode("Q105", "Reading the relation may run code of others.", "That code would see rows before people are counted.", "Ask ordinary tables and releases."),
    FindingCode("Q106", "The view reads a protected table and has no declaration.", "Nobody said which of its columns name people.", "Ask the table, or have the view declared."),
    FindingCode("Q107", "The relation has no valid k.", "Its people cannot be protected.", "Let its curator protect it again."),
    FindingCode("Q108", "The people of the relation cannot be counted.", "Without a column that names them rows are not people.", "Let its curator declare the entity."),
    FindingCode("Q109", "The relation cannot be queried at present.", "Rights or a ledger are missing, its owner could exchange it, every reading of it finds other rows, or the session sets its clock by rules of its own.", "The hint says who can change that."),
    FindingCode("Q200", "A number is too long or too large.", _CANNOT_FAIL, "Stay within 40 digits."),
    FindingCode("Q201", "A constant or parameter is no value of its type.", _CANNOT_FAIL, "Write it in the form that the hint shows."),
    FindingCode("Q202", "Types do not fit.", "A conversion could fail for some row.", "Compare and calculate with values of one type."),
    FindingCode("Q203", "A cast is not allowed.", "It can fail, or depends on settings.", "Leave it out, or use to_char or date_trunc."),
    FindingCode("Q204", "An argument has to be a constant within bounds.", _CANNOT_FAIL, "Write it as a constant."),
    FindingCode("Q205", "A pattern is not allowed.", "Patterns that fail or take long for some row tell about it.", "Write LIKE 'abc%', or ~ with letters, [a-z], ^, $ and |."),
    FindingCode("Q206", "An operator or function has the wrong number of items.", _ONE_FORM, "Write as many as the hint says."),
    FindingCode("Q207", "The query divides by zero.", "It would always fail.", "Divide by another number."),
    FindingCode("Q208", "One parameter stands for several types or notations.", _ONE_FORM, "Use one parameter per type, written $1 or %s throughout."),
    FindingCode("Q209", "Values and parameters do not match.", _ONE_FORM, "Give one value for each of $1, $2 ... without gaps."),
    FindingCode("Q210", "A function is not allowed.", "Only functions that cannot fail, act or read are known.", "The hint names one that does the same, if there is one."),
    FindingCode("Q211", "A function does not take these arguments.", _ONE_FORM, "The hint lists the forms that it has."),
    FindingCode("Q212", "WITHIN GROUP is missing or out of place.", _ONE_FORM, "Write percentile_cont(0.5) WITHIN GROUP (ORDER BY column)."),
    FindingCode("Q213", "DISTINCT stands in an aggregate other than count.", "A sum of different values weighs people.", "Leave DISTINCT out."),
    FindingCode("Q214", "The fraction of a percentile is no constant from 0.01 to 0.99.", "Percentiles near the ends are single values.", "Write 0.5."),
    FindingCode("Q215", "An aggregate has no place here.", _ONE_FORM, "Aggregate in outputs, HAVING or ORDER BY."),
    FindingCode("Q216", "A column is neither grouped nor aggregated.", "It would show values of single rows.", "Add it to GROUP BY, or aggregate it."),
    FindingCode("Q217", "A window function has no place here.", "Windows over rows order and show single people.", "Group first: sum(count(*)) OVER (ORDER BY ...)."),
    FindingCode("Q218", "This window function is not allowed.", _ONE_FORM, "Use row_number, rank, sum, avg, lag, lead over groups."),
    FindingCode("Q300", "A column that names people is shown, grouped or compared.", "It would single people out.", "Leave it out, or count people: count(DISTINCT column)."),
    FindingCode("Q301", "A column was not declared.", "Nobody said what it may be used for.", "Ask its curator to declare it."),
    FindingCode("Q310", "An aggregate's argument selects or weighs people, or is rounded for each row.", "A weight that somebody chose encodes one person's value in a sum, and so does what constants round.", "Use plain columns, sums, and constants or whole numbers as factors; select with FILTER; round what the aggregate gives."),
    FindingCode("Q311", "count(DISTINCT ...) counts something other than a protected column.", "Calculated values can mark single people.", "Write count(DISTINCT column), or group by the expression."),
    FindingCode("Q312", "There are more than 12 different FILTERs.", "Whatever they distinguish is counted, which grows with their number.", "Group by what the filters distinguish."),
    FindingCode("Q320", "min or max shows the value of one person.", "The smallest and the largest value belong to somebody.", "Write percentile_cont(0.05) or (0.95) WITHIN GROUP (ORDER BY column)."),
    FindingCode("Q321", "There are more than nine percentiles of a column.", "Many percentiles are the column itself, sorted.", "Return deciles, or count with width_bucket."),
    FindingCode("Q322", "A condition on an aggregated column, or a group by it, reads another column, or may take several ranges of numbers or moments.", "It can add one person's value to values that it names.", "Compare the column with constants (BETWEEN, < or >), in a part of WHERE by itself (AND); group by the column, floor(column / 10), date_trunc or a CASE with one range for each label; or only count."),
    FindingCode("Q323", "A condition calculates with sensitive and known columns together.", "Whom it chooses by what is known cannot be counted.", "Compare each with constants and join the conditions with AND or OR."),
    FindingCode("Q324", "A percentile of texts shows the value of one person.", "What is shown is a mean over k people; texts have none.", "Group by the column and count."),
    FindingCode("Q325", "Known values are added up of people whom sensitive columns choose, and calculations with known ones choose one by one.", "The values are weights, which tell who of them was chosen.", "Compare known columns with constants (=, IN, BETWEEN, < or >), or group by them; or only count."),
    FindingCode("Q330", "Arithmetic on single rows can overflow.", _CANNOT_FAIL, "Use constants of ordinary size, or calculate with aggregates."),
    FindingCode("Q331", "A column of a public table or subquery is calculated with.", "Its author could choose a value that fails for one person.", "Calculate it in the subquery that returns it, or compare it as it is."),
    FindingCode("Q332", "Texts of different collations meet.", "PostgreSQL fails on the first row that compares them.", "Compare columns of one collation."),
    FindingCode("Q340", "A condition inside a calculated group hides which groups there can be.", "In the strict mode every group that the text names has to be there.", "Group by the condition itself, or by a CASE with constants only."),
    FindingCode("Q341", "Intervals are group keys of people.", "Equal intervals look different (a month, thirty days), and a group would show one person's.", "Group by a part: extract(year from age(a, b)), or by the difference of two moments."),
    FindingCode("Q350", "A sensitive column influences what may be refused.", "Under the rule simulatable a refusal must tell nothing about it.", "Choose rows by other columns; use count, sum and avg."),
    FindingCode("Q400", "A LEFT JOIN has no condition.", _ONE_FORM, "Write ON a.key = b.key."),
    FindingCode("Q401", "A join can multiply rows.", "Repeated rows are weights, which encode single people.", "Join on all columns of a unique key, or return count(DISTINCT ...) only."),
    FindingCode("Q402", "A protected relation is joined by LEFT JOIN.", "Rows without people would show who is missing.", "Write JOIN, or start FROM with the protected relation."),
    FindingCode("Q500", "LIMIT cuts rows inside the query, or groups by inexact figures.", "Cutting rows selects people by their order.", "Group there, or sort and cut the whole query at its end."),
    FindingCode("Q501", "The query returns nothing.", _ONE_FORM, "Name at least one output."),
    FindingCode("Q502", "DISTINCT stands beside GROUP BY.", _ONE_FORM, "Leave DISTINCT out: groups are distinct already."),
    FindingCode("Q503", "A number in GROUP BY or ORDER BY names no output.", _ONE_FORM, "Count outputs from 1."),
    FindingCode("Q504", "ORDER BY names something that is not returned.", "The order would show it.", "Sort by an output, a group key or an aggregate."),
    FindingCode("Q505", "LIMIT or OFFSET is no whole-number constant.", _ONE_FORM, "Write LIMIT 10."),
    FindingCode("Q506", "Branches or members have different numbers of outputs.", _ONE_FORM, "Give all branches the same outputs."),
    FindingCode("Q507", "ROLLUP, CUBE and GROUPING SETS stand for too many groupings.", "All of them are counted together.", "Ask for fewer totals at a time."),
    FindingCode("Q508", "grouping() takes keys of GROUP BY.", _ONE_FORM, "Write grouping(key)."),
    FindingCode("Q509", "GROUP BY names one grouping twice.", _ONE_FORM, "Name each grouping once."),
    FindingCode("Q510", "There is more than one grouping of people in the mode 'suppress'.", "Others would give back the groups that are left out.", "Ask each grouping by itself."),
    FindingCode("Q511", "A sum, percentile or number of values cannot be left out group by group.", "Its rule looks at all groups.", "Ask in the mode 'reject'."),
    FindingCode("Q512", "Too many parts of groups are distinguished for the mode 'suppress'.", "Every part doubles what is counted with a group.", "Ask in the mode 'reject'."),
    FindingCode("G001", "The text is too long.", "Reading it must stay cheap.", "Send statements one by one."),
    FindingCode("G002", "A name is longer than 63 bytes.", "PostgreSQL would cut it off.", "Write it as the catalog has it."),
    FindingCode("G003", "A piece of the text is ambiguous.", _SAFE_TEXT, "Follow the hint."),
    FindingCode("G004", "Parentheses do not match, or a statement is empty.", _SAFE_TEXT, "Close every one that is open."),
    FindingCode("G005", "No statement of PostgreSQL begins so, or a string, quoted name or comment does not end.", "It is a syntax error, and reported as one.", "Correct what stands at the position."),
    FindingCode("G010", "This kind of statement does not pass.", "Only reading, transactions and harmless settings pass.", "Write one SELECT."),
    FindingCode("G011", "A form of this statement does not pass.", _ONE_FORM, "Follow the hint."),
    FindingCode("G012", "Function calls outside of SQL do not pass.", _ONE_FORM, "Write SELECT."),
    FindingCode("G013", "The gateway cannot read the catalog.", "Without it nothing can be checked.", "Tell whoever runs it; its log says why."),
    FindingCode("G020", "A setting may not be changed.", "It could change what texts mean or how rows are read.", "Leave it; the hint lists those that may be set."),
    FindingCode("G030", "Something other than reading.", "Clients of the gateway only read.", "Write one SELECT without locks."),
    FindingCode("G031", "A function does not pass.", "It acts, or looks behind tables.", "Use functions of PostgreSQL that do neither."),
    FindingCode("G032", "A catalog does not pass.", "It shows statistics, sizes, activity or secrets.", "Use those that are shown."),
    FindingCode("G099", "The statement cannot be checked.", "A defect must not let it pass.", "Write it differently, and report it."),
)  # fmt: skip
"""In the order of the codes."""
