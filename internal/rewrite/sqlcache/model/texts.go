package model

// The statements of the clients. A plan for the model lists all of them but
// those whose names begin with Unlisted.
const (
	Table = "m"

	ReadID    = "SELECT val FROM m WHERE id = ?"
	ReadIDs   = "SELECT id, val FROM m WHERE id IN (?, ?, ?) ORDER BY id"
	ReadGroup = "SELECT id, val FROM m WHERE grp = ? ORDER BY id"
	ReadWhole = "SELECT id, val FROM m ORDER BY id"
	ReadCount = "SELECT COUNT(*) FROM m WHERE grp = ? AND id = ?"
	// ReadGroups gives keys for children, and is not recorded.
	ReadGroups = "SELECT id, grp FROM m ORDER BY id"
	ReadPair   = "SELECT a.val FROM m a JOIN m b ON b.id = a.id WHERE a.id = ?"

	SetValue      = "UPDATE m SET val = ? WHERE id = ?"
	SetGroup      = "UPDATE m SET grp = ? WHERE id = ?"
	SetValueGroup = "UPDATE m SET val = ? WHERE grp = ?"
	Remove        = "DELETE FROM m WHERE id = ?"
	Insert        = "INSERT INTO m (id, grp, val) VALUES (?, ?, ?)"
	InsertTwo     = "INSERT INTO m (id, grp, val) VALUES (?, ?, ?), (?, ?, ?)"
	Put           = "INSERT INTO m (id, grp, val) VALUES (?, ?, ?) ON DUPLICATE KEY UPDATE val = ?"

	// PutSQLite is Put in the dialect of SQLite.
	PutSQLite = "INSERT INTO m (id, grp, val) VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE SET val = ?"

	// UnlistedID, UnlistedGroup and UnlistedCount ask what ReadID, ReadGroup and ReadCount do.
	UnlistedID    = "SELECT val FROM m WHERE id = ? AND 1 = 1"
	UnlistedGroup = "SELECT id, val FROM m WHERE grp = ? AND 1 = 1 ORDER BY id"
	UnlistedCount = "SELECT COUNT(*) FROM m WHERE grp = ? AND id = ? AND 1 = 1"

	UnlistedSet   = "UPDATE m AS x SET val = ? WHERE id + 0 = ?"
	UnlistedClear = "DELETE FROM m"
)

// Create makes the table. The collation takes upper and lower case, and letters
// with and without an accent, for equal.
const Create = `CREATE TABLE m (id INT PRIMARY KEY, grp VARCHAR(20) NOT NULL, val BIGINT NOT NULL, KEY (grp))
	ENGINE=InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci`

// CreateSQLite makes the table in a file of SQLite. The collation takes upper and lower
// case of ASCII for equal.
const CreateSQLite = `CREATE TABLE m (id INTEGER PRIMARY KEY, grp TEXT NOT NULL COLLATE NOCASE, val INTEGER NOT NULL);
	CREATE INDEX m_grp ON m (grp)`
