package process

import (
	"errors"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/machine/host"
)

func TestIsTitle(t *testing.T) {
	for _, c := range []struct {
		raw, program string
		size         uint64
		words        int
		want         bool
	}{
		{"", "/sbin/x", 0, 0, false},
		{"/bin/serve\x00-w\x001\x00", "/bin/serve", 16, 3, false},
		{"/bin/serve\x00-w\x001\x00", "/bin/serve", 0, 0, false},
		{"/srv/my app\x00", "/srv/my app", 12, 1, false},
		{"/srv/my app\x00", "/srv/my app", 0, 0, false},
		{"php-fpm: master process (/etc/fpm.conf)\x00", "/usr/sbin/php-fpm8.2", 26, 3, true}, // longer than its command line
		{"php-fpm: master process (/etc/fpm.conf)\x00", "/usr/sbin/php-fpm8.2", 0, 0, true},  // nothing else is known
		{"php-fpm: master process (/etc/fpm.conf)", "/usr/sbin/php-fpm8.2", 0, 0, true},      // without its end
		{"shop\x00\x00\x00\x00", "/usr/bin/node", 8, 2, true},                                // shorter, one word
		{"puma 5.6.5 (tcp://127.0.0.1:80) [shop]\x00\x00", "/usr/bin/ruby3.1", 40, 4, true},  // shorter
		{"node server.js!\x00", "/usr/bin/node", 16, 2, true},                                // as long as the command line
	} {
		if got := isTitle(c.raw, c.program, c.size, c.words); got != c.want {
			t.Errorf("%q of %s, %d bytes, %d words: %v", c.raw, c.program, c.size, c.words, got)
		}
	}
}

// TestShowsTitle has real programs set titles: longer than their command line, shorter,
// and without a blank.
func TestShowsTitle(t *testing.T) {
	for _, c := range []struct {
		command []string
		title   string // "" for none
	}{
		{[]string{"sleep", "60"}, ""},
		{[]string{"sh", "-c", "sleep 60; exit 1", "a b", "c  d"}, ""},
		{[]string{"perl", "-e", "$0 = 'shop'; sleep 60", "argument"}, "shop"},
		{[]string{"perl", "-e", "$0 = 'shop worker ' . ('x' x 200); sleep 60"}, "shop worker " + strings.Repeat("x", 200)},
		{[]string{"ruby", "-e", "Process.setproctitle('shop (tcp://127.0.0.1:80)'); sleep 60"}, "shop (tcp://127.0.0.1:80)"},
		{[]string{"node", "-e", "process.title = 'shop'; setTimeout(() => {}, 60000)"}, "shop"},
	} {
		cmd := exec.Command(c.command[0], c.command[1:]...)
		begin(t, cmd)
		var p *Process
		shows := func() string {
			var err error
			if p, err = ReadProcess(host.Local{}, cmd.Process.Pid); err != nil {
				t.Fatal(err)
			}
			return p.Command()
		}
		want := c.title
		if want == "" {
			want = strings.Join(c.command, " ")
		}
		for end := time.Now().Add(time.Minute); !strings.HasPrefix(shows(), want[:min(len(want), 60)]) && time.Now().Before(end); {
			time.Sleep(5 * time.Millisecond)
		}
		if got := p.ShowsTitle(host.Local{}); got != (c.title != "") {
			t.Errorf("%q shows %q: a title: %v", c.command, p.Args, got)
		}
		o, err := Found(p)
		if err != nil {
			t.Fatal(err)
		}
		o.Close()
		var title *TitleError
		switch {
		case c.title == "" && (o.Way.Err != nil || !slices.Equal(o.Spec.Args, c.command)):
			t.Errorf("%q: found as %q, %v", c.command, o.Spec.Args, o.Way.Err)
		case c.title != "" && (!errors.As(o.Way.Err, &title) || len(title.Hints()) == 0):
			t.Errorf("%q: no error of its title: %+v", c.command, o.Way)
		}
	}
}

// TestWayOfFPM: a real php-fpm is started again by a signal, never with its title.
func TestWayOfFPM(t *testing.T) {
	p := &Process{Program: "/usr/sbin/php-fpm8.2", Args: []string{"php-fpm: master process (/srv/shop/a fpm.conf)"}}
	e, ok := engineOf(p)
	if !ok || e.again != syscall.SIGUSR2 || !slices.Equal(e.test(p.Args), []string{"-t", "-R", "-y", "/srv/shop/a fpm.conf"}) {
		t.Errorf("%+v", e)
	}
}

func FuzzMemoryOf(f *testing.F) {
	f.Add("1 (a) S 1 1", "a\x00b\x00")
	f.Fuzz(func(t *testing.T, stat, cmdline string) {
		m := memoryOf(stat)
		if isTitle(cmdline, "/a", m.arguments, 0) && cmdline == "" {
			t.Error("a process of the kernel has no title")
		}
	})
}
