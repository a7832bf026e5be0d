package final

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/iikanji/iikanji/internal/portal/api"
)

// rebootLimit bounds the command that reboots a machine; the machine's return is waited for
// elsewhere.
const rebootLimit = time.Minute

// RebootBy is a Reboot that runs a command of the organiser, without a shell. It gets the machine
// in IIKANJI_HOST (its name), IIKANJI_TARGET and IIKANJI_TEAM.
func RebootBy(command []string) func(context.Context, api.Host) error {
	return func(ctx context.Context, h api.Host) error {
		ctx, cancel := context.WithTimeout(ctx, rebootLimit)
		defer cancel()
		cmd := exec.CommandContext(ctx, command[0], command[1:]...)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "IIKANJI_HOST=" + h.Name, "IIKANJI_TARGET=" + h.Address, "IIKANJI_TEAM=" + h.Team}
		cmd.WaitDelay = time.Second
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("rebooting %s: %w: %s", h.Name, err, firstLine(string(out), "no output"))
		}
		return nil
	}
}

// RebootBySSH is a Reboot through SSH as a user who may run the command with sudo. The host key
// has to be one that the machine had when it joined.
func RebootBySSH(user string, key ssh.Signer, port int, command string) func(context.Context, api.Host) error {
	return func(ctx context.Context, h api.Host) error {
		if len(h.Keys) == 0 {
			return fmt.Errorf("host %s has no pinned key: it has not joined", h.Name)
		}
		u, err := url.Parse(h.Address)
		if err != nil {
			return fmt.Errorf("the address of host %s: %w", h.Name, err)
		}
		ctx, cancel := context.WithTimeout(ctx, rebootLimit)
		defer cancel()
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), fmt.Sprint(port)))
		if err != nil {
			return fmt.Errorf("rebooting %s: %w", h.Name, err)
		}
		defer conn.Close()
		stop := context.AfterFunc(ctx, func() { conn.Close() })
		defer stop()
		config := &ssh.ClientConfig{User: user, Auth: []ssh.AuthMethod{ssh.PublicKeys(key)}, HostKeyCallback: pinned(h.Keys), HostKeyAlgorithms: algorithms(h.Keys)}
		c, channels, requests, err := ssh.NewClientConn(conn, h.Name, config)
		if err != nil {
			return fmt.Errorf("rebooting %s: %w", h.Name, err)
		}
		client := ssh.NewClient(c, channels, requests)
		defer client.Close()
		session, err := client.NewSession()
		if err != nil {
			return fmt.Errorf("rebooting %s: %w", h.Name, err)
		}
		defer session.Close()
		// The machine may go down before it answers: its boot id tells.
		err = session.Run(command)
		if failed := (*ssh.ExitError)(nil); errors.As(err, &failed) && failed.Signal() == "" {
			return fmt.Errorf("rebooting %s: %w", h.Name, err)
		}
		return nil
	}
}

// pinned accepts the keys that a machine had when it joined.
func pinned(keys []string) ssh.HostKeyCallback {
	return func(_ string, _ net.Addr, key ssh.PublicKey) error {
		if slices.Contains(keys, strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key)))) {
			return nil
		}
		return fmt.Errorf("the host key %s is not one that the machine had when it joined", ssh.FingerprintSHA256(key))
	}
}

// algorithms are those of the pinned keys: another key of the machine is not offered then.
func algorithms(keys []string) (out []string) {
	for _, k := range keys {
		name, _, _ := strings.Cut(k, " ")
		if name == ssh.KeyAlgoRSA {
			out = append(out, ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256)
			continue
		}
		out = append(out, name)
	}
	return out
}
