package topology

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"

	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/tree"
)

// A server is what is known of the database that moves.
type server struct {
	data string // its folder of data
	port string
	// confFolder is a folder on the new host whose files the server there reads last.
	confFolder string
	// loader is the program of the server on the new host, if the data get there as statements;
	// why says what keeps their files from being copied.
	loader, why string
	was         change.UnitState
	links       []change.UnitLink // of its unit on the new host
	home        change.UnitState  // of its unit where it is
	homeLinks   []change.UnitLink
}

// confFolders are where distributions let administrators put further settings, those that
// are read later first.
var confFolders = []string{"/etc/mysql/mariadb.conf.d", "/etc/mysql/mysql.conf.d", "/etc/mysql/conf.d", "/etc/my.cnf.d"}

// confName is read after the distributions' files, in the order of the names.
const confName = "z-iikanji-topology.cnf"

// readServer reads the present server, and what the new host has installed.
func (t *task) readServer(method string) (s server, err error) {
	db := t.site.Services[t.svc.Name].DB()
	if db == nil {
		return s, fmt.Errorf("%s does not run, or iikanji cannot log in to it", t.svc.Name)
	}
	if err := db.QueryRowContext(t.ctx, "SELECT @@datadir, @@port").Scan(&s.data, &s.port); err != nil {
		return s, fmt.Errorf("asking %s for its folder of data: %w", t.svc.Name, err)
	}
	s.data = filepath.Clean(s.data)
	if s.home, s.homeLinks, err = change.ReadUnit(t.ctx, t.from, t.svc.Unit); err != nil {
		return s, err
	}
	if s.was, s.links, err = change.ReadUnit(t.ctx, t.to, t.svc.Unit); err != nil {
		return s, fmt.Errorf("%s has nothing to run it with: %w", t.toName, err)
	}
	for _, name := range []string{t.svc.Host, t.toName} {
		if err := t.site.MayChangeUnit(name, t.svc.Unit); err != nil {
			return s, err
		}
	}
	if err := t.way(&s, method); err != nil {
		return s, err
	}
	for _, dir := range confFolders {
		if info, err := t.to.Stat(dir); err == nil && info.IsDir() && s.confFolder == "" {
			s.confFolder = dir
		}
	}
	if s.confFolder == "" {
		return s, fmt.Errorf("%s has none of the folders %s for settings", t.toName, strings.Join(confFolders, ", "))
	}
	return s, nil
}

// way decides how the data get to the new host: as files where the server there can read
// them, otherwise as statements.
func (t *task) way(s *server, method string) error {
	program, err := t.program()
	if err != nil {
		return err
	}
	there, err := t.programThere(program)
	if err != nil {
		return err
	}
	var versions, settings [2]string
	for i, h := range []host.Host{t.from, t.to} {
		if versions[i], err = output(t, h, []string{program, there}[i], "--version"); err != nil {
			return fmt.Errorf("asking for the version of %s: %w", program, err)
		}
		text, err := output(t, h, "/usr/bin/my_print_defaults", "--mysqld")
		if err != nil {
			return fmt.Errorf("reading the settings of %s: %w", t.svc.Name, err)
		}
		settings[i] = ofData(text)
	}
	if to := settingOf(settings[1], "datadir"); to != "" && filepath.Clean(to) != s.data {
		return fmt.Errorf("the folder of data of %s is %s, that of the settings of %s %s", t.svc.Name, s.data, t.toName, to)
	}
	// The names of the programs differ where one is a link.
	mine, theirs := strings.TrimPrefix(line(versions[0]), program), strings.TrimPrefix(line(versions[1]), there)
	switch {
	case mine != theirs:
		s.why = fmt.Sprintf("%s is %q where it is, and %q on %s: a folder of data is not moved between versions", t.svc.Name, line(versions[0]), line(versions[1]), t.toName)
	case settings[0] != settings[1]:
		s.why = fmt.Sprintf("the settings of the data differ: %q here, %q on %s", settings[0], settings[1], t.toName)
	}
	if s.why == "" && method != methodDump {
		return nil
	}
	for _, v := range versions {
		if s.why != "" && (method == methodCopy || !strings.Contains(v, "MariaDB")) {
			return errors.New(s.why)
		}
		if !strings.Contains(v, "MariaDB") {
			return fmt.Errorf("%s is no MariaDB: its data are moved as a folder only", t.svc.Name)
		}
	}
	s.loader = there
	return nil
}

// serverPrograms are where distributions have the server.
var serverPrograms = []string{"/usr/sbin/mariadbd", "/usr/sbin/mysqld", "/usr/libexec/mariadbd", "/usr/libexec/mysqld"}

// programThere is the file of the server on the new host, whose unit may start it by a shell: by
// preference the one of the same path.
func (t *task) programThere(here string) (string, error) {
	for _, path := range append([]string{here}, serverPrograms...) {
		if _, err := t.to.Stat(path); err == nil {
			return t.to.RealPath(path)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("looking for the server of %s: %w", t.toName, err)
		}
	}
	return "", fmt.Errorf("%s has none of the programs %s", t.toName, strings.Join(serverPrograms, ", "))
}

// program is the file of the running server.
func (t *task) program() (string, error) {
	is, err := change.ShowUnit(t.ctx, t.from, t.svc.Unit, "MainPID")
	if err != nil {
		return "", err
	}
	program, err := t.from.Readlink("/proc/" + is["MainPID"] + "/exe")
	if err != nil {
		return "", fmt.Errorf("finding the program of %s: %w", t.svc.Unit, err)
	}
	return program, nil
}

// output runs a program of a host.
func output(t *task, h host.Host, program string, args ...string) (string, error) {
	r, err := h.Exec(t.ctx, host.Command{Path: program, Args: args, Env: []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8"}})
	if err == nil && r.Status != 0 {
		err = fmt.Errorf("%s: exit status %d: %s", program, r.Status, line(string(r.Output)))
	}
	return strings.TrimSpace(string(r.Output)), err
}

func line(text string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return first
}

// dataSettings decide how the files of the data look.
var dataSettings = []string{"datadir", "character-set-server", "collation-server", "lower-case-table-names", "innodb-page-size", "innodb-data-home-dir",
	"innodb-data-file-path", "innodb-log-group-home-dir", "innodb-undo-directory", "innodb-file-per-table", "innodb-checksum-algorithm", "plugin-load-add", "plugin-load"}

// ofData are the lines of my_print_defaults about the files of the data, the last of each.
func ofData(text string) string {
	last := map[string]string{}
	for l := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(l), "--"), "=")
		if name = strings.ReplaceAll(name, "_", "-"); slices.Contains(dataSettings, name) {
			last[name] = value
		}
	}
	var all []string
	for _, name := range dataSettings {
		if value, ok := last[name]; ok {
			all = append(all, name+"="+value)
		}
	}
	return strings.Join(all, " ")
}

func settingOf(settings, name string) string {
	for field := range strings.FieldsSeq(settings) {
		if value, ok := strings.CutPrefix(field, name+"="); ok {
			return value
		}
	}
	return ""
}

// needed is how much space a copy needs, as a multiple of the data: the server writes logs
// when it starts.
const needed = 1.2

// fits refuses a host without space for so many times the data, and returns their size.
func (t *task) fits(times float64) (int64, error) {
	from, err := tree.On(t.from)
	if err != nil {
		return 0, err
	}
	m, err := from.ListTree(t.ctx, t.server.data)
	if err != nil {
		return 0, fmt.Errorf("measuring %s: %w", t.server.data, err)
	}
	free, err := t.to.FreeSpace(filepath.Dir(t.server.data))
	if err != nil {
		return 0, fmt.Errorf("asking for the free space of %s: %w", t.toName, err)
	}
	if float64(free) < times*float64(m.Bytes()) {
		return 0, fmt.Errorf("%s has %d MiB free for the %d MiB of %s; %g times as much is needed", t.toName, free>>20, m.Bytes()>>20, t.svc.Name, times)
	}
	return m.Bytes(), nil
}

// ofDump is how large a dump may be, as a multiple of the data: bytes of blobs are two digits each.
const ofDump = 2

// holdsDump refuses a dump beside data of a size where the present host has no space for it: a
// database on a full disk serves nobody.
func (t *task) holdsDump(size int64) error {
	free, err := t.from.FreeSpace(filepath.Dir(t.server.data))
	if err != nil {
		return fmt.Errorf("asking for the free space of %s: %w", hostText(t.svc.Host), err)
	}
	if free < ofDump*size {
		return fmt.Errorf("%s has %d MiB free, and a dump of the %d MiB of %s is written there first: %d times as much is needed", hostText(t.svc.Host), free>>20, size>>20, t.svc.Name, ofDump)
	}
	return nil
}

// network is the pattern of accounts for an address: its network of 24 bits, as in
// 10.0.0.%, or the address itself.
func network(address string) (string, error) {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return "", fmt.Errorf("%q is no address", address)
	}
	if !ip.Is4() {
		return ip.String(), nil
	}
	text := ip.String()
	return text[:strings.LastIndexByte(text, '.')+1] + "%", nil
}

// reachable refuses an address that a client's host cannot connect to, and says how it
// fails.
func (t *task) reachable(c client) error {
	at := net.JoinHostPort(t.address, t.server.port)
	conn, err := c.on.Dial(t.ctx, "tcp", at)
	if err == nil {
		return conn.Close()
	}
	var timeout net.Error
	text := err.Error()
	switch {
	case strings.Contains(text, "refused"):
		return fmt.Errorf("%s refuses connections: nothing listens there", at)
	case errors.As(err, &timeout) && timeout.Timeout() || strings.Contains(text, "timeout") || strings.Contains(text, "timed out"):
		return fmt.Errorf("%s is silent: a firewall or a security group drops connections; open %s/tcp from %s", at, t.server.port, t.site.Target.PrivateOf(c.svc.Host))
	}
	return fmt.Errorf("connecting to %s: %w", at, err)
}
