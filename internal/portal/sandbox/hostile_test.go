package sandbox

import (
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// listening takes a connection at the first port, tries to begin one from it, and notes what else
// came to it and to the second port.
func listening(args []string, note func(string, error)) error {
	var at [2]net.Listener
	for i := range at {
		l, err := net.Listen("tcp4", "0.0.0.0:"+args[i])
		if err != nil {
			return err
		}
		defer l.Close()
		at[i] = l
	}
	conn, err := at[0].Accept()
	if err != nil {
		return err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(30 * time.Second)) // a connection has deadlines
	if _, err := io.ReadFull(conn, make([]byte, 5)); err != nil {
		return err
	}
	note("taken from "+conn.RemoteAddr().(*net.TCPAddr).IP.String(), nil)
	for i, name := range []string{"another machine", "another port"} {
		_ = at[i].(*net.TCPListener).SetDeadline(time.Now().Add(100 * time.Millisecond)) // a listener has deadlines
		other, err := at[i].Accept()
		if err == nil {
			other.Close()
		}
		note(name, err)
	}
	reuse := func(_, _ string, c syscall.RawConn) error {
		return c.Control(func(fd uintptr) { _ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1) })
	}
	port, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port}, Control: reuse, Timeout: time.Second}
	out, err := d.Dial("tcp4", args[2])
	if err == nil {
		out.Close()
	}
	note("a connection from the port", err)
	_, err = conn.Write([]byte("hi"))
	return err
}

// hostile tries one thing and says what came of it.
func hostile(act string, args []string) (map[string]string, error) {
	out := map[string]string{}
	note := func(name string, err error) {
		out[name] = "done"
		if err != nil {
			out[name] = err.Error()
		}
	}
	switch act {
	case "look":
		status, err := os.ReadFile("/proc/self/status")
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(status)) {
			name, value, _ := strings.Cut(line, ":")
			out[name] = strings.Join(strings.Fields(value), " ")
		}
		all, _ := filepath.Glob("/proc/[0-9]*") // the pattern is well formed
		out["processes"] = strconv.Itoa(len(all))
		files, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			return nil, err
		}
		var open []string
		for _, f := range files {
			if target, err := os.Readlink("/proc/self/fd/" + f.Name()); err == nil && !strings.HasPrefix(target, "anon_inode:") {
				open = append(open, f.Name())
			}
		}
		out["files"] = strings.Join(open, " ")
		out["environment"] = strings.Join(os.Environ(), " ")
	case "files":
		for _, path := range args {
			_, err := os.ReadFile(path)
			note("read "+path, err)
			note("write "+path, os.WriteFile(path+".hostile", []byte("x"), 0o644))
		}
		note("scratch", os.WriteFile("/tmp/mine", []byte("x"), 0o600))
		_, err := os.ReadDir("/root")
		note("list", err)
	case "connect":
		for _, address := range args {
			conn, err := net.DialTimeout("tcp", address, 3*time.Second)
			if err == nil {
				_ = conn.SetDeadline(time.Now().Add(3 * time.Second))
				_, err = io.ReadFull(conn, make([]byte, 2))
				conn.Close()
			}
			note("tcp "+address, err)
			note("udp "+address, sendTo(address))
		}
		_, err := net.LookupHost("example.com")
		note("name", err)
		conn, err := net.Dial("unix", "@iikanji-sandbox-test")
		if err == nil {
			conn.Close()
		}
		note("abstract", err)
	case "listen":
		return out, listening(args, note)
	case "kernel":
		for name, family := range map[string]int{"vsock": unix.AF_VSOCK, "packet": unix.AF_PACKET, "alg": unix.AF_ALG} {
			fd, err := unix.Socket(family, unix.SOCK_STREAM, 0)
			if err == nil {
				unix.Close(fd)
			}
			note(name, err)
		}
		_, err := unix.Socket(unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP)
		note("raw", err)
		_, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, 8, 0, 0)
		note("uring", errnoOf(errno))
		note("mount", unix.Mount("tmpfs", "/tmp", "tmpfs", 0, ""))
		note("unshare", unix.Unshare(unix.CLONE_NEWUSER))
		note("setuid", unix.Setuid(0))
		for _, pid := range args {
			id, err := strconv.Atoi(pid)
			if err != nil {
				return nil, err
			}
			note("kill", unix.Kill(id, unix.SIGUSR1))
			_, err = os.ReadFile("/proc/" + pid + "/environ")
			note("environ", err)
			note("ptrace", unix.PtraceAttach(id))
			note("kill group", unix.Kill(-id, unix.SIGUSR1))
		}
	default:
		return exhaust(act)
	}
	return out, nil
}

// exhaust uses as much as it can of one thing.
func exhaust(act string) (map[string]string, error) {
	out := map[string]string{}
	switch act {
	case "fork":
		n := 0
		for ; n < 1000; n++ {
			cmd := exec.Command("/proc/self/exe", hostileRole, "sleep")
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
			if err := cmd.Start(); err != nil {
				out["fork"] = err.Error()
				break
			}
		}
		out["children"] = strconv.Itoa(n)
	case "sleep":
		time.Sleep(time.Hour)
	case "memory":
		var all [][]byte
		for range 1000 {
			b := make([]byte, 1<<20)
			for i := range b {
				b[i] = byte(i)
			}
			all = append(all, b)
		}
		out["memory"] = strconv.Itoa(len(all))
	case "disk":
		f, err := os.Create("/tmp/big")
		if err != nil {
			return nil, err
		}
		n := 0
		for block := make([]byte, 64<<10); n < 100<<20; {
			k, err := f.Write(block)
			n += k
			if err != nil {
				out["disk"] = err.Error()
				break
			}
		}
		out["bytes"] = strconv.Itoa(n)
	case "cpu":
		for end := time.Now().Add(time.Minute); time.Now().Before(end); {
			runtime.Gosched()
		}
	}
	return out, nil
}

func errnoOf(errno syscall.Errno) error {
	if errno == 0 {
		return nil
	}
	return errno
}

// sendTo sends a datagram without a connection.
func sendTo(address string) error {
	conn, err := net.ListenPacket("udp", ":0")
	if err != nil {
		return err
	}
	defer conn.Close()
	to, err := net.ResolveUDPAddr("udp", address)
	if err != nil {
		return err
	}
	_, err = conn.WriteTo([]byte("x"), to)
	return err
}
