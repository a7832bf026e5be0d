package files

import "io/fs"

// Ladder returns the rungs of an arena's ladder. embedded is what "go:embed ladder"
// embeds. It panics if there is no folder ladder/.
func Ladder(embedded fs.FS) fs.FS {
	rungs, err := fs.Sub(embedded, "ladder")
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return rungs
}
