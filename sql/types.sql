-- The rows that functions for users return.

CREATE TYPE kanon.composition AS (
    releases text[], -- The releases and versions: first all, then pairs, the worst first, then each by itself.
    k integer, -- Fewest people that should be left: the argument, else the least k of these releases.
    people bigint, -- People of whom one of them shows a row, at most.
    smallest bigint, -- Candidates of the person who has the fewest, at least: people with a row in the same classes.
    average double precision, -- Candidates of a person on average, at least.
    people_below bigint, -- People with fewer than k candidates, at most.
    unseen_rows bigint -- Rows of people who were erased from versions since: each counts as somebody who is alone. 0: everything is exact. Else somebody may have more candidates than said, nobody fewer.
);
COMMENT ON TYPE kanon.composition IS 'What the readers of several releases see together, as kanon_composition returns it.';

CREATE TYPE kanon.curve_point AS (
    k integer, -- Fewest people that share any combination of quasi-identifiers.
    suppressed_cells bigint, -- Cells that the best solution found suppresses.
    suppressed_share double precision, -- Suppressed cells as a share of all quasi-identifier cells, 0 to 1.
    weighted_cost double precision, -- Suppressed cells, each counted with the weight of its column; never less than for a smaller k.
    lower_bound double precision, -- Proven: no release with this k has a smaller weighted cost. Never less than for a smaller k; NULL if nothing is proven.
    gap double precision, -- Share of the weighted cost that might be avoidable: (cost - bound) / cost, 0 if optimal.
    optimal boolean, -- Whether the weighted cost is proven to be the least possible.
    classes bigint, -- Equivalence classes of the solution.
    average_class double precision, -- Mean number of people per class.
    method text, -- What found the solution; if it was found for a larger k, for which.
    elapsed interval, -- Time spent on this k alone.
    termination text -- How the search ended: optimal (proven), goal (the proven gap is small enough), exhausted (nothing better found), time (time_limit was over), memory (kanon.memory_budget was used up).
);
COMMENT ON TYPE kanon.curve_point IS 'What one k costs, as kanon_curve returns it.';

CREATE TYPE kanon.identifying_set AS (
    columns name[], -- The columns; without any one of them fewer rows would differ.
    size integer, -- Number of columns.
    kind text, -- minimum: no identifying set has fewer columns, proven. minimal: no column can be left out.
    at_least integer, -- Proven: every identifying set has at least so many columns.
    optimal boolean, -- Whether no identifying set has fewer columns, proven.
    distinct_rows bigint, -- Different rows of the table, by all columns as by these.
    distinction double precision, -- Different rows as a share of all rows, 0 to 1.
    method text, -- What found the set.
    termination text -- How the search ended: optimal (no set has fewer columns, proven), exhausted (nothing better found), time (time_limit was over).
);
COMMENT ON TYPE kanon.identifying_set IS 'A set of columns that tells rows apart as well as all columns do, as kanon_identify returns it.';

CREATE TYPE kanon.measures AS (
    rows bigint, -- Rows of the relation.
    people bigint, -- Distinct people; equals rows unless an entity is declared.
    classes bigint, -- Equivalence classes: groups of rows that agree on all quasi-identifiers.
    k bigint, -- People in the smallest class: the relation is k-anonymous for every k up to this (Samarati and Sweeney 1998).
    average_class double precision, -- Mean number of people per class.
    largest_class bigint, -- People in the largest class.
    distinct_l bigint, -- Fewest different sensitive values in a class, NULL being one; of several columns the worst (Machanavajjhala et al. 2006).
    entropy_l double precision, -- Entropy l-diversity: exp of the smallest entropy of a class (Machanavajjhala et al. 2006).
    frequency_l double precision, -- Smallest ratio of the people in a class to those with its most frequent sensitive value (Xiao and Tao 2006).
    p bigint, -- Fewest different values of any sensitive column in a class (p-sensitive k-anonymity, Truta and Vinay 2006).
    t_equal double precision, -- t-closeness if all sensitive values are equally far apart, 0 to 1 (Li, Li and Venkatasubramanian 2007).
    t_ordered double precision, -- t-closeness by the ordered distance, 0 to 1; NULL unless a sensitive column holds numbers, dates or times.
    delta_disclosure double precision, -- Largest |ln| of a value's share in a class over its share in the whole (Brickell and Shmatikov 2008).
    beta_likeness double precision, -- Largest relative gain of a value's share in a class over its share in the whole (Cao and Karras 2012).
    prosecutor_risk double precision, -- Highest chance to find the row of a person known to be in the relation: 1 / k (El Emam and Dankar 2008).
    journalist_risk double precision, -- Highest chance to find anybody's row through a register of the population; 1 / k as no larger register is known.
    marketer_risk double precision, -- Expected share of correct guesses when every row is linked.
    discernibility numeric, -- Sum of the squared class sizes in rows (Bayardo and Agrawal 2005).
    average_class_ratio double precision, -- Average class over the smallest class, 1 or more: C_AVG for the measured k (LeFevre et al. 2006).
    usefulness double precision, -- Mean over classes of the spread of the quasi-identifiers, a suppressed cell counting 1; smaller is better.
    certainty_penalty double precision, -- Share of the values of its column that a cell stands for, on average, 0 to 1 (normalized certainty penalty, Xu et al. 2006). This and the next three only for releases, when they were published.
    generalization_height double precision, -- Level by height of the hierarchy, on average over all cells, 0 to 1; 1 less this is the precision of Sweeney (2002).
    entropy_loss double precision, -- Information lost about the cells, knowing how frequent values are, 0 to 1 (non-uniform entropy, Gionis and Tassa 2009).
    marginal_divergence double precision -- Mean Kullback-Leibler divergence in bits of what the cells tell of a column's distribution (after Kifer and Gehrke 2006).
);
COMMENT ON TYPE kanon.measures IS 'How anonymous a table or view is, as kanon_measure returns it.';

CREATE TYPE kanon.point_class AS (
    x double precision, -- First coordinate; NULL for rows without a whole point.
    y double precision, -- Second coordinate.
    rectangle box, -- The rectangle; NULL for rows without a whole point.
    polygon jsonb, -- The rectangle as a GeoJSON polygon.
    class_number integer, -- The rectangle as a number, from 1.
    size bigint, -- Weight of the class: people, rows, or what the weight column adds up to; at least k.
    cost numeric, -- What all classes together cost: the size of the largest, or the sum over all people of what their class has beyond k.
    lower_bound numeric, -- Proven: no other classes of this kind cost less.
    ratio double precision, -- Cost divided by the bound, at least 1: no solution is better by a greater factor. NULL if the bound is 0 and the cost is not.
    optimal boolean, -- Whether the cost is proven to be the least possible.
    method text, -- What found the classes.
    termination text -- How the search ended: optimal (proven), exhausted (nothing better found), time (time_limit was over).
);
COMMENT ON TYPE kanon.point_class IS 'A point and its rectangle, as kanon_rectangles returns it.';

CREATE TYPE kanon.release_report AS (
    release text, -- Name of the release: the view of this name in schema safe.
    k integer, -- Fewest people that share any published combination of quasi-identifiers.
    rows bigint, -- Published rows.
    people bigint, -- Distinct people behind the rows; equals rows unless an entity is declared.
    row_types bigint, -- Distinct combinations of quasi-identifier values in the base table.
    classes bigint, -- Equivalence classes of the release.
    smallest_class bigint, -- People in the smallest class, recounted in the published rows; at least k.
    average_class double precision, -- Mean number of people per class.
    largest_class bigint, -- People in the largest class.
    suppressed_cells bigint, -- Cells that were replaced by NULL.
    suppressed_share double precision, -- Suppressed cells as a share of all quasi-identifier cells, 0 to 1.
    weighted_cost double precision, -- Suppressed cells, each counted with the weight of its column.
    lower_bound double precision, -- Proven: no release of this kind has a smaller weighted cost. For method full_domain the kind is one level per column, with rows suppressed by whole combinations. NULL if nothing is proven.
    gap double precision, -- Share of the weighted cost that might be avoidable: (cost - bound) / cost, 0 if optimal.
    optimal boolean, -- Whether the weighted cost is proven to be the least possible.
    method text, -- What found the solution.
    bound_method text, -- What proved the lower bound.
    usefulness double precision, -- Mean tuple diversity of the classes; smaller is better.
    elapsed interval, -- Time from the call to the verified release.
    termination text -- How the search ended: optimal (proven), goal (the proven gap is small enough), exhausted (nothing better found), time (time_limit was over), memory (kanon.memory_budget was used up).
);
COMMENT ON TYPE kanon.release_report IS 'The report of a release, as kanon_anonymize returns it.';

CREATE TYPE kanon.risk AS (
    relation text, -- The table, view or release.
    columns name[], -- What the attacker knows; in a release also which cells are suppressed.
    rows bigint, -- Rows of the relation.
    people bigint, -- Different people.
    classes bigint, -- Number of equivalence classes.
    smallest_class bigint, -- People in the smallest class.
    prosecutor_risk double precision, -- Greatest chance to find a person who is known to be in the relation: 1 / smallest class.
    prosecutor_average double precision, -- The same on average over the people; who is in several classes has the greatest chance of these.
    journalist_risk double precision, -- Greatest chance to find anybody through a register of the population.
    journalist_average double precision, -- The same on average over the people; who is in several classes has the greatest chance of these.
    journalist_basis text, -- What is known of the population: the table itself (then an upper bound), population table, sampling fraction.
    marketer_risk double precision, -- Expected share of correct guesses if everybody is linked.
    threshold double precision, -- Risk above which a record counts as being at risk.
    people_above bigint, -- Different people in classes whose prosecutor risk exceeds the threshold.
    share_above double precision, -- Their share, 0 to 1.
    sample_uniques bigint, -- Different people who are alone in a class.
    minimal_uniques bigint[], -- Smallest combinations of values that only one person has, by their number of columns 1, 2, 3.
    people_by_unique bigint[], -- People whose smallest such combination has 1, 2, 3 columns.
    homogeneous_people bigint, -- Different people in classes where all have the same sensitive value, for the column with most of them; NULL without sensitive columns.
    homogeneous jsonb, -- The same per sensitive column: classes, people and rows.
    termination text -- How the search for minimal uniques ended: optimal (all are counted), exhausted, time (time_limit was over: larger ones are not counted). All other figures are whole.
);
COMMENT ON TYPE kanon.risk IS 'How likely people are found again in a relation, as kanon_risk returns it.';

CREATE TYPE kanon.suggestion AS (
    "column" name, -- The column.
    role text, -- identifier, quasi_identifier (at most 10), sensitive, insensitive; entity: tells people apart who have several rows; withheld: should not be mentioned in a declaration, hence not be published.
    reasons text[], -- Why, in sentences; the deciding reason first.
    distinct_values bigint, -- Different values without NULL; NULL if the type cannot be compared.
    distinct_ratio double precision, -- Different values as a share of the rows that have one, 0 to 1.
    unique_values bigint, -- Values that one row has.
    missing double precision, -- Share of the rows that have no value, 0 to 1.
    restored_by name[], -- Columns each of which tells this one's value: suppressing this one alone hides nothing.
    hierarchy jsonb -- Of a quasi-identifier: a builder with its keys that would generalize it, for the argument hierarchies of kanon_anonymize; NULL if none suits.
);
COMMENT ON TYPE kanon.suggestion IS 'A proposed role of a column, as kanon_suggest returns it; nothing is declared by it.';

CREATE TYPE kanon.value_class AS (
    value text, -- The value as text; NULL for missing ones.
    label text, -- The class: an interval as text of a range type, or the names of its heaviest values; NULL if it has the missing values alone.
    class_number integer, -- The class as a number, from 1 in the order of the values.
    size bigint, -- Weight of the class: people, rows, or what the weight column adds up to; at least k.
    cost numeric, -- What all classes together cost: the size of the largest, or the sum over all people of what their class has beyond k.
    lower_bound numeric, -- Proven: no other classes of this kind cost less.
    ratio double precision, -- Cost divided by the bound, at least 1: no solution is better by a greater factor. NULL if the bound is 0 and the cost is not.
    optimal boolean, -- Whether the cost is proven to be the least possible.
    method text, -- What found the classes.
    termination text -- How the search ended: optimal (proven), exhausted (nothing better found), time (time_limit was over).
);
COMMENT ON TYPE kanon.value_class IS 'A value and its class, as kanon_intervals, kanon_groups and kanon_regions return it.';

CREATE TYPE kanon.violating_set AS (
    columns name[], -- The columns; no proper subset of them singles out fewer than k people. Empty if the whole table has fewer than k people.
    size integer, -- Number of columns.
    kind text, -- minimum: no set of fewer columns singles out fewer than k people, proven. minimal: leaving out any column ends that.
    smallest_class bigint, -- Fewest people who share a combination of values.
    people_at_risk bigint, -- People who share their combination of values with fewer than k people, themselves included.
    rows_at_risk bigint, -- Rows with such a combination.
    distinct_values bigint, -- Different combinations of values.
    distinction double precision, -- Different combinations as a share of the rows, 0 to 1.
    separation double precision, -- Share of all pairs of rows that differ on the columns, 0 to 1.
    termination text -- How the search ended: optimal (every set that was asked for is listed), exhausted (some may be missing), time (time_limit was over: sets or figures may be missing).
);
COMMENT ON TYPE kanon.violating_set IS 'A minimal set of columns that singles out fewer than k people, as kanon_audit returns it. Figures are NULL where the time did not suffice.';

-- Who may use them.
GRANT USAGE ON TYPE kanon.composition, kanon.curve_point, kanon.release_report TO kanon_curator;
GRANT USAGE ON TYPE
    kanon.identifying_set, kanon.measures, kanon.point_class, kanon.risk, kanon.suggestion, kanon.value_class, kanon.violating_set
TO kanon_analyst;
