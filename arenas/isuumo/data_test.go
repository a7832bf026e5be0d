package isuumo

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/policy/tier"
)

// smallSize has every part of the data set.
var smallSize = size{initial: 1200, verify: 20, files: 3, perFile: 15}

func TestGenerate(t *testing.T) {
	tier.Slow(t)
	webapp, data, again := t.TempDir(), t.TempDir(), t.TempDir()
	if err := generateTo(t.Context(), webapp, data, smallSize); err != nil {
		t.Fatal(err)
	}
	if err := generateTo(t.Context(), "", again, smallSize); err != nil {
		t.Fatal(err)
	}
	wantSameFolder(t, data, again)
	got, err := readDataset(data)
	if err != nil {
		t.Fatal(err)
	}
	if want := generate(smallSize); !reflect.DeepEqual(got, want) {
		t.Error("what is read is not what was generated")
	}
	for _, name := range []string{estateSQLFile, chairSQLFile} {
		sql, err := os.ReadFile(filepath.Join(webapp, sqlFolder, name))
		if err != nil {
			t.Fatal(err)
		}
		if statements, rows := strings.Count(string(sql), "INSERT INTO"), strings.Count(string(sql), "/images/"); statements != 3 || rows != smallSize.initial {
			t.Errorf("%s has %d rows in %d statements, want %d in 3", name, rows, statements, smallSize.initial)
		}
	}
	if _, err := readDataset(t.TempDir()); err == nil {
		t.Error("an empty folder is read")
	}
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	if err := generateTo(stopped, "", t.TempDir(), smallSize); err == nil {
		t.Error("generating goes on after the end")
	}
}

// wantSameFolder compares the files of two folders.
func wantSameFolder(t *testing.T, one, other string) {
	t.Helper()
	count := 0
	err := filepath.WalkDir(one, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		count++
		name, _ := filepath.Rel(one, path)
		a, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		b, err := os.ReadFile(filepath.Join(other, name))
		if err == nil && string(a) != string(b) {
			t.Errorf("%s is another one the second time", name)
		}
		return err
	})
	if err != nil || count < 5 {
		t.Errorf("comparing %d files: %v", count, err)
	}
}
