package xsuportal_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/iikanji/iikanji/arenas/xsuportal/pb/resources"
	"github.com/iikanji/iikanji/arenas/xsuportal/pb/services/admin"
	"github.com/iikanji/iikanji/arenas/xsuportal/pb/services/contestant"
	"github.com/iikanji/iikanji/internal/contest/arena/arenatest/apptest"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// A kind is one kind of request of the load that reads, and how many of them a tenth of the
// contest's load of ten teams has.
type kind struct {
	path  string
	times int
}

var kinds = []kind{
	{"/api/contestant/notifications?after=1000000", 254},
	{"/api/audience/dashboard", 126},
	{"/api/contestant/dashboard", 40},
	{"/api/contestant/benchmark_jobs", 40},
	{"/api/session", 30},
	{"/api/contestant/clarifications", 12},
}

// Rows of a contest that is half over.
const (
	workTeams = 10
	workJobs  = 60
	workAsked = 20
)

// contestHalfOver fills the tables, and returns a member of a team who is logged in.
func contestHalfOver(t *testing.T, site *apptest.Site) *apptest.Client {
	t.Helper()
	message := func(m proto.Message) apptest.Edit {
		text, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		return apptest.WithBody("application/vnd.google.protobuf", string(text))
	}
	at := func(d time.Duration) *timestamppb.Timestamp { return timestamppb.New(time.Now().Add(d)) }
	c := site.NewClient(t)
	c.Send("POST", "/initialize", message(&admin.InitializeRequest{Contest: &resources.Contest{RegistrationOpenAt: at(-time.Hour),
		ContestStartsAt: at(-time.Minute), ContestFreezesAt: at(time.Hour), ContestEndsAt: at(2 * time.Hour)}})).Want(t, 200, "")
	fill := func(statement string, n int, row func(i int) string) {
		rows := make([]string, n)
		for i := range rows {
			rows[i] = "(" + row(i) + ")"
		}
		if _, err := site.DB.Exec(statement + " VALUES " + strings.Join(rows, ", ")); err != nil {
			t.Fatal(err)
		}
	}
	hash := sha256.Sum256([]byte("p"))
	fill("INSERT INTO teams (name, leader_id, email_address, invite_token, created_at)", workTeams, func(i int) string {
		return fmt.Sprintf("'team %d', 'c%d', 'a', 't', NOW(6)", i, 3*i)
	})
	fill("INSERT INTO contestants (id, password, team_id, name, created_at)", 3*workTeams, func(i int) string {
		return fmt.Sprintf("'c%d', '%s', %d, 'n', NOW(6)", i, hex.EncodeToString(hash[:]), 1+i/3)
	})
	fill("INSERT INTO benchmark_jobs (team_id, status, target_hostname, handle, score_raw, score_deduction, passed, started_at, finished_at, created_at, updated_at)",
		workJobs, func(i int) string {
			return fmt.Sprintf("%d, 5, 'h', 'h', %d, 10, 1, NOW(6), NOW(6), NOW(6), NOW(6)", 1+i%workTeams, 1000+i)
		})
	fill("INSERT INTO clarifications (team_id, disclosed, question, answer, answered_at, created_at, updated_at)", workAsked, func(i int) string {
		return fmt.Sprintf("%d, %v, 'q', 'a', NOW(6), NOW(6), NOW(6)", 1+i%workTeams, i == 0)
	})
	text, err := proto.Marshal(&resources.Notification{Content: &resources.Notification_ContentBenchmarkJob{
		ContentBenchmarkJob: &resources.Notification_BenchmarkJobMessage{BenchmarkJobId: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	fill("INSERT INTO notifications (contestant_id, `read`, encoded_message, created_at, updated_at)", 3*(workJobs+workAsked), func(i int) string {
		return fmt.Sprintf("'c%d', 1, '%s', NOW(6), NOW(6)", i%(3*workTeams), base64.StdEncoding.EncodeToString(text))
	})
	c.Send("POST", "/api/login", message(&contestant.LoginRequest{ContestantId: "c0", Password: "p"})).Want(t, 200, "")
	return c
}

// TestWork: what each kind of request costs the database, and what single changes save of it;
// times say nothing on a busy machine.
func TestWork(t *testing.T) {
	tier.Long(t, "it builds the app for each change, and proves what the README has")
	s := apptest.Up(t, "xsuportal")
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	client := contestHalfOver(t, s)
	all := func(what string) (sum apptest.Work) {
		for _, k := range kinds {
			w := s.WorkOf(t, func() {
				for range k.times {
					client.Get(k.path).Want(t, 200, "")
				}
			})
			if what == "untouched" {
				t.Logf("%-46s %5d × %2d statements, %2d of them prepared, %4d rows", k.path, k.times, w.Selects/k.times, w.Prepares/k.times, w.Scanned/k.times)
			}
			sum.Selects, sum.Prepares, sum.Scanned = sum.Selects+w.Selects, sum.Prepares+w.Prepares, sum.Scanned+w.Scanned
		}
		t.Logf("%-46s %5d SELECTs %5d prepared %7d rows", what, sum.Selects, sum.Prepares, sum.Scanned)
		return sum
	}
	base := all("untouched")
	alter := func(statement string) {
		if _, err := s.DB.ExecContext(ctx, statement); err != nil {
			t.Fatal(err)
		}
	}
	alter("ALTER TABLE contestants ADD INDEX w (team_id)")
	indexed := all("10 index on the team")
	alter("ALTER TABLE contestants DROP INDEX w")
	if indexed.Scanned >= base.Scanned {
		t.Errorf("the index on the team leaves %d of %d rows", indexed.Scanned, base.Scanned)
	}
	file := filepath.Join(s.Stack.Places().Webapp, "go/db.go")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const open = "\tdb, err := sqlx.Open("
	edited := strings.Replace(string(text), open, "\tc.InterpolateParams = true\n"+open, 1)
	if err := os.WriteFile(file, []byte(edited), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := s.Stack.Rebuild(ctx, "app"); err != nil {
		t.Fatal(err)
	}
	if w := all("11 interpolateParams"); w.Prepares*10 > base.Prepares {
		t.Errorf("interpolateParams leaves %d of %d prepared statements", w.Prepares, base.Prepares)
	}
}
