"""The figures of a relation, each defined with its source."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Measures:
    """What the equivalence classes of a relation say about privacy and loss.

    Conventions. Rows that agree on all quasi-identifiers, by PostgreSQL's own equality, form an
    *equivalence class* E; in a release the set of suppressed columns belongs to what they agree on.
    NULL is a value of its own, in quasi-identifiers and in sensitive columns. The size |E| is a number of
    people: distinct values of the declared entity, else rows; a class in which nobody is known (entity
    NULL throughout) counts as one person. q(s) and p(E, s) are the shares of value s of a sensitive
    column in the relation and in E, where a person counts once per class and value. With several
    sensitive columns each figure is that of the worst column, each looked at by itself. Figures of
    sensitive columns are None without any. Distances and ratios are exact up to 1e-12.

    Parameters
    ----------
    rows : int
        Rows of the relation, > 0.
    people : int
        Distinct people in the whole relation; equals `rows` without an entity.
    classes : int
        Number of equivalence classes.
    k : int
        Size of the smallest class, >= 1 (Samarati and Sweeney 1998: *k-anonymity*).
    average_class : float
        Mean size of a class.
    largest_class : int
        Size of the largest class.
    distinct_l : int or None
        Fewest different values in a class (Machanavajjhala, Gehrke, Kifer and Venkitasubramaniam 2006:
        *distinct l-diversity*).
    entropy_l : float or None
        min over E of exp(-sum_s p(E, s) ln p(E, s)) (same authors: the relation is *entropy l-diverse* for
        every l up to this).
    frequency_l : float or None
        min over E and s of |E| / (people in E with value s): an attacker's confidence in any value is at
        most 1 / `frequency_l` (Xiao and Tao 2006, *Anatomy*; Wong, Li, Fu and Wang 2006 call the inverse
        alpha). A person with several values counts for each of them, but once in |E|.
    p : int or None
        Fewest different values in a class, column by column (Truta and Vinay 2006: *p-sensitive
        k-anonymity*); since each column is looked at by itself, always equal to `distinct_l`.
    t_equal : float or None
        max over E of half of sum_s |p(E, s) - q(s)|, 0 to 1: the earth mover's distance if all values are
        equally far apart (Li, Li and Venkatasubramanian 2007: *t-closeness*).
    t_ordered : float or None
        The same authors' ordered distance for numbers, dates and times, 0 to 1: with the m values of the
        column in order, NULL last, max over E of sum_{i<m} |sum_{j<=i} (p(E, s_j) - q(s_j))| / (m - 1);
        0 for m = 1; None if no sensitive column has such a type.
    delta_disclosure : float or None
        max over E and the values s in E of |ln(p(E, s) / q(s))| (Brickell and Shmatikov 2008; natural
        logarithm; as in other tools a value absent from E does not count, it would make every figure
        infinite).
    beta_likeness : float or None
        max over E and s of (p(E, s) - q(s)) / q(s), at least 0 (Cao and Karras 2012: *basic
        beta-likeness*).
    prosecutor_risk : float
        1 / k: highest chance to find the row of a person who is known to be in the relation (El Emam and
        Dankar 2008).
    journalist_risk : float
        Highest chance to find anybody's row through a register of the population (same authors). The
        relation is the only register known here, so this is their upper bound, equal to
        `prosecutor_risk`.
    marketer_risk : float
        Expected share of correct guesses when every row is linked: classes / sum of |E|, over 0 to 1
        (El Emam, Dankar, Vaillancourt, Roffey and Lysyk 2009).
    discernibility : int
        Sum over E of (rows of E) squared (Bayardo and Agrawal 2005: *discernibility metric*; no class is
        below the measured k, so none counts as suppressed).
    average_class_ratio : float
        `average_class` / `k`, >= 1: how far classes are above the smallest one (LeFevre, DeWitt and
        Ramakrishnan 2006: *C_AVG*, for the measured k).
    usefulness : float
        Mean over classes of the sum over quasi-identifiers of the attribute diversity, 0 to the number of
        quasi-identifiers, smaller is better (Loukides and Shao 2007, as Definition 5 of Bredereck,
        Nichterlein and Niedermeier 2014), as a reader of this relation can tell it: a suppressed cell may
        stand for any value (1), a visible number or date has no spread (0), a visible category is one of
        the column's visible values (1 / their number), a range type its width as a share of the span of
        all ranges (1 if unbounded). The report of a release has the figure for the cells before
        suppression, which is never above.
    certainty_penalty : float or None
        Normalized certainty penalty (Xu, Wang, Pei, Wang, Shi and Fu 2006): mean over all quasi-identifier
        cells of (values below the published node - 1) / (values of the hierarchy - 1); 0 for a value, 1 for
        a suppressed cell. This and the next three are those of a release when it was published, for its
        own quasi-identifiers; None for other relations, and for who may not read the list of releases.
    generalization_height : float or None
        Mean over the same cells of level / height of the hierarchy, 0 to 1; 1 less this is the precision
        of Sweeney (2002).
    entropy_loss : float or None
        Non-uniform entropy (Gionis and Tassa 2009): sum over the cells of -log(rows with the value / rows
        with a value below the published node), as a share of that of a table without any value, 0 to 1.
    marginal_divergence : float or None
        Mean over the quasi-identifiers of the Kullback-Leibler divergence, in bits, from the distribution
        of the column to the one that its published cells tell, if each may stand for every value below it
        with the same chance (after Kifer and Gehrke 2006).
    """

    rows: int
    people: int
    classes: int
    k: int
    average_class: float
    largest_class: int
    distinct_l: int | None
    entropy_l: float | None
    frequency_l: float | None
    p: int | None
    t_equal: float | None
    t_ordered: float | None
    delta_disclosure: float | None
    beta_likeness: float | None
    prosecutor_risk: float
    journalist_risk: float
    marketer_risk: float
    discernibility: int
    average_class_ratio: float
    usefulness: float
    certainty_penalty: float | None = None
    generalization_height: float | None = None
    entropy_loss: float | None = None
    marginal_divergence: float | None = None
