"""Hashes and digests as names for people."""

from __future__ import annotations

from tests.query.attacks.shared_parts import NEAR
from tests.query.cases import Attack, Secret, V, attack, of_kind

ATTACKS: tuple[Attack, ...] = of_kind(
    "hashing",
    attack("md5 of an identifier", "select md5(ssn), ward from patients", secret=Secret.WARD),
    attack(
        "md5 as the group",
        "select md5(name), count(*), sum(cost) from patients group by 1",
        secret=Secret.COST,
    ),
    attack(
        "hashtext splits a set in two halves",
        f"select sum(cost) from patients where {NEAR} and hashtext(ssn) % 2 = 0",
        secret=Secret.COST,
    ),
    attack(
        "hash of a birth date as a group",
        "select hashtext(birth_date::text) % 1000, sum(cost) from patients group by 1",
        secret=Secret.COST,
    ),
    attack("hash of a record", f"select hash_record(row(ward)) from patients where {V}", secret=Secret.WARD),
    attack(
        "sha256",
        "select sha256(ssn::bytea), count(*) from patients where ward = 'oncology' group by 1",
        secret=Secret.WARD,
    ),
    attack(
        "encode a hash prefix",
        "select left(md5(ssn), 1), count(*) from patients where ward = 'oncology' group by 1",
        secret=Secret.WARD,
    ),
    attack(
        "uuid of a name", "select md5(name)::uuid, sum(cost) from patients group by 1", secret=Secret.COST
    ),
)
