package rewrite

import "testing"

func TestOfMigration(t *testing.T) {
	for _, c := range []struct {
		pkg, file string
		want      bool
	}{
		{"migrations", "/app/migrations/v31.go", true},
		{"migration", "/app/pkg/migration/20240102150405.go", true},
		{"migrations", "/app/internal/migrations/v2.1.0.go", true},
		{"db", "/app/dbmigrate/0003_users.go", true},
		{"migrations", "/app/migrations/migrations.go", false},
		{"migration", "/app/modules/migration/import.go", false},
		{"api", "/app/api/v1.go", false},
	} {
		if got := ofMigration(c.pkg, c.file); got != c.want {
			t.Errorf("%s, package %s: %t", c.file, c.pkg, got)
		}
	}
}
