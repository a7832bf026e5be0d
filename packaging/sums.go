package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// sumsName is the file with the checksums of a release, in the form of sha256sum.
const sumsName = "SHA256SUMS"

// writeSums writes the checksums of all files of a folder.
func writeSums(dir string) error {
	text, err := sumsOf(dir)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, sumsName), []byte(text), 0o644)
	}
	if err != nil {
		return fmt.Errorf("writing the checksums: %w", err)
	}
	return nil
}

// sumsOf is a line for each file of a folder, in the order of their names.
func sumsOf(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(text), e.Name())
	}
	return b.String(), nil
}

// sameFiles compares two folders by the checksums of their files, and returns these.
func sameFiles(a, b string) (string, error) {
	one, err := sumsOf(a)
	if err != nil {
		return "", err
	}
	other, err := sumsOf(b)
	if err != nil {
		return "", err
	}
	if one != other {
		return "", fmt.Errorf("two builds of one commit differ:\n%s\n%s", one, other)
	}
	return one, nil
}
