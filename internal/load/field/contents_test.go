package field

import (
	"database/sql"
	"maps"
	"testing"

	"github.com/iikanji/iikanji/internal/site/facts/factstest"
)

// TestChecksumOfGeneratedColumns restarts a server and reads generated columns: the result of
// CHECKSUM TABLE for the same rows depends on both, and the rehearsal's checksum must not.
func TestChecksumOfGeneratedColumns(t *testing.T) {
	srv, err := factstest.Start(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.Stop)
	db, err := srv.Open(t.Context(), "shop")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	execute(t, db, "CREATE TABLE chair (id INT PRIMARY KEY, name VARCHAR(64), price INT NOT NULL, spot POINT NOT NULL DEFAULT POINT(price, id),"+
		" `price range` TINYINT AS (CASE WHEN price < 3000 THEN 0 ELSE 1 END) VIRTUAL INVISIBLE, KEY (`price range`, price))")
	execute(t, db, "CREATE TABLE sale (id INT PRIMARY KEY, note VARCHAR(30), a INT NOT NULL, b INT AS (a + 1) STORED INVISIBLE,"+
		" c INT AS (a + 2) VIRTUAL, d INT AS (a + 3) VIRTUAL, KEY (b), KEY (c, a), KEY (d, note))")
	execute(t, db, "INSERT INTO sale (id, a) SELECT seq, seq FROM seq_1_to_100")
	execute(t, db, "INSERT INTO chair (id, name, price) SELECT seq, IF(seq % 10, CONCAT('椅子 ', seq), NULL), seq * 7 % 9000 FROM seq_1_to_1000")

	all := checksums(t, db)
	for range 2 {
		if err := srv.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if now := checksums(t, db); !maps.Equal(now, all) {
				t.Fatalf("the checksums of the same rows were %v and are %v", all, now)
			}
			for _, read := range []string{"SELECT b, c, d FROM sale", "SELECT `price range` FROM chair"} {
				execute(t, db, read)
			}
		}
	}
	before := all["chair"]
	for _, change := range []string{
		"UPDATE chair SET price = price + 1 WHERE id = 5",
		"UPDATE chair SET name = 'NULL' WHERE id = 10",
		"UPDATE chair SET spot = POINT(1, 1) WHERE id = 7",
		"UPDATE chair a JOIN chair b ON a.id = 21 AND b.id = 22 SET a.name = b.name, b.name = a.name",
		"DELETE FROM chair WHERE id = 1000",
	} {
		execute(t, db, change)
		after := checksums(t, db)["chair"]
		if after == before {
			t.Errorf("the checksum is the same after %s", change)
		}
		before = after
	}
}

func execute(t *testing.T, db *sql.DB, statement string) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

func checksums(t *testing.T, db *sql.DB) map[string]string {
	t.Helper()
	sums := map[string]string{}
	if err := sumTables(t.Context(), db, "", sums); err != nil {
		t.Fatal(err)
	}
	return sums
}
