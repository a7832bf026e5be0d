package peer

import (
	"bufio"
	"context"
	"crypto/rand"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
)

//go:embed deliver.sh
var deliverScript string

// becomeRoot is sent before deliverScript: the shell of an account that is not root becomes
// one of root's, if sudo allows it without a password.
const becomeRoot = `if [ "$(id -u)" = 0 ]; then echo "$nonce root"; elif [ "$sudo" = yes ] && sudo -n true 2>/dev/null; then echo "$nonce root"; exec sudo -n sh; else echo "$nonce account $(id -un)"; exit 1; fi
`

// A SudoError is an account that is not root and cannot become root.
type SudoError struct{ Account string }

func (e *SudoError) Error() string {
	return fmt.Sprintf("the account %s is not root, and sudo -n does not make it root", e.Account)
}

// Hints are the line for sudoers.
func (e *SudoError) Hints() []string {
	return []string{fmt.Sprintf("put this line into /etc/sudoers.d/iikanji there: %s ALL=(root) NOPASSWD: ALL", e.Account)}
}

// An ArchError is a host for whose architecture there is no program.
type ArchError struct{ There, Program string }

func (e *ArchError) Error() string {
	return fmt.Sprintf("its architecture is %s, and iikanji's program is for %s", e.There, e.Program)
}

// Hints say how to make the program.
func (e *ArchError) Hints() []string {
	return []string{fmt.Sprintf(`build it with GOOS=linux GOARCH=%s go build -o iikanji-%[1]s ./cmd/iikanji, and write peer = "iikanji-%[1]s" below its [[host]]`, e.There)}
}

// Deliver makes a shell of a host the far end of the calls: the standard input and output
// of `sh` there are conn. The program is sent if the host has not got it, checked by its
// SHA-256, renamed and started within this one shell, which is root's. The result is the
// connection to Connect; an error closes conn. sudo allows an account that is not root to become root.
func Deliver(ctx context.Context, conn net.Conn, p *Program, sudo bool) (net.Conn, error) {
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	d := &dialog{Conn: conn, in: bufio.NewReaderSize(conn, mostNoise), nonce: rand.Text()}
	err := d.deliver(p, sudo)
	if !stop() {
		err = errors.Join(context.Cause(ctx), err)
	}
	if err != nil {
		conn.Close() // a command is waited for: its words come before its end
		return nil, withWords(conn, err)
	}
	return d, nil
}

// withWords adds what the far end wrote to its standard error.
func withWords(conn net.Conn, err error) error {
	if s, ok := conn.(interface{ Said() string }); ok {
		if words := s.Said(); words != "" {
			return fmt.Errorf("%w; it said: %s", err, words)
		}
	}
	return err
}

// A dialog is a conversation with a shell. What it answers are the lines that begin with a
// word that only the script knows: a login may print others.
type dialog struct {
	net.Conn
	in    *bufio.Reader
	nonce string
}

// Read reads behind the last answer.
func (d *dialog) Read(p []byte) (int, error) { return d.in.Read(p) }

// Said is that of the connection.
func (d *dialog) Said() string {
	if s, ok := d.Conn.(interface{ Said() string }); ok {
		return s.Said()
	}
	return ""
}

func (d *dialog) deliver(p *Program, sudo bool) error {
	may := "no"
	if sudo {
		may = "yes"
	}
	words, err := d.ask(fmt.Sprintf("nonce=%s sudo=%s\n%s", d.nonce, may, becomeRoot))
	if err != nil {
		return err
	}
	if words[0] != "root" {
		return &SudoError{strings.Join(words[1:], " ")}
	}
	words, err = d.ask(fmt.Sprintf("nonce=%s sum=%s\n%s", d.nonce, p.Sum, deliverScript))
	if err != nil {
		return err
	}
	if words[0] == "need" && len(words) == 3 {
		if words, err = d.send(p, words[1], words[2]); err != nil {
			return err
		}
	}
	switch words[0] {
	case "run":
		return nil
	case "nowhere":
		return errors.New("neither /run/iikanji nor /var/lib/iikanji there can have a program")
	case "broken":
		return errors.New("the program arrived with another content than it was sent with")
	}
	return fmt.Errorf("its shell answers %q", words)
}

// send sends the program, packed with what the host can unpack.
func (d *dialog) send(p *Program, machine, unpacks string) ([]string, error) {
	if arch := archOf(machine); arch != p.Arch {
		return nil, &ArchError{arch, p.Arch}
	}
	b, err := p.packed(unpacks)
	if err != nil {
		return nil, err
	}
	if _, err := io.WriteString(d.Conn, strconv.Itoa(len(b))+"\n"); err != nil {
		return nil, fmt.Errorf("sending the program: %w", err)
	}
	if _, err := d.Conn.Write(b); err != nil {
		return nil, fmt.Errorf("sending the program: %w", err)
	}
	return d.answer()
}

// mostNoise is how many bytes a login may print.
const mostNoise = 1 << 16

// ask sends a script and reads the words of the answer, of which there is at least one.
func (d *dialog) ask(script string) ([]string, error) {
	if _, err := io.WriteString(d.Conn, script); err != nil {
		return nil, fmt.Errorf("asking its shell: %w", err)
	}
	return d.answer()
}

func (d *dialog) answer() ([]string, error) {
	for read := 0; read < mostNoise; {
		line, err := d.in.ReadSlice('\n')
		if err != nil {
			return nil, fmt.Errorf("waiting for the answer of its shell: %w", err)
		}
		read += len(line)
		if words := strings.Fields(string(line)); len(words) > 1 && words[0] == d.nonce {
			return words[1:], nil
		}
	}
	return nil, errors.New("its shell prints other things than its answer")
}
