package observe

import (
	"context"
	"database/sql"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/scenario"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/site/facts/factstest"
)

// A wire is a connection of the driver on which a test sends commands of the
// protocol itself, between the driver's statements.
type wire struct {
	db   *sql.DB
	conn net.Conn
}

func dial(t *testing.T, srv *factstest.Server) *wire {
	t.Helper()
	w := &wire{}
	c := mysql.NewConfig()
	c.User, c.Net, c.Addr, c.DBName = "root", "unix", srv.Socket, "seen"
	c.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
		w.conn = conn
		return conn, err
	}
	connector, err := mysql.NewConnector(c)
	if err != nil {
		t.Fatal(err)
	}
	w.db = sql.OpenDB(connector)
	w.db.SetMaxOpenConns(1)
	t.Cleanup(func() { w.db.Close() })
	if err := w.db.PingContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	return w
}

// command sends one command and reads its answer, a single packet.
func (w *wire) command(t *testing.T, body ...byte) {
	t.Helper()
	packet := append(binary.LittleEndian.AppendUint32(nil, uint32(len(body))), body...)
	if _, err := w.conn.Write(packet); err != nil {
		t.Fatal(err)
	}
	head := make([]byte, 4)
	if _, err := io.ReadFull(w.conn, head); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, int(head[0])|int(head[1])<<8|int(head[2])<<16)
	if _, err := io.ReadFull(w.conn, answer); err != nil || answer[0] == 0xff {
		t.Fatalf("command %d: %q, %v", body[0], answer, err)
	}
}

// Commands of the protocol (com_…) that carry no SQL.
const (
	comInitDB          = 0x02
	comStatistics      = 0x09
	comPing            = 0x0e
	comSetOption       = 0x1b
	comResetConnection = 0x1f
)

// TestCommandsWithoutSQLUnderLoad: clients that select a database, reset their
// connection or ask for an option with each request, as mysqli of PHP does, leave
// the slow log green. Statements that are missing in the log make it red nevertheless.
func TestCommandsWithoutSQLUnderLoad(t *testing.T) {
	tier.Slow(t)
	srv, err := factstest.Start(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Stop()
	sensor := func(unlogged int, commands ...[]byte) Sensor {
		t.Helper()
		s := newStage(t, srv)
		o, err := Observe(t.Context(), s.w)
		if err != nil {
			t.Fatal(err)
		}
		defer o.Close()
		w := dial(t, srv)
		o.Phase(scenario.Load, true)
		for range 300 {
			for _, c := range commands {
				w.command(t, c...)
			}
			if _, err := w.db.ExecContext(t.Context(), "DO 1"); err != nil {
				t.Fatal(err)
			}
		}
		if unlogged > 0 {
			if _, err := w.db.ExecContext(t.Context(), "SET SESSION slow_query_log = 0"); err != nil {
				t.Fatal(err)
			}
		}
		for range unlogged {
			if _, err := w.db.ExecContext(t.Context(), "DO 2"); err != nil {
				t.Fatal(err)
			}
		}
		o.Phase(scenario.Load, false)
		ob, err := o.Finish(t.Context(), &iikanji.Run{Steps: []iikanji.StepStat{{Count: 300}}, Took: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range ob.Sensors {
			if x.Source == iikanji.Slow {
				return x
			}
		}
		t.Fatal("no sensor of statements")
		return Sensor{}
	}
	initDB := append([]byte{comInitDB}, "seen"...)
	for _, c := range []struct {
		name     string
		commands [][]byte
	}{
		{"select_db", [][]byte{initDB}},
		{"reset", [][]byte{{comResetConnection}}},
		{"set_option", [][]byte{{comSetOption, 0, 0}}},
		{"ping and statistics", [][]byte{{comPing}, {comStatistics}}},
		{"all", [][]byte{initDB, {comSetOption, 0, 0}, {comPing}, {comResetConnection}}},
	} {
		if x := sensor(0, c.commands...); !x.Green {
			t.Errorf("%s: %+v", c.name, x)
		}
	}
	x := sensor(200, initDB)
	if x.Green || len(x.Proofs) < 2 || !strings.Contains(x.Proofs[1].Says, "300 in the log") {
		t.Errorf("200 statements are not in the log: %+v", x)
	}
}
