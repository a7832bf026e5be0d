package discover

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/site/boot"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// An Inventory is a machine with what systemd has loaded.
type Inventory struct {
	Hostname  string
	Boot      string // the kernel's id of this boot
	Cores     int
	Memory    int64 // bytes
	Addresses []netip.Addr
	Units     []fact.BootUnit
}

type nothing struct{ Nothing bool }

// inventory is carried out on the machine.
func inventory(ctx context.Context, h host.Host, _ nothing) (Inventory, error) {
	out := Inventory{Cores: runtime.NumCPU()}
	var err error
	if out.Hostname, err = os.Hostname(); err != nil {
		return out, fmt.Errorf("asking the machine's name: %w", err)
	}
	if b, err := h.Read("/proc/sys/kernel/random/boot_id"); err == nil {
		out.Boot = strings.TrimSpace(string(b))
	}
	if b, err := h.Read("/proc/meminfo"); err == nil {
		out.Memory = memoryIn(string(b))
	}
	all, err := net.InterfaceAddrs()
	if err != nil {
		return out, fmt.Errorf("listing the machine's addresses: %w", err)
	}
	for _, a := range all {
		if prefix, err := netip.ParsePrefix(a.String()); err == nil && !prefix.Addr().IsLoopback() && !prefix.Addr().IsLinkLocalUnicast() {
			out.Addresses = append(out.Addresses, prefix.Addr().Unmap())
		}
	}
	slices.SortStableFunc(out.Addresses, func(a, b netip.Addr) int { return a.BitLen() - b.BitLen() }) // IPv4 first
	if boot.Systemd(h) {
		if out.Units, err = (&boot.Asker{Host: h}).Units(ctx); err != nil {
			return out, err
		}
	}
	return out, nil
}

// memoryIn is MemTotal of /proc/meminfo, in bytes.
func memoryIn(text string) int64 {
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, "MemTotal:"); ok {
			n, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64) // 0 if it has another form
			return n << 10
		}
	}
	return 0
}

// A UnitQuestion is a unit of the site that is looked for on a machine.
type UnitQuestion struct {
	Unit   string
	Engine iikanji.Engine
}

// A UnitAnswer is how a machine has a unit.
type UnitAnswer struct {
	Unit      string
	Installed bool
	Active    bool
	Program   string // path
	Sum       string // SHA-256 of the program, "" if it cannot be read
	Config    string // SHA-256 of its unit, its environment files and its configuration
}

// units is carried out on the machine.
func units(ctx context.Context, h host.Host, asked []UnitQuestion) ([]UnitAnswer, error) {
	if len(asked) == 0 || !boot.Systemd(h) {
		return nil, nil
	}
	args := []string{"show", "--no-pager", "--property=Id,LoadState,ActiveState,FragmentPath,DropInPaths,ExecStart,EnvironmentFiles,Environment"}
	for _, q := range asked {
		args = append(args, q.Unit)
	}
	r, err := h.Exec(ctx, host.Command{Path: "systemctl", Args: args, Env: cleanEnv()})
	if err != nil {
		return nil, err
	}
	if r.Status != 0 {
		return nil, fmt.Errorf("systemctl show ended with status %d: %.300s", r.Status, r.Output)
	}
	blocks := showBlocks(string(r.Output))
	if len(blocks) != len(asked) {
		return nil, fmt.Errorf("systemctl show answers about %d units of %d", len(blocks), len(asked))
	}
	var out []UnitAnswer
	for i, b := range blocks {
		one := UnitAnswer{Unit: asked[i].Unit, Installed: b.first("LoadState") == "loaded", Active: b.first("ActiveState") == "active"}
		if one.Installed {
			one.Program = programOf(b.first("ExecStart"))
			one.Sum = sumOfFile(h, one.Program)
			one.Config = configSum(ctx, h, b, one.Program, asked[i].Engine)
		}
		out = append(out, one)
	}
	return out, nil
}

func cleanEnv() []string {
	return []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8", "SYSTEMD_COLORS=0"}
}

// A showBlock is the properties of one unit.
type showBlock map[string][]string

func (b showBlock) first(key string) string {
	if len(b[key]) == 0 {
		return ""
	}
	return b[key][0]
}

// showBlocks reads what systemctl show prints about several units: lines "Key=value", and an
// empty line between two units.
func showBlocks(text string) (out []showBlock) {
	for part := range strings.SplitSeq(strings.Trim(text, "\n"), "\n\n") {
		b := showBlock{}
		for line := range strings.Lines(part) {
			if key, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "="); ok {
				b[key] = append(b[key], value)
			}
		}
		if len(b) > 0 {
			out = append(out, b)
		}
	}
	return out
}

// programOf is the path in a value of ExecStart, as in "{ path=/bin/a ; argv[]=/bin/a -b ; … }".
func programOf(value string) string {
	_, rest, ok := strings.Cut(value, "path=")
	if !ok {
		return ""
	}
	path, _, _ := strings.Cut(rest, " ;")
	return strings.TrimSpace(path)
}

// mostSummed bounds a program whose sum is taken, in bytes.
const mostSummed = 1 << 30

func sumOfFile(h host.Host, path string) string {
	if path == "" {
		return ""
	}
	f, err := h.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, io.LimitReader(f, mostSummed)); err != nil {
		return ""
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// configSum is the digest of all that decides how a unit runs, but for its program.
func configSum(ctx context.Context, h host.Host, b showBlock, program string, engine iikanji.Engine) string {
	sum := sha256.New()
	add := func(name string, body []byte) { fmt.Fprintf(sum, "%s %d\n%s\n", name, len(body), body) }
	files := append([]string{b.first("FragmentPath")}, strings.Fields(b.first("DropInPaths"))...)
	for _, value := range b["EnvironmentFiles"] {
		path, _, _ := strings.Cut(value, " (ignore_errors=")
		files = append(files, path)
	}
	for _, path := range files {
		body, _ := h.Read(path) // a missing one is empty
		add(path, body)
	}
	switch {
	case engine == iikanji.EngineNginx:
		ctx, cancel := context.WithTimeout(ctx, askLimit)
		defer cancel()
		if r, err := h.Exec(ctx, host.Command{Path: program, Args: []string{"-T", "-q"}, Env: cleanEnv(), Dir: "/"}); err == nil {
			add("nginx -T", r.Output)
		}
	case engine.MySQLFamily():
		addTree(h, "/etc/mysql", add)
	case engine == iikanji.EngineRedis:
		for word := range strings.FieldsSeq(b.first("ExecStart")) {
			if strings.HasSuffix(word, ".conf") {
				body, _ := h.Read(word) // as above
				add(word, body)
			}
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// addTree adds the files of a folder, in order.
func addTree(h host.Host, root string, add func(name string, body []byte)) {
	_ = h.Walk(root, func(path string, d fs.DirEntry, err error) error { // what cannot be read is not compared
		if err == nil && d.Type().IsRegular() {
			if body, err := h.Read(path); err == nil && len(body) <= maxEnvFile {
				add(path, bytes.TrimSpace(body))
			}
		}
		return nil
	})
}

// A Reach is how an address answers from a machine.
type Reach struct {
	Address string
	// State is open, refused, silent or another error's text.
	State string
	Trip  time.Duration // the shortest of several; 0 without an answer
}

// The words of Reach.State.
const (
	ReachOpen    = "open"
	ReachRefused = "refused"
	ReachSilent  = "silent"
)

// trips is how many connections decide a round trip.
const trips = 8

// reach is carried out on the machine.
func reach(ctx context.Context, h host.Host, addresses []string) ([]Reach, error) {
	var out []Reach
	for _, a := range addresses {
		one := Reach{Address: a}
		for range trips {
			begin := time.Now()
			state := dialState(ctx, h, a)
			took := time.Since(begin)
			if one.State = state; state != ReachOpen && state != ReachRefused {
				break
			}
			if one.Trip == 0 || took < one.Trip {
				one.Trip = took
			}
		}
		out = append(out, one)
	}
	return out, nil
}

// reachLimit is after how long an address counts as silent.
const reachLimit = time.Second

func dialState(ctx context.Context, h host.Host, address string) string {
	ctx, cancel := context.WithTimeout(ctx, reachLimit)
	defer cancel()
	c, err := h.Dial(ctx, "tcp", address)
	switch {
	case err == nil:
		c.Close()
		return ReachOpen
	case isRefused(err):
		return ReachRefused
	case ctx.Err() != nil || isTimeout(err):
		return ReachSilent
	}
	return err.Error()
}
