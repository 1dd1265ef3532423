-- A run of format 1.
PRAGMA page_size = 8192;
PRAGMA application_id = 1786081889;
PRAGMA user_version = 1;
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE document (name TEXT PRIMARY KEY, body BLOB NOT NULL) STRICT;
CREATE TABLE source (id INTEGER PRIMARY KEY, name TEXT NOT NULL, path TEXT, size INTEGER, mtime_ns INTEGER) STRICT;
CREATE TABLE task (
  ix INTEGER PRIMARY KEY, id TEXT NOT NULL, kind TEXT NOT NULL, gate TEXT NOT NULL, stage INTEGER NOT NULL,
  path TEXT, operator TEXT, expected TEXT
) STRICT;
CREATE TABLE variant (ix INTEGER PRIMARY KEY, prompt TEXT NOT NULL, subject TEXT NOT NULL, replicate INTEGER NOT NULL) STRICT;
CREATE TABLE block (
  id INTEGER PRIMARY KEY, first INTEGER NOT NULL, last INTEGER NOT NULL, n INTEGER NOT NULL,
  row_hash BLOB, cases BLOB, took BLOB, places BLOB NOT NULL, ids BLOB NOT NULL
) STRICT;
CREATE INDEX block_range ON block (first, last);
CREATE TABLE verdicts (task INTEGER NOT NULL, block INTEGER NOT NULL, codes BLOB NOT NULL) STRICT;
CREATE UNIQUE INDEX verdicts_place ON verdicts (task, block);
CREATE TABLE scores (task INTEGER NOT NULL, block INTEGER NOT NULL, body BLOB NOT NULL) STRICT;
CREATE UNIQUE INDEX scores_place ON scores (task, block);
CREATE TABLE labels (task INTEGER NOT NULL, block INTEGER NOT NULL, body BLOB NOT NULL) STRICT;
CREATE UNIQUE INDEX labels_place ON labels (task, block);
CREATE TABLE detail (block INTEGER NOT NULL, first_slot INTEGER NOT NULL, body BLOB NOT NULL) STRICT;
CREATE UNIQUE INDEX detail_place ON detail (block, first_slot);
CREATE TABLE evidence (block INTEGER NOT NULL, first_slot INTEGER NOT NULL, body BLOB NOT NULL) STRICT;
CREATE UNIQUE INDEX evidence_place ON evidence (block, first_slot);
CREATE TABLE effect (
  id INTEGER PRIMARY KEY, key8 INTEGER NOT NULL, key BLOB NOT NULL, kind TEXT NOT NULL, model TEXT NOT NULL,
  served TEXT, at_ms INTEGER NOT NULL, request ANY NOT NULL, outcome ANY NOT NULL
) STRICT;
CREATE TABLE site (
  case_ix INTEGER NOT NULL, task INTEGER NOT NULL, seat INTEGER NOT NULL, turn INTEGER NOT NULL, attempt INTEGER NOT NULL,
  effect INTEGER NOT NULL, reused INTEGER NOT NULL,
  PRIMARY KEY (case_ix, task, seat, turn, attempt)
) STRICT, WITHOUT ROWID;
CREATE TABLE id_page (id INTEGER PRIMARY KEY, first_hash INTEGER NOT NULL, body BLOB NOT NULL) STRICT;
CREATE INDEX id_page_hash ON id_page (first_hash);
CREATE TABLE repeated (row INTEGER PRIMARY KEY, hash BLOB NOT NULL, number INTEGER NOT NULL) STRICT;
CREATE INDEX repeated_hash ON repeated (hash, number);
CREATE TABLE summary (
  task INTEGER NOT NULL, slice TEXT NOT NULL,
  passed INTEGER NOT NULL DEFAULT 0, failed INTEGER NOT NULL DEFAULT 0, measured INTEGER NOT NULL DEFAULT 0,
  skipped_by_gate INTEGER NOT NULL DEFAULT 0, skipped_by_error INTEGER NOT NULL DEFAULT 0, error INTEGER NOT NULL DEFAULT 0,
  not_run INTEGER NOT NULL DEFAULT 0, absent INTEGER NOT NULL DEFAULT 0, not_judged INTEGER NOT NULL DEFAULT 0,
  body TEXT,
  PRIMARY KEY (task, slice)
) STRICT, WITHOUT ROWID;
CREATE TABLE event (id INTEGER PRIMARY KEY, at_ms INTEGER NOT NULL, body TEXT NOT NULL) STRICT;
INSERT INTO meta (key, value) VALUES ('created_at_ms', '1794765845000');
INSERT INTO meta (key, value) VALUES ('ended', 'done');
INSERT INTO meta (key, value) VALUES ('ended_at_ms', '1763229846000');
INSERT INTO meta (key, value) VALUES ('id', '2026-11-15T18-04-05_golden_x7k2');
INSERT INTO meta (key, value) VALUES ('min_reader', '1');
INSERT INTO meta (key, value) VALUES ('resumable', '0');
INSERT INTO meta (key, value) VALUES ('resume_key', 'resume');
INSERT INTO meta (key, value) VALUES ('seed', '18446744073709551615');
INSERT INTO meta (key, value) VALUES ('suite', 'golden');
INSERT INTO meta (key, value) VALUES ('suite_hash', '0123abcd');
INSERT INTO meta (key, value) VALUES ('version', '0.1.0');
INSERT INTO meta (key, value) VALUES ('wall_us', '1500000');
INSERT INTO document (name, body) VALUES ('plan.json', X'017B227461736B73223A205B5D7D');
INSERT INTO document (name, body) VALUES ('suite.yaml', X'0228B52FFD60B800ED0000B073756974653A20676F6C64656E202320616761696E0A01003E539D4D');
INSERT INTO source (id, name, path, size, mtime_ns) VALUES (0, '`rows.jsonl`', 'rows.jsonl', 173, 1);
INSERT INTO source (id, name, path, size, mtime_ns) VALUES (1, 'standard input', NULL, NULL, NULL);
INSERT INTO task (ix, id, kind, gate, stage, path, operator, expected) VALUES (0, '', 'case', '', 0, NULL, NULL, NULL);
INSERT INTO task (ix, id, kind, gate, stage, path, operator, expected) VALUES (1, 'gate', 'assert', 'condition', 1, 'answer', 'exists', NULL);
INSERT INTO task (ix, id, kind, gate, stage, path, operator, expected) VALUES (2, 'tone', 'judge', '', 2, NULL, NULL, '`polite`');
INSERT INTO variant (ix, prompt, subject, replicate) VALUES (0, 'plain', 'small', 0);
INSERT INTO variant (ix, prompt, subject, replicate) VALUES (1, 'plain', 'large', 0);
INSERT INTO block (id, first, last, n, row_hash, cases, took, places, ids) VALUES (1, 0, 7, 6, X'F071A7B7A564333ED51ECC28E277C7A4BEAE5D10798E11AB3901A143EC3EA4A8', X'01000101010202', X'0100E807D00FB8178827D836', X'01EB0100010001980101A0029801', X'010700666972737400011B96029FE3FE4DB38B532EB58DB1CCC50007007468697264011B96029FE3FE4DB38B532EB58DB1CCC5');
INSERT INTO block (id, first, last, n, row_hash, cases, took, places, ids) VALUES (2, 4, 11, 6, X'079A2CF9004F08C3BC96BBB1D45EF17FD740FD0E7B767318686F20EB90D4CFE0', X'01000202010101', X'01A01FF02EC03EA846904EF855', X'01A3020003329801F801010C0901', X'0107007468697264011B96029FE3FE4DB38B532EB58DB1CCC5070066696674680003047900');
INSERT INTO verdicts (task, block, codes) VALUES (0, 1, X'01105812');
INSERT INTO verdicts (task, block, codes) VALUES (1, 1, X'01000100');
INSERT INTO verdicts (task, block, codes) VALUES (2, 1, X'01105312');
INSERT INTO verdicts (task, block, codes) VALUES (0, 2, X'01065826');
INSERT INTO verdicts (task, block, codes) VALUES (1, 2, X'01000100');
INSERT INTO verdicts (task, block, codes) VALUES (2, 2, X'01065326');
INSERT INTO scores (task, block, body) VALUES (2, 1, X'0132000000000000D03F000000000000C0BF000000000000D03F');
INSERT INTO scores (task, block, body) VALUES (2, 2, X'0120000000000000C0BF');
INSERT INTO labels (task, block, body) VALUES (2, 1, X'01010472756465000100000001');
INSERT INTO detail (block, first_slot, body) VALUES (1, 1, X'0228B52FFD605000AD0400120A1F1D6035D618D0D1D67E626F5D9A184264AC436A18385028A1B244050AF4040362BEEC00747A9E3BBD0785700304C42CD20BA5268B18C4BC8008A71753387AAE76C96595566D116DABE6F4CAA602A361940F009EC84EBBC7A23A6D0AB3A3574BBEB63ACBA953C72EB938F90CA38F8DAC3DE538BD3626AB307B738C5304070008A121F0676B6AE453DE5516C2AE9B1461D77C02');
INSERT INTO detail (block, first_slot, body) VALUES (2, 0, X'01302032207B226D657373616765223A22627564676574227D0A322032207B2262656361757365223A317D0A332032207B226D657373616765223A226E6F20616E73776572227D0A342032207B226D657373616765223A22627564676574227D0A');
INSERT INTO evidence (block, first_slot, body) VALUES (1, 1, X'01011D7B226964223A20226669727374222C2022616E73776572223A2034327D04247B226964223A20227468697264222C2022616E73776572223A20226772C3BCC39F65227D05137B22616E73776572223A20226E6F206964227D');
INSERT INTO evidence (block, first_slot, body) VALUES (2, 0, X'0100247B226964223A20227468697264222C2022616E73776572223A20226772C3BCC39F65227D021F7B226964223A20226669667468222C2022616E73776572223A206E756C6C7D04217B226964223A20226669667479222C2022616E73776572223A205B312C20325D7D');
INSERT INTO effect (id, key8, key, kind, model, served, at_ms, request, outcome) VALUES (1, -804059201453072521, X'F4D7686A97015F77785AED9A660E26685080B627E72895538245527892FA7BD2', 'model', 'judge', 'judge-2026', 1002, 'short', '{"answer":"short"}');
INSERT INTO effect (id, key8, key, kind, model, served, at_ms, request, outcome) VALUES (2, -3291560552346894881, X'D252071DF8ACBDDF96FC58146CCFAC9774B94672283FB6C2076F7E398DA31E36', 'model', 'judge', 'judge-2026', 1003, X'0228B52FFD60C809BD0100E402612070726F6D70742074686174206973206C6F6E6720656E6F75676820746F20626520636F6D70726573736564200100BE54F45519', X'0228B52FFD60D509250200B4037B22616E73776572223A22612070726F6D70742074686174206973206C6F6E6720656E6F75676820746F20626520636F6D7072657373656420227D010079A9E82B28');
INSERT INTO effect (id, key8, key, kind, model, served, at_ms, request, outcome) VALUES (3, -381554385594208664, X'FAB4724ED02A2E68BD34216A7BBFB4FBB1D6E0D733AB2473C25BCA21D9BF2AC6', 'model', 'judge', NULL, 1003, 'subject', '{}');
INSERT INTO site (case_ix, task, seat, turn, attempt, effect, reused) VALUES (2, 1, 0, 0, 0, 1, 0);
INSERT INTO site (case_ix, task, seat, turn, attempt, effect, reused) VALUES (3, 0, 0, 0, 0, 3, 0);
INSERT INTO site (case_ix, task, seat, turn, attempt, effect, reused) VALUES (3, 1, 1, 2, 1, 2, 0);
INSERT INTO site (case_ix, task, seat, turn, attempt, effect, reused) VALUES (5, 1, 0, 0, 0, 1, 1);
INSERT INTO id_page (id, first_hash, body) VALUES (1, 993889585639401177, X'01011B96029FE3FE4DB38B532EB58DB1CCC533F48252CE0CD5AA7589DFFB1F1A229A795ED4D2D9F15BA8286754FA76639C3AC3ADE8DD8F63871AB837C0F8068A56EAC9CBC8166703D7B011D9552B2B5188A50102050400');
INSERT INTO repeated (row, hash, number) VALUES (3, X'1B96029FE3FE4DB38B532EB58DB1CCC5', 2);
INSERT INTO summary (task, slice, passed, failed, measured, skipped_by_gate, skipped_by_error, error, not_run, absent, not_judged, body) VALUES (0, '', 2, 2, 2, 0, 0, 2, 2, 0, 2, NULL);
INSERT INTO summary (task, slice, passed, failed, measured, skipped_by_gate, skipped_by_error, error, not_run, absent, not_judged, body) VALUES (0, '["half","first"]', 1, 1, 1, 0, 0, 1, 1, 0, 1, NULL);
INSERT INTO summary (task, slice, passed, failed, measured, skipped_by_gate, skipped_by_error, error, not_run, absent, not_judged, body) VALUES (0, '["half","second"]', 1, 1, 1, 0, 0, 1, 1, 0, 1, NULL);
INSERT INTO summary (task, slice, passed, failed, measured, skipped_by_gate, skipped_by_error, error, not_run, absent, not_judged, body) VALUES (1, '', 10, 2, 0, 0, 0, 0, 0, 0, 0, NULL);
INSERT INTO summary (task, slice, passed, failed, measured, skipped_by_gate, skipped_by_error, error, not_run, absent, not_judged, body) VALUES (1, '["half","first"]', 5, 1, 0, 0, 0, 0, 0, 0, 0, NULL);
INSERT INTO summary (task, slice, passed, failed, measured, skipped_by_gate, skipped_by_error, error, not_run, absent, not_judged, body) VALUES (1, '["half","second"]', 5, 1, 0, 0, 0, 0, 0, 0, 0, NULL);
INSERT INTO summary (task, slice, passed, failed, measured, skipped_by_gate, skipped_by_error, error, not_run, absent, not_judged, body) VALUES (2, '', 2, 2, 2, 2, 0, 2, 2, 0, 0, '{"cost_usd":0.25}');
INSERT INTO summary (task, slice, passed, failed, measured, skipped_by_gate, skipped_by_error, error, not_run, absent, not_judged, body) VALUES (2, '["half","first"]', 1, 1, 1, 1, 0, 1, 1, 0, 0, NULL);
INSERT INTO summary (task, slice, passed, failed, measured, skipped_by_gate, skipped_by_error, error, not_run, absent, not_judged, body) VALUES (2, '["half","second"]', 1, 1, 1, 1, 0, 1, 1, 0, 0, NULL);
INSERT INTO event (id, at_ms, body) VALUES (1, 5, 'half way');
