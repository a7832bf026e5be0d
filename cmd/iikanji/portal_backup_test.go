package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestBackupNoted: a portal knows of its last backup also where that went into a pipe, as to a
// program that encrypts.
func TestBackupNoted(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "cup.toml")
	text := "name = \"Cup\"\nlocal = true\n[[rounds]]\nid = \"final\"\nkind = \"open\"\nproblem = \"p\"\n[problem.p]\ncommand = [\"true\"]\nload = \"1s\"\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	portal := filepath.Join(dir, "portal")
	var errs lockedBuffer
	if status, _ := command(t.Context(), &errs, "portal", "contest", "new", file, "--dir", portal); status != exitDone {
		t.Fatalf("%d: %s", status, errs.String())
	}
	noted := filepath.Join(portal, lastBackup)
	for _, to := range []string{"-", filepath.Join(dir, "cup.backup")} {
		if err := os.Remove(noted); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		if status, out := command(t.Context(), &errs, "portal", "backup", to, "--dir", portal); status != exitDone || out == "" {
			t.Fatalf("%s: %d: %s", to, status, errs.String())
		}
		if _, err := os.Stat(noted); err != nil {
			t.Errorf("%s: %v", to, err)
		}
	}
}
