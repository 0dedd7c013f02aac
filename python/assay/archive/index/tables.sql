-- The tables of the index, for SQLite and PostgreSQL alike; docs/formats/index.md describes their columns.
-- Times are integers of nanoseconds, since dates come back differently from the two. Lists of texts and numbers that
-- nothing is searched by are JSON. Keys are given by the writer: the two count them differently.

CREATE TABLE IF NOT EXISTS assay_index_version (version_num VARCHAR(32) PRIMARY KEY);

-- Of a run, whether or not it is in the index: a run that is read again keeps it.
CREATE TABLE IF NOT EXISTS assay_notes (
    address TEXT PRIMARY KEY, hidden BOOLEAN NOT NULL, bad BOOLEAN NOT NULL, reason TEXT NOT NULL, note TEXT NOT NULL,
    role TEXT NOT NULL, at_ns BIGINT NOT NULL
);

CREATE TABLE assay_runs (
    key INTEGER PRIMARY KEY,
    -- Host, folder of runs, and the run folder in it.
    site TEXT NOT NULL, parent TEXT NOT NULL, folder TEXT NOT NULL,
    -- What the folder looked like when it was read, and by what; when it was first found missing.
    look TEXT NOT NULL, made_by TEXT NOT NULL, missing_since_ns BIGINT, run_id TEXT NOT NULL, run_schema INTEGER,
    name TEXT NOT NULL, started TEXT NOT NULL, started_wall_ns BIGINT, tool_version TEXT NOT NULL,
    edition TEXT NOT NULL, suite TEXT NOT NULL, operator TEXT NOT NULL, lab TEXT NOT NULL, host TEXT NOT NULL,
    system TEXT NOT NULL, label TEXT NOT NULL, label_class TEXT NOT NULL, deviations TEXT NOT NULL,
    level TEXT NOT NULL, drive TEXT NOT NULL, drive_id TEXT, drive_kind TEXT, drive_model TEXT, drive_serial TEXT,
    drive_firmware TEXT, drive_capacity_bytes BIGINT, journal_hash TEXT NOT NULL, journal_lines BIGINT NOT NULL,
    complete BOOLEAN NOT NULL, interrupted BOOLEAN NOT NULL, withheld BOOLEAN NOT NULL, exit_codes TEXT NOT NULL,
    exit_code INTEGER NOT NULL, fault TEXT, numbers_fault TEXT,
    -- What pages ask for it by, and its drive.
    address TEXT NOT NULL, drive_address TEXT NOT NULL,
    -- What is searched, without regard to case.
    name_folded TEXT NOT NULL, host_folded TEXT NOT NULL, system_folded TEXT NOT NULL, lab_folded TEXT NOT NULL,
    drive_folded TEXT NOT NULL, drive_id_folded TEXT NOT NULL, drive_serial_folded TEXT NOT NULL,
    drive_model_folded TEXT NOT NULL, drive_firmware_folded TEXT NOT NULL, words TEXT NOT NULL,
    -- What was done to the drive, and what it reported.
    written_bytes BIGINT, wear_pct_first DOUBLE PRECISION, wear_pct_last DOUBLE PRECISION,
    temperature_c_max DOUBLE PRECISION, health TEXT NOT NULL,
    UNIQUE (site, parent, folder)
);
CREATE INDEX ix_assay_runs_address ON assay_runs (address);
CREATE INDEX ix_assay_runs_drive_address ON assay_runs (drive_address);
-- The newest runs are listed from this alone.
CREATE INDEX ix_assay_runs_started ON assay_runs (started_wall_ns, missing_since_ns, site, parent, address);

CREATE TABLE assay_tags (
    run_key INTEGER NOT NULL REFERENCES assay_runs (key) ON DELETE CASCADE,
    place INTEGER NOT NULL, tag TEXT NOT NULL, tag_folded TEXT NOT NULL,
    PRIMARY KEY (run_key, place)
);

CREATE TABLE assay_tests (
    key INTEGER PRIMARY KEY,
    run_key INTEGER NOT NULL REFERENCES assay_runs (key) ON DELETE CASCADE,
    place INTEGER NOT NULL, test TEXT NOT NULL, procedure TEXT NOT NULL, edition TEXT NOT NULL, verdict TEXT NOT NULL,
    measured TEXT NOT NULL, ended TEXT, reached BOOLEAN NOT NULL, cut_short BOOLEAN NOT NULL, withheld TEXT,
    started_wall_ns BIGINT NOT NULL, ended_wall_ns BIGINT, test_folded TEXT NOT NULL, procedure_folded TEXT NOT NULL,
    edition_folded TEXT NOT NULL,
    -- What runs share in a trend, as JSON, and its digest; last, since only a row of many is read.
    conditions_key TEXT NOT NULL, conditions TEXT NOT NULL
);
CREATE INDEX ix_assay_tests_run_key ON assay_tests (run_key);

CREATE TABLE assay_measures (
    test_key INTEGER NOT NULL REFERENCES assay_tests (key) ON DELETE CASCADE,
    place INTEGER NOT NULL, cell TEXT NOT NULL, label TEXT NOT NULL, name TEXT NOT NULL, unit TEXT NOT NULL,
    better TEXT NOT NULL, stat TEXT NOT NULL, value DOUBLE PRECISION, rounds TEXT NOT NULL, judged BOOLEAN NOT NULL,
    bound DOUBLE PRECISION, mark TEXT,
    -- Of the few that lists print: whether it is one, as what, where from, and what the data sheet claims.
    quoted BOOLEAN NOT NULL, printed TEXT NOT NULL, basis TEXT NOT NULL, claim DOUBLE PRECISION,
    PRIMARY KEY (test_key, place)
);
-- Lists are sorted by this alone.
CREATE INDEX ix_assay_measures_quoted ON assay_measures (test_key, place, printed, unit, value, quoted) WHERE quoted;
