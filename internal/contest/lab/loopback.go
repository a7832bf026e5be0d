package lab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

// loopbackScript runs sshd with the files of a machine, and all else of this machine.
const loopbackScript = `set -e
mount --make-rprivate /
for d in etc usr/local usr/libexec; do
	mount -t overlay overlay -o "lowerdir=/$d,upperdir=$1/upper/$d,workdir=$1/work/$d" "/$d"
done
for d in home root; do mount --bind "$1/upper/$d" "/$d"; done
mount -t tmpfs -o mode=755 tmpfs /run
mkdir -p /run/sshd
exec /usr/local/sbin/sshd -D -e -p "$2" -o ListenAddress=127.0.0.1 -o PidFile=none
`

// Loopback runs the sshd of a machine that is down at a port of 127.0.0.1, without systemd:
// processes, sockets and /tmp are those of this machine. stop ends it.
func (m *Machine) Loopback(ctx context.Context, port int) (stop func() error, err error) {
	cmd := exec.Command("unshare", "--mount", "sh", "-c", loopbackScript, "sh", m.dir, strconv.Itoa(port))
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	var said bytes.Buffer
	cmd.Stderr = &said
	started, ended := make(chan error, 1), make(chan struct{})
	go func() { // the signal comes when the thread ends that has started the process
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(ended)
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // it ends by a signal
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("starting sshd: %w", err)
	}
	stop = func() error {
		err := syscall.Kill(cmd.Process.Pid, syscall.SIGTERM)
		<-ended
		if errors.Is(err, syscall.ESRCH) {
			err = nil
		}
		return err
	}
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	err = m.await(ctx, func() error {
		select {
		case <-ended:
			return fmt.Errorf("sshd has ended: %s", said.String())
		default:
		}
		c, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", address)
		if err == nil {
			err = c.Close()
		}
		return err
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("starting sshd: %w", err), stop())
	}
	return stop, nil
}
