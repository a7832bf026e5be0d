package topology

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/machine/host"
)

// A store is what is known of a Redis or a memcached that moves.
type store struct {
	conf string // its file of settings, on both hosts
	data string // its folder of data, which the switch takes along; "" for none
}

// readStore reads the present server, and what the new host has installed.
func (t *task) readStore(a *moveArgs) error {
	var texts [2]string
	var programs [2]string
	for i, h := range []host.Host{t.from, t.to} {
		name := []string{t.svc.Host, t.toName}[i]
		if err := t.site.MayChangeUnit(name, t.svc.Unit); err != nil {
			return err
		}
		was, links, err := change.ReadUnit(t.ctx, h, t.svc.Unit)
		if err != nil {
			return fmt.Errorf("%s has nothing to run %s with: %w", hostText(name), t.svc.Name, err)
		}
		if i == 0 {
			t.server.home, t.server.homeLinks = was, links
		} else {
			t.server.was, t.server.links = was, links
		}
		program, conf, err := t.startedWith(h)
		if err != nil {
			return err
		}
		if i == 1 && conf != t.store.conf {
			return fmt.Errorf("%s reads %s on %s, and %s on %s", t.svc.Unit, t.store.conf, hostText(t.svc.Host), conf, t.toName)
		}
		t.store.conf, programs[i] = conf, program
		text, err := h.Read(conf)
		if err != nil {
			return fmt.Errorf("reading the settings of %s: %w", t.svc.Name, err)
		}
		texts[i] = string(text)
		if err := t.plainSettings(name, texts[i]); err != nil {
			return err
		}
	}
	return t.chooseData(a, programs, texts)
}

var (
	startPath = regexp.MustCompile(`path=(/\S+) `)
	confWord  = regexp.MustCompile(` (/\S+\.conf)\b([^;]*)`)
)

// startedWith reads the program of the server's unit on a host, and the file of settings among its
// words. A Redis takes further words for settings, which count more than the file: a move would
// not know where its keys are.
func (t *task) startedWith(h host.Host) (program, conf string, err error) {
	is, err := change.ShowUnit(t.ctx, h, t.svc.Unit, "ExecStart")
	if err != nil {
		return "", "", err
	}
	p, c := startPath.FindStringSubmatch(is["ExecStart"]), confWord.FindStringSubmatch(is["ExecStart"])
	if p == nil || c == nil {
		return "", "", fmt.Errorf("the command of %s names no file of settings", t.svc.Unit)
	}
	if word := overriding(c[2]); t.svc.Engine == iikanji.EngineRedis && word != "" {
		return "", "", fmt.Errorf("%s is started with %s on %s, which counts more than %s: put it into that file", t.svc.Unit, word, hostText(h.Name()), c[1])
	}
	return p[1], c[1], nil
}

// ofStart are settings among the words of a Redis's command that say how it is started alone.
var ofStart = []string{"--supervised", "--daemonize", "--pidfile"}

// overriding is the first setting among the words behind a file of settings, "" for none.
func overriding(words string) string {
	for _, word := range strings.Fields(words) {
		if strings.HasPrefix(word, "-") && !slices.Contains(ofStart, word) {
			return word
		}
	}
	return ""
}

// storeSettings are the lines of a file of settings, the words of each.
func storeSettings(text string) (all [][]string) {
	for line := range strings.Lines(text) {
		if words := strings.Fields(line); len(words) > 0 && !strings.HasPrefix(words[0], "#") {
			all = append(all, words)
		}
	}
	return all
}

// awkward are settings with which a server is not moved: its file would have a password, or
// has not all of them, or others follow it.
var awkward = map[iikanji.Engine][]string{
	iikanji.EngineRedis:     {"requirepass", "masterauth", "masteruser", "user", "aclfile", "include", "replicaof", "slaveof", "tls-port", "loadmodule"},
	iikanji.EngineMemcached: {"-S", "-s", "-Y", "--enable-sasl", "--unix-socket", "--auth-file"},
}

// plainSettings refuses a file of settings that a move cannot add to.
func (t *task) plainSettings(on, text string) error {
	for _, words := range storeSettings(text) {
		for _, name := range awkward[t.svc.Engine] {
			if words[0] == name || t.svc.Engine == iikanji.EngineRedis && strings.EqualFold(words[0], name) {
				return fmt.Errorf("%s on %s has %s, with which %s is not moved", t.store.conf, hostText(on), name, t.svc.Name)
			}
		}
	}
	return nil
}

// ofStoreData are the settings of a Redis that decide how its files look and where they are.
var ofStoreData = []string{"dir", "dbfilename", "appendfilename", "appenddirname", "databases"}

// chooseData finds what the server keeps beyond its process, and refuses a move by which keys
// would be lost that nobody has given up.
func (t *task) chooseData(a *moveArgs, programs, texts [2]string) error {
	if a.Method == methodEmpty {
		return nil
	}
	if a.Method == methodDump {
		return fmt.Errorf("method=dump is for databases: %s moves with its folder (copy), or empty", t.svc.Name)
	}
	if t.svc.Engine != iikanji.EngineRedis || !persists(texts[0]) {
		return fmt.Errorf("%s keeps nothing beyond its process, so that its keys do not go along: give method=empty if the site can do without them, as after a restart", t.svc.Name)
	}
	var versions [2]string
	for i, h := range []host.Host{t.from, t.to} {
		var err error
		if versions[i], err = output(t, h, programs[i], "--version"); err != nil {
			return fmt.Errorf("asking for the version of %s: %w", programs[i], err)
		}
	}
	if versions[0] != versions[1] {
		return fmt.Errorf("%s is %q where it is, and %q on %s: its files are not moved between versions (method=empty leaves them)", t.svc.Name, line(versions[0]), line(versions[1]), t.toName)
	}
	for _, name := range ofStoreData {
		if here, there := lastSetting(texts[0], name), lastSetting(texts[1], name); here != there {
			return fmt.Errorf("%s has %s %s where it is, and %s on %s", t.svc.Name, name, here, there, t.toName)
		}
	}
	if t.store.data = filepath.Clean(lastSetting(texts[0], "dir")); !filepath.IsAbs(t.store.data) {
		return fmt.Errorf("%s names no folder of data (dir)", t.store.conf)
	}
	t.server.data = t.store.data
	if _, err := t.fits(needed); err != nil {
		return err
	}
	return t.keepsData(a)
}

// lastSetting is the value of a setting that counts.
func lastSetting(text, name string) (value string) {
	for _, words := range storeSettings(text) {
		if strings.EqualFold(words[0], name) {
			value = strings.Trim(strings.Join(words[1:], " "), `"'`)
		}
	}
	return value
}

// persists reports whether a Redis writes its keys to files, when it ends at the latest: it
// does so unless it is told otherwise.
func persists(text string) bool {
	if lastSetting(text, "appendonly") == "yes" {
		return true
	}
	snapshots := true
	for _, words := range storeSettings(text) {
		if strings.EqualFold(words[0], "save") {
			snapshots = strings.Trim(strings.Join(words[1:], " "), `"'`) != ""
		}
	}
	return snapshots
}

// listeningStore appends to the settings of a server that it listens at a further address.
func (t *task) listeningStore(text string) string {
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	if t.svc.Engine == iikanji.EngineRedis {
		want := []string{"127.0.0.1", t.address}
		if slices.Equal(strings.Fields(lastSetting(text, "bind")), want) && lastSetting(text, "protected-mode") == "no" {
			return text
		}
		return text + storeHeader + "bind " + strings.Join(want, " ") + "\nprotected-mode no\n"
	}
	listens := false
	for line := range strings.Lines(text) {
		at, ok := strings.CutPrefix(strings.TrimSpace(line), "-l")
		if listens = listens || ok; ok && strings.TrimSpace(at) == t.address {
			return text
		}
	}
	if !listens { // it does at all addresses
		return text
	}
	return text + storeHeader + "-l " + t.address + "\n"
}

const storeHeader = "# Made by iikanji: other hosts of the site reach it.\n"

// storeInForce: with the former server ended, the site's initialize still works.
func storeInForce(ctx context.Context, s *change.Site, a *moveArgs) error {
	if err := s.Initialize(ctx); err != nil {
		return fmt.Errorf("initialize fails with %s on %s: something may connect to the former host by itself: %w", a.Service, a.To, err)
	}
	return nil
}

var errNotPrepared = errors.New("apply step=prepare first")
