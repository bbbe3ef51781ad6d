"""One block answered with noise: what it costs is spent before anything is read, whatever becomes of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from hashlib import blake2b

from kanon_pg.db.statements import Statement
from kanon_pg.queries.asking import Asking, PlannedBlock
from kanon_pg.queries.counting.block_rows import typed
from kanon_pg.queries.counting.rest import BlockAnswer
from kanon_pg.queries.noise.drawing import Drawing
from kanon_pg.queries.noise.mechanism import Loss, capacity, together
from kanon_pg.queries.noise.plan import NoisyForm, noisy_form
from kanon_pg.queries.record.record import Spending


def noisy_form_of(planned: PlannedBlock, constants: Sequence[str]) -> NoisyForm:
    """Return the SQL of a block with noise."""
    return noisy_form(planned.block, planned.people, constants, planned.noise(), k=planned.k)


def answer_with_noise(asking: Asking, planned: PlannedBlock, kinds: Mapping[str, str]) -> BlockAnswer:
    """Answer a block with noise, or as it was answered before.

    Raises
    ------
    AnswerWithheld
        If the account has less than the block costs, or it failed, which costs as much.
    """
    record, form = asking.record_of(planned), noisy_form_of(planned, asking.constants)
    settings = list(planned.noise().values())
    same = [form.text, dict(kinds), asdict(settings[0]), [asdict(one) for one in form.figures], planned.k]
    key = blake2b(json.dumps(["noise", *same]).encode(), digest_size=16).digest()
    stored = record.stored(key)
    if stored is not None:
        notices, rows = json.loads(stored.payload)
        asking.notices += notices
        asking.answer_again(record, asking.ask(record), stored, ", which costs nothing again.")
        return BlockAnswer(kinds, rows)
    account = capacity(settings[0].epsilon, settings[0].delta)
    share = min(one.per_query for one in settings)
    drawing = Drawing(form, Loss(account.rho * share, account.delta * share), planned.k)
    own_share = min(one.per_login for one in settings)
    spending = Spending(
        (*drawing.loss, settings[0].epsilon, settings[0].delta),
        _affordable(drawing.loss, account, {None: 1.0, asking.asker.login: own_share}),
    )
    entry = asking.ask(record, spending)
    with asking.withholding({planned.people.space: entry}):
        with asking.reading():
            groups = asking.db.read(Statement(typed(form.text, kinds), ("text",)), str(record.seed))
        rows = drawing.rows(groups, kinds)
        asking.require_few(rows)
    notices = drawing.notices()
    with record.begin(entry, asking.now) as recording:
        recording.answered(key=key, payload=json.dumps([notices, rows]).encode())
    asking.notices += notices
    return BlockAnswer(kinds, rows)


def _affordable(
    loss: Loss, account: Loss, shares: Mapping[str | None, float]
) -> Callable[[Sequence[tuple[str, tuple[float, ...]]]], bool]:
    """Return whether a loss fits beside what was spent into the shares of the account: of a login, of all."""

    def allows(spent: Sequence[tuple[str, tuple[float, ...]]]) -> bool:
        for login, share in shares.items():
            total = together([*(Loss(*one[:2]) for by, one in spent if login in {None, by}), loss])
            if not (total.rho <= account.rho * share and total.delta <= account.delta * share):
                return False
        return True

    return allows
