-- What kanon keeps; each table belongs to whoever installs, and kanon_owner works with its rows.

-- The readers: roles of which each may read one relation, so that the code which that relation brings along reaches nothing
-- else; or, for queries, the protected relations of one owner. The roles are the whole server's, the rows this database's.
CREATE TABLE IF NOT EXISTS kanon.base (
    reader integer PRIMARY KEY, -- Number of the role: 1 is kanon_base_1.
    relation regclass UNIQUE, -- What it reads; NULL if it answers queries.
    answers_for regrole UNIQUE, -- The owner of the protected relations that it reads for queries.
    CHECK ((relation IS NULL) <> (answers_for IS NULL))
);
COMMENT ON TABLE kanon.base IS 'Which role reads which relation.';

CREATE TABLE IF NOT EXISTS kanon.declaration (
    relation regclass PRIMARY KEY, -- The table or view.
    identifiers name[] NOT NULL DEFAULT '{}', -- Columns that name a person; never published.
    quasi_identifiers name[] NOT NULL DEFAULT '{}', -- Columns that can be linked with other sources.
    sensitive name[] NOT NULL DEFAULT '{}', -- Columns that must not be learned about a person; published unchanged.
    insensitive name[] NOT NULL DEFAULT '{}', -- Columns published unchanged that tell nothing about a person.
    entity name, -- Column that identifies a person who may have several rows; NULL: each row is a person.
    weights jsonb, -- Cost of a suppressed cell per column; 1 where not mentioned.
    row_types_view name, -- View in schema kanon that counts the row types.
    declared_by name NOT NULL, -- Who declared it.
    declared_at timestamptz NOT NULL DEFAULT pg_catalog.now() -- When it was declared.
);
COMMENT ON TABLE kanon.declaration IS 'The roles that columns of a table play, as declared with kanon_declare.';

-- Rows are added and never changed: nobody but the table's owner may. No sequence: a restored dump would begin it anew.
CREATE TABLE IF NOT EXISTS kanon.event (
    happened_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(), -- When it was done.
    operation text NOT NULL, -- What was called, by the name of the function without kanon.
    object text NOT NULL, -- The release, table or hierarchy, as SQL wrote it then.
    details jsonb NOT NULL, -- What else is known of it: table, k, version; no value of a table.
    role name NOT NULL, -- Whose rights counted.
    login name NOT NULL DEFAULT SESSION_USER -- Who had logged in.
);
CREATE INDEX IF NOT EXISTS event_object ON kanon.event (object, happened_at);
COMMENT ON TABLE kanon.event IS 'What was declared, published, refreshed, dropped and erased; read kanon.history instead.';

CREATE TABLE IF NOT EXISTS kanon.hierarchy (
    name text NOT NULL, -- Name of the hierarchy.
    version integer NOT NULL CHECK (version >= 1), -- Counts up each time that the name is stored again.
    description text, -- What its maker says of it.
    kind text NOT NULL, -- Where it comes from: rows, table, taxonomy, or the name of a builder.
    spec jsonb NOT NULL, -- What it was made with; may contain values.
    output text NOT NULL CHECK ( -- Type of its nodes, and of a column published with it: text or a range type.
        output IN ('text', 'int4range', 'int8range', 'numrange', 'daterange', 'tsrange', 'tstzrange')
    ),
    height integer NOT NULL CHECK (height >= 1), -- The top level, at which a cell is suppressed.
    nodes integer[] NOT NULL, -- Different nodes per level, from the values (level 0) to the top.
    shared boolean NOT NULL DEFAULT false, -- Whether every curator may see and use it; else its maker only.
    created_by name NOT NULL, -- Who stored it.
    created_at timestamptz NOT NULL DEFAULT pg_catalog.now(), -- When it was stored.
    PRIMARY KEY (name, version)
);
COMMENT ON TABLE kanon.hierarchy IS 'Stored generalization hierarchies, one row per version; read kanon.hierarchies instead.';

CREATE TABLE IF NOT EXISTS kanon.hierarchy_value (
    hierarchy text NOT NULL, -- Name of the hierarchy.
    version integer NOT NULL, -- Its version.
    value text COLLATE "C" NOT NULL, -- A value, in the text form of its column's type.
    nodes text[] COLLATE "C" NOT NULL, -- Its nodes from level 1 to the level below the top, in the text form of the output type.
    PRIMARY KEY (hierarchy, version, value),
    FOREIGN KEY (hierarchy, version) REFERENCES kanon.hierarchy (name, version) ON DELETE CASCADE
);
-- The planner would keep values that somebody had and kanon_erase removed: no statistics of them.
ALTER TABLE kanon.hierarchy_value ALTER COLUMN value SET STATISTICS 0, ALTER COLUMN nodes SET STATISTICS 0;
COMMENT ON TABLE kanon.hierarchy_value IS 'The values of stored hierarchies with their nodes.';

CREATE TABLE IF NOT EXISTS kanon.link (
    child regclass PRIMARY KEY, -- The table whose rows belong to somebody.
    parent regclass NOT NULL, -- The table that its foreign key refers to.
    columns name[] NOT NULL, -- Columns of the foreign key, by name.
    parent_columns name[] NOT NULL, -- What each of them refers to.
    linked_by name NOT NULL, -- Who linked it.
    linked_at timestamptz NOT NULL DEFAULT pg_catalog.now() -- When it was linked.
);
COMMENT ON TABLE kanon.link IS 'The tables whose rows belong to people of other tables, as linked with kanon_link.';

CREATE TABLE IF NOT EXISTS kanon.protection (
    relation regclass PRIMARY KEY, -- The table or view.
    k integer NOT NULL CHECK (k BETWEEN 2 AND 100), -- Fewest people behind every figure, and behind every difference of two.
    mode text NOT NULL CHECK (mode IN ('reject', 'suppress')), -- Whether rows with too few people are left out (suppress) or refuse the answer (reject).
    queries integer CHECK (queries >= 1), -- Most queries of one login within a day; NULL for no limit.
    refusals integer CHECK (refusals >= 1), -- Withheld answers to one login within a day after which it is locked out for an hour; NULL for no limit.
    seconds double precision NOT NULL CHECK (seconds > 0), -- Longest time that one query may take.
    rows integer NOT NULL CHECK (rows >= 1), -- Most rows of one block.
    beside_releases text NOT NULL CHECK (beside_releases IN ('allow', 'warn', 'refuse')), -- What happens where those who may query the table may read a release of it: allow, warn, refuse.
    protected_by name NOT NULL, -- Who protected it.
    protected_at timestamptz NOT NULL DEFAULT pg_catalog.now(), -- When it was protected.
    noise jsonb, -- How those are answered who are not named in exact_for; NULL for exactly, like everybody.
    exact_for regrole[] NOT NULL DEFAULT '{}' -- Roles whose members are answered exactly, although there is noise.
);
COMMENT ON TABLE kanon.protection IS 'The tables that answer queries, and under which rules, as set with kanon_protect.';

CREATE TABLE IF NOT EXISTS kanon.record (
    space regclass PRIMARY KEY, -- The table whose people these are: tables that are linked to it share its record.
    name text NOT NULL UNIQUE CHECK (name ~ '^[0-9a-f]{32}$'), -- Name of the file below kanon_ledger in the data directory; random, so that a copy of the database without its files is noticed.
    begun_by name NOT NULL, -- Who began the record.
    begun_at timestamptz NOT NULL DEFAULT pg_catalog.now() -- When it was begun.
);
COMMENT ON TABLE kanon.record IS 'The records of answers about people; stay when their tables are no longer protected.';

CREATE TABLE IF NOT EXISTS kanon.record_mark (
    name text NOT NULL, -- The record, as in kanon.record.
    events bigint NOT NULL, -- Events that it had.
    digest bytea NOT NULL, -- Digest of the last of them, which covers all before it.
    written_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp() -- When this was stored.
);
CREATE INDEX IF NOT EXISTS record_mark_name ON kanon.record_mark (name, events);
COMMENT ON TABLE kanon.record_mark IS 'How far records of answers were written; the last mark of each counts.';

CREATE TABLE IF NOT EXISTS kanon.release (
    name text PRIMARY KEY, -- Name of the view in schema safe.
    relation regclass NOT NULL, -- The base table.
    storage regclass NOT NULL, -- The materialized view behind the view in safe.
    mapping regclass, -- Table that says which columns to suppress for which row type, and at which price; NULL for a release over time.
    parts regclass, -- Table that says which rows of divided row types have which pattern; NULL if none is divided.
    parameters jsonb NOT NULL, -- All arguments of the call that made the release; of hierarchies built for it the name of the builder.
    quasi_identifiers name[] NOT NULL, -- Columns in which cells may be suppressed.
    sensitive name[] NOT NULL, -- Sensitive columns, published unchanged.
    insensitive name[] NOT NULL, -- Insensitive columns, published unchanged.
    entity name, -- Column that identifies a person; NULL: each row is a person.
    k integer NOT NULL CHECK (k >= 2), -- See kanon.release_report.
    rows bigint NOT NULL, -- See kanon.release_report.
    people bigint NOT NULL, -- See kanon.release_report.
    row_types bigint NOT NULL, -- See kanon.release_report.
    classes bigint NOT NULL, -- See kanon.release_report.
    smallest_class bigint NOT NULL, -- See kanon.release_report.
    average_class double precision NOT NULL, -- See kanon.release_report.
    largest_class bigint NOT NULL, -- See kanon.release_report.
    suppressed_cells bigint NOT NULL, -- See kanon.release_report.
    suppressed_share double precision NOT NULL, -- See kanon.release_report.
    weighted_cost double precision NOT NULL, -- See kanon.release_report.
    lower_bound double precision, -- See kanon.release_report.
    gap double precision, -- See kanon.release_report.
    optimal boolean NOT NULL, -- See kanon.release_report.
    method text NOT NULL, -- See kanon.release_report.
    bound_method text, -- See kanon.release_report.
    usefulness double precision, -- See kanon.release_report.
    elapsed interval NOT NULL, -- See kanon.release_report.
    base_changes_at_publish bigint, -- kanon.base_changes of the base table when the release was published.
    published_by name NOT NULL, -- Who published it.
    published_at timestamptz NOT NULL DEFAULT pg_catalog.now(), -- When it was published.
    generalized name[] NOT NULL DEFAULT '{}', -- Quasi-identifiers that are published by a hierarchy.
    nodes regclass[] NOT NULL DEFAULT '{}', -- Per generalized column the table of what is published of its values.
    unknown regclass, -- View that counts rows whose values the hierarchies do not know; NULL without hierarchies.
    certainty_penalty double precision, -- See kanon.measures.
    generalization_height double precision, -- See kanon.measures.
    entropy_loss double precision, -- See kanon.measures.
    marginal_divergence double precision, -- See kanon.measures.
    refreshed_at timestamptz, -- When kanon_refresh counted it last; NULL if not since it was published.
    termination text, -- See kanon.release_report.
    source regclass, -- What the materialized view reads of the base table, with the rights of the table's reader; NULL for a release over time.
    people_view regclass, -- View of the people of linked tables, which the release reads in place of its base table; NULL without such tables.
    secret text -- Name of the secret of its pseudonyms; NULL without pseudonyms.
);
COMMENT ON TABLE kanon.release IS 'The published releases, one row each; read kanon.releases instead.';

CREATE TABLE IF NOT EXISTS kanon.release_lock (
    name text PRIMARY KEY, -- Name of the release.
    generation bigint NOT NULL DEFAULT 0 -- How often it was published; part of the names of its storage.
);
COMMENT ON TABLE kanon.release_lock IS 'One row per release name; a call locks its row, so that calls never interleave.';

CREATE TABLE IF NOT EXISTS kanon.release_table (
    release text NOT NULL, -- Name of the release, as in kanon.release.
    name text PRIMARY KEY, -- Name of the view in schema safe.
    relation regclass NOT NULL, -- The table.
    place integer NOT NULL, -- Order of publishing: what a table is linked to comes before it.
    storage regclass NOT NULL, -- The materialized view behind the view in safe.
    source regclass NOT NULL, -- What that reads of the tables, with the rights of the reader of the release's base table.
    numbers_known boolean NOT NULL, -- Whether somebody could know how many of its rows a person has.
    sensitive name[] NOT NULL, -- Sensitive columns, published unchanged.
    insensitive name[] NOT NULL, -- Insensitive columns, published unchanged.
    key_columns name[] NOT NULL, -- Columns of the view that tell its rows apart, all pseudonyms; empty if no other table refers to it.
    foreign_keys jsonb NOT NULL, -- Which columns of the view refer to which columns of which other view of the release.
    base_rows bigint NOT NULL, -- Rows of the table when the release was published or refreshed.
    rows bigint NOT NULL, -- Rows of the view then.
    UNIQUE (release, place)
);
COMMENT ON TABLE kanon.release_table IS 'The further tables of releases of linked tables.';

CREATE TABLE IF NOT EXISTS kanon.remembered (
    release text, -- Name of the release, as in kanon.release.
    version bigint CHECK (version >= 1), -- Number of the version, from 1; of a release over time as in kanon.series.
    classes regclass NOT NULL, -- Table of the rows of the version: identity, person, class, all hashed.
    key_columns name[] NOT NULL, -- Columns that identified a row.
    k integer NOT NULL, -- Fewest people of a class of this version.
    entity name, -- Column that identified a person; NULL: each row was a person.
    published_at timestamptz NOT NULL DEFAULT pg_catalog.now(), -- When the version was published.
    erased_rows bigint NOT NULL DEFAULT 0, -- Rows of people who were erased since; kanon_composition counts them as unseen.
    PRIMARY KEY (release, version)
);
COMMENT ON TABLE kanon.remembered IS 'The versions of releases that kanon_composition can look at although readers see a later one.';

-- Who calls an API function. Inside a definer function the caller's own role is out of sight, and the login is
-- not it: maintenance by a superuser runs the code of a table's owner with that owner's rights only. So the API
-- functions, which run with the caller's rights, add a row whose defaults nobody can choose. A trigger of the table would
-- run with these rights, too: the table is made anew each time, with nothing that others added.
DROP TABLE IF EXISTS kanon.request CASCADE;
CREATE TABLE kanon.request (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- Order of the calls.
    operation text NOT NULL, -- What was called; the only column that callers may set.
    role name NOT NULL DEFAULT current_user, -- Whose rights count.
    transaction xid8 NOT NULL DEFAULT pg_catalog.pg_current_xact_id() -- The transaction of the call; a row is good for no other.
);
COMMENT ON TABLE kanon.request IS 'Calls that are being served; empty between transactions.';

CREATE TABLE IF NOT EXISTS kanon.secret (
    name text PRIMARY KEY, -- release:... of one publication, gone with it; shared:... of what is given by name.
    value bytea NOT NULL, -- 32 bytes that decide which pseudonym a key has.
    created_at timestamptz NOT NULL DEFAULT pg_catalog.now() -- When it was made.
);
COMMENT ON TABLE kanon.secret IS 'Secrets of pseudonyms; nobody but kanon_owner reads them.';

CREATE TABLE IF NOT EXISTS kanon.series (
    release text PRIMARY KEY, -- Name of the release, as in kanon.release.
    version bigint NOT NULL CHECK (version >= 1), -- Number of the version that readers see, from 1.
    request jsonb NOT NULL, -- All arguments of the call that started the series.
    weights jsonb NOT NULL, -- Cost of a suppressed cell per quasi-identifier, as it was declared then.
    key_columns name[] NOT NULL, -- Columns that identify a row.
    current_rows regclass NOT NULL, -- View that gives each row of the base table its identity and a fingerprint of its contents.
    members regclass NOT NULL, -- Table of the published rows: identity, cohort, and the cells as published.
    cohorts regclass NOT NULL, -- Table of the cohorts: rows and people of each, and whether it is shown.
    departed regclass NOT NULL, -- Table of the rows that left, with whom they left.
    pending regclass NOT NULL, -- Table of the rows that wait for a later version.
    cohorts_ever bigint NOT NULL, -- Highest number of a cohort so far.
    pending_people bigint NOT NULL DEFAULT 0, -- See kanon.releases.
    longest_wait bigint NOT NULL DEFAULT 0, -- See kanon.releases.
    withheld_rows bigint NOT NULL DEFAULT 0, -- See kanon.releases.
    retained_rows bigint NOT NULL DEFAULT 0, -- See kanon.releases.
    key_view regclass -- View of these columns, which follows them when they are renamed.
);
COMMENT ON TABLE kanon.series IS 'The releases over time, one row each; kanon.releases shows their figures.';

CREATE TABLE IF NOT EXISTS kanon.version (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row), -- Always true; keeps the table at one row.
    version text NOT NULL, -- Version of the SQL objects; the Python package must have the same.
    api_schema name NOT NULL, -- Schema of the kanon_... functions.
    plpython boolean NOT NULL, -- Whether the functions exist in the server, or only the client can work.
    created_extension boolean NOT NULL DEFAULT false, -- Whether the installation created the extension plpython3u.
    created_api_schema boolean NOT NULL DEFAULT false, -- Whether the installation created the schema of the functions.
    revoked_temporary boolean NOT NULL DEFAULT false, -- Whether PUBLIC had TEMPORARY on the database before.
    revoked_create_database boolean NOT NULL DEFAULT false, -- Whether PUBLIC had CREATE on the database before.
    revoked_create_schemas name[] NOT NULL DEFAULT '{}', -- Schemas on which PUBLIC had CREATE before.
    installed_at timestamptz NOT NULL DEFAULT pg_catalog.now(), -- When kanon was first installed into this database.
    updated_at timestamptz NOT NULL DEFAULT pg_catalog.now() -- When it was last installed.
);
COMMENT ON TABLE kanon.version IS 'One row: the installed version and what the installation changed outside its schemas.';

-- Who may use them.
GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE
    kanon.base, kanon.declaration, kanon.hierarchy, kanon.hierarchy_value, kanon.link, kanon.protection, kanon.record,
    kanon.record_mark, kanon.release, kanon.release_lock, kanon.release_table, kanon.remembered, kanon.secret, kanon.series,
    kanon.version
TO kanon_owner;
-- time and login are the server's
GRANT SELECT, INSERT (operation, object, details, role) ON TABLE kanon.event TO kanon_owner;
GRANT SELECT ON TABLE kanon.base TO kanon_analyst, kanon_reader;
GRANT SELECT ON TABLE
    kanon.declaration, kanon.link, kanon.protection, kanon.record, kanon.record_mark, kanon.release
TO kanon_reader;
GRANT SELECT, DELETE ON TABLE kanon.request TO kanon_owner;
GRANT INSERT (operation) ON TABLE kanon.request TO kanon_curator;
