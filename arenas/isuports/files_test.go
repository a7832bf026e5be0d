package isuports

import (
	"testing"
	"testing/fstest"

	"github.com/iikanji/iikanji/internal/contest/arena"
)

func TestFiles(t *testing.T) {
	a, ok := arena.Find("isuports")
	if !ok {
		t.Fatal("the arena is not registered")
	}
	if err := fstest.TestFS(a.Files, "go/main.go", "go/go.mod", "go/go.sum", "blackauth/main.go", "blackauth/rsa-private.pem", "public.pem",
		"sql/init.sh", "sql/load.sh", "sql/init.sql", "sql/admin/10_schema.sql", tenantSchema, "public/index.html",
		a.Service("nginx").Configs[0].Template); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"_go", "_blackauth/main.go", "sql/none", adminData, pristineDir} {
		if _, err := a.Files.Open(name); err == nil {
			t.Errorf("%s opens", name)
		}
	}
}
