package ddl

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/lang/sqltext"
	"github.com/iikanji/iikanji/internal/machine/host"
)

// TestMovedSchemaFile: the SQL files of initialize stay where they are when the database moves.
// The copies on its new machine are never read, since initialize does not load them.
func TestMovedSchemaFile(t *testing.T) {
	const folder = "/home/isu/sql"
	machine := func(name, column string) *host.Fake {
		root, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Join(root, folder), 0o755); err != nil {
			t.Fatal(err)
		}
		text := "CREATE TABLE isu (id int PRIMARY KEY, " + column + " int);\n"
		if err := os.WriteFile(filepath.Join(root, folder, "0_Schema.sql"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return &host.Fake{Root: root, Host: name}
	}
	hosts := map[string]host.Host{"isu1": machine("isu1", "loaded"), "isu2": machine("isu2", "idle")}
	for _, on := range []string{"isu1", "isu2"} {
		site := &change.Site{Hosts: hosts, Services: map[string]change.Service{"mariadb": {Host: on, Loads: []string{folder}, LoadsOn: "isu1"}}}
		found, err := searchFiles(t.Context(), site, table{dialect: sqltext.MySQL, schema: "isu", name: "isu"})
		if err != nil {
			t.Fatal(err)
		}
		if len(found.found) != 1 || found.found[0].location() != "isu1:"+folder+"/0_Schema.sql" || !strings.Contains(found.found[0].sql, "loaded") {
			t.Errorf("with the database on %s the files are %s", on, paths(found.found))
		}
	}
}
