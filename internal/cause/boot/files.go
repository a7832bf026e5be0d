package boot

import (
	"fmt"
	"path"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/site/fact"
)

var noFolder = declare("BOOT105", "folder that nothing makes", "a socket or a pid file is in a folder below /run or /tmp that nothing makes at boot", func(m machine) (out []iikanji.Finding) {
	seen := map[string]bool{}
	for _, p := range m.Paths {
		if p.Maker != "" || seen[p.Folder] {
			continue
		}
		seen[p.Folder] = true
		where := p.Service
		unit := "its unit"
		for _, s := range m.Services {
			if s.Name == p.Service && s.Unit != "" {
				unit = s.Unit
			}
		}
		cure := fmt.Sprintf("a line in /etc/tmpfiles.d/%s.conf: d %s 0755 USER GROUP", strings.Trim(strings.ReplaceAll(p.Folder, "/", "-"), "-"), p.Folder)
		if name, ok := strings.CutPrefix(p.Folder, "/run/"); ok {
			cure = "RuntimeDirectory=" + name + " in [Service] of " + unit + ", or " + cure
		}
		f := finding(where, p.Path+" is in a folder that a boot removes and nothing makes again", cure, strings.TrimSpace(p.Folder+" "+p.Owner))
		if name, ok := strings.CutPrefix(p.Folder, "/run/"); ok && unit != "its unit" && !strings.Contains(name, "/") {
			f = planned(f, "unit", where, "make "+p.Folder+" with "+unit, map[string]string{"act": "dropin", "unit": unit, "RuntimeDirectory": name})
		}
		out = append(out, f)
	}
	return out
}, cause.Plan("unit", "dropin", iikanji.RoleUnknown))

var inMemory = declare("BOOT106", "data in memory", "a file system in memory that no file mounts, or data in /dev/shm or /tmp", func(m machine) (out []iikanji.Finding) {
	for _, e := range writtenTogether(m.Memory) {
		switch {
		case e.Service == "":
			out = append(out, finding(e.Mount, "the file system in memory at "+e.Mount+" is in no file: a boot does not mount it",
				fmt.Sprintf("a line in /etc/fstab: tmpfs %s tmpfs defaults 0 0; or do without it", e.Mount)))
		case e.Kept:
			out = append(out, finding(e.Service, fmt.Sprintf("%s writes %s, which a boot empties", e.Service, e.Path),
				"keep it on a disk, or make sure that the service makes it anew at its start", "on "+e.Mount))
		default:
			out = append(out, finding(e.Service, fmt.Sprintf("%s writes %s on a file system in memory that no file mounts", e.Service, e.Path),
				"keep it on a disk, or mount "+e.Mount+" in /etc/fstab and make sure that the service fills it at its start", "on "+e.Mount))
		}
	}
	return out
})

// writtenTogether has one entry for all files that a service writes on one file system in
// memory: its path names their number and their common folder. A database has hundreds.
func writtenTogether(all []fact.BootMemory) (out []fact.BootMemory) {
	paths := map[fact.BootMemory][]string{}
	for _, e := range all {
		key := fact.BootMemory{Service: e.Service, Mount: e.Mount, Kept: e.Kept}
		if e.Service == "" {
			out = append(out, e)
			continue
		}
		if paths[key] == nil {
			out = append(out, key)
		}
		paths[key] = append(paths[key], e.Path)
	}
	for i, e := range out {
		switch of := paths[e]; len(of) {
		case 0:
		case 1:
			out[i].Path = of[0]
		default:
			out[i].Path = fmt.Sprintf("%d files below %s", len(of), commonFolder(of))
		}
	}
	return out
}

// commonFolder is the deepest folder that has all paths below it.
func commonFolder(paths []string) string {
	folder := path.Dir(paths[0])
	for _, p := range paths[1:] {
		for folder != "/" && !strings.HasPrefix(p, folder+"/") {
			folder = path.Dir(folder)
		}
	}
	return folder
}

var notInFiles = declare("BOOT107", "SET GLOBAL, not in the files", "a variable of the database was set while it runs, and its files set another value", func(m machine) (out []iikanji.Finding) {
	for _, v := range m.Variables {
		then := fmt.Sprintf("its default, %s", v.Then)
		if v.File != "" {
			then = v.Then + " by " + v.File
		} else if v.Then == "" {
			then = "its default"
		}
		f := finding(v.Service, fmt.Sprintf("%s is %s only until a restart; then it is %s", v.Name, v.Now, then),
			fmt.Sprintf("a line below [mysqld] in the file that is read last: %s = %s", v.Name, v.Now), v.Service+": SET GLOBAL "+v.Name)
		out = append(out, planned(f, "mysqlconf", v.Service, "keep "+v.Name+" = "+v.Now, map[string]string{v.Name: v.Now}))
	}
	return out
}, cause.Plan("mysqlconf", "", iikanji.RoleDatabase))

var kernelNotInFiles = declare("BOOT108", "kernel variable not in the files", "a variable of the kernel was set by hand, and a boot gives it another value", func(m machine) (out []iikanji.Finding) {
	for _, v := range m.Kernel {
		then := v.Then + ", the default"
		if v.File != "" {
			then = v.Then + " by " + v.File
		}
		f := finding("host", fmt.Sprintf("%s is %s only until a boot; then it is %s", v.Name, v.Now, then),
			fmt.Sprintf("a line in /etc/sysctl.d/90-local.conf: %s = %s", v.Name, v.Now), "/proc/sys/"+strings.ReplaceAll(v.Name, ".", "/"))
		f.Remedies[0].Args = map[string]string{v.Name: v.Now}
		out = append(out, f)
	}
	return out
})

var forgetful = declare("BOOT110", "Redis that forgets its data", "a Redis without persistence has keys that never expire, or is a queue", func(m machine) (out []iikanji.Finding) {
	for _, s := range m.Stores {
		if s.Persistent || s.Evicts || !s.Queue && s.Forever == 0 {
			continue
		}
		claim := fmt.Sprintf("%s keeps nothing over a boot, and has %d keys that never expire", s.Service, s.Forever)
		if s.Queue {
			claim = s.Service + " is a queue, and keeps nothing over a boot"
		}
		out = append(out, finding(s.Service, claim, "appendonly yes in its file and CONFIG SET appendonly yes; or let the app fill it at its start"))
	}
	return out
})

var olderProgram = declare("BOOT111", "program older than its source", "what runs is not what a boot would start, or what was written was not built", func(m machine) (out []iikanji.Finding) {
	for _, s := range m.Services {
		switch {
		case s.Newer != "":
			out = append(out, finding(s.Name, fmt.Sprintf("%s is newer than the program %s: it was not built", s.Newer, s.Program),
				"build it and restart the service, or put the source back; then make a run", s.Program))
		case s.Other != "":
			out = append(out, finding(s.Name, fmt.Sprintf("%s was replaced after %s had started: a boot starts another program than the one that runs", s.Other, s.Name),
				"restart the service and make a run", s.Program))
		}
	}
	return out
})

// A disk is short of space below the share and below the size: a server that cannot write
// its logs or temporary files does not start.
const (
	leastShare = 0.05
	leastFree  = 1 << 30
	noSpace    = 256 << 20 // too little on a disk of any size
)

var fullDisk = declare("BOOT114", "disk nearly full", "servers do not start where they cannot write", func(m machine) (out []iikanji.Finding) {
	for _, d := range m.Disks {
		short := d.Total > 0 && float64(d.Free) < leastShare*float64(d.Total) && d.Free < leastFree
		if !short && d.Free >= noSpace {
			continue
		}
		out = append(out, finding(d.Path, fmt.Sprintf("the file system of %s has only %s left of %s", d.Path, gib(d.Free), gib(d.Total)),
			"remove logs that nobody needs: journalctl --vacuum-size=100M, rotated logs of nginx and the database"))
	}
	return out
})
