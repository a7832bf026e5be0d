// Package policy_test holds the tests of the repository as a whole: its imports, pages,
// dependencies and fuzz targets. They run in the root folder.
package policy_test

import (
	"fmt"
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	if err := os.Chdir("../.."); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}
