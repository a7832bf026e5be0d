package host

import (
	"path/filepath"
	"strings"
)

// UnitsFolder is where administrators put systemd's units and drop-ins (systemd.unit(5)), and
// where links enable them.
const UnitsFolder = "/etc/systemd/system"

// KernelFile keeps variables of a machine's kernel over its boot (sysctl.d(5)).
const KernelFile = "/etc/sysctl.d/90-iikanji.conf"

// UnitFiles are the files that changes of a unit's settings write: its drop-in, and the one
// by which the boot starts it.
func UnitFiles(unit string) []string {
	name := strings.NewReplacer("@", "-", ":", "-").Replace(unit)
	return []string{filepath.Join(UnitsFolder, unit+".d", "90-iikanji.conf"), filepath.Join(UnitsFolder, "multi-user.target.d", "90-iikanji-"+name+".conf")}
}

// OneFile reports whether an entry of the folders that may be written is one file, which need
// not exist yet: it has the ending of a file of settings. Nothing beside the file may be
// written, but its folder is made for it, and removed with it, if it is missing.
func OneFile(entry string) bool { return filepath.Ext(entry) == ".conf" }

// SystemFolder is the folder of the system that one file among the folders that may be written
// is in: that of units or that of the kernel's variables. "" for any other entry.
func SystemFolder(entry string) string {
	for _, folder := range []string{UnitsFolder, filepath.Dir(KernelFile)} {
		if OneFile(entry) && strings.HasPrefix(entry, folder+"/") {
			return folder
		}
	}
	return ""
}
