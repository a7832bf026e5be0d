package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/load/field"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/site/arenasite"
)

// TestWhichFile tests, on a real arena with two schema files that create the same
// table, that the file whose statement initialize executes is edited.
func TestWhichFile(t *testing.T) {
	tier.Slow(t)
	err := onArena(t, "isucondition", freshFolder(t, "isucondition"), func(ctx context.Context, w *liveTarget, f *field.Field) error {
		sql := filepath.Join(stackOf(w).Places().Dir, "webapp", "sql")
		schema, err := os.ReadFile(filepath.Join(sql, "0_Schema.sql"))
		if err != nil {
			return err
		}
		old := strings.ReplaceAll(string(schema), "`id` bigint AUTO_INCREMENT", "`id` bigint(20) AUTO_INCREMENT")
		if err := os.WriteFile(filepath.Join(sql, "0_Old.sql"), []byte(old), 0o644); err != nil {
			return err
		}
		if err := f.Initialize(ctx); err != nil {
			return err
		}
		index := iikanji.Remedy{Kind: "ddl", Target: "database", Args: map[string]string{"act": "add index", "schema": w.Subject.(*arenasite.Subject).Stack.Places().Service("database").Schema,
			"table": "isu_condition", "columns": "jia_isu_uuid, timestamp", "into": "schema file"}}
		_, refused := change.Plan(ctx, w.Site(), index)
		if refused == nil {
			t.Fatal("with two files that make the table it is planned as if there were one")
		}
		var which *change.WhichFileError
		if !errors.As(refused, &which) {
			t.Fatalf("refused: %v", refused)
		}
		chosen, ok, err := f.WhichFile(ctx, which)
		if err != nil || !ok || filepath.Base(chosen.Args["file"]) != "0_Schema.sql" {
			t.Fatalf("chosen %v %v %v, of: %v", chosen.Args, ok, err, refused)
		}
		c, err := change.Plan(ctx, w.Site(), chosen)
		if err != nil || !strings.Contains(c.Says, "0_Schema.sql") {
			t.Errorf("%+v %v", c, err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
