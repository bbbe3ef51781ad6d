"""Hashes and digests as names for people."""

from tests.query.attacks.shared_parts import NEAR
from tests.query.cases import Attack, Secret, V, alike, of_kind

# fmt: off
ATTACKS: tuple[Attack, ...] = of_kind(
    "hashing",
    *alike({
        "md5 of an identifier": "select md5(ssn), ward from patients",
        "hash of a record": f"select hash_record(row(ward)) from patients where {V}",
        "sha256": "select sha256(ssn::bytea), count(*) from patients where ward = 'oncology' group by 1",
        "encode a hash prefix": "select left(md5(ssn), 1), count(*) from patients where ward = 'oncology' group by 1",
    }, secret=Secret.WARD),
    *alike({
        "md5 as the group": "select md5(name), count(*), sum(cost) from patients group by 1",
        "hashtext splits a set in two halves": f"select sum(cost) from patients where {NEAR} and hashtext(ssn) % 2 = 0",
        "hash of a birth date as a group": "select hashtext(birth_date::text) % 1000, sum(cost) from patients group by 1",
        "uuid of a name": "select md5(name)::uuid, sum(cost) from patients group by 1",
    }, secret=Secret.COST),
)
# fmt: on
