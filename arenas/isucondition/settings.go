package isucondition

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strconv"

	"github.com/iikanji/iikanji/internal/contest/arena"
)

// Names of the settings.
const (
	jiaSetting    = "jia"
	jiaURLSetting = "jia-url"
	keySetting    = "key"
	usersSetting  = "users"
	listenSetting = "listen"
)

// Default addresses. The web page expects JIA on port 5000.
const (
	jiaAddress  = "127.0.0.1:0"
	mockAddress = "127.0.0.1:5000"
)

// settings are the benchmarker's. The target calls JIA, and JIA signs the login
// tokens.
var settings = []arena.Setting{
	{Name: jiaSetting, Kind: arena.Address, Default: jiaAddress,
		Help: "With --url: address on which JIA is served to the target."},
	{Name: jiaURLSetting, Kind: arena.URL, Default: "http:// and the address of --jia",
		Help: "With --url: URL of JIA for the target."},
	{Name: keySetting, Kind: arena.File, Default: "the arena's own",
		Help: "Private key (PEM) for login tokens, if the target has another public key."},
	{Name: usersSetting, Kind: arena.Text, Default: "6, as in the contest",
		Help: "Users at the begin of the load, besides isucon; a slow machine needs fewer."},
}

// maxUsers limits the setting of the first users; the contest ended with a few
// hundred users.
const maxUsers = 1000

// pace slows the load down for machines of less than a core, in proportion: with the contest's
// own, each request of the untouched app takes longer than the limit, and no work changes the
// score. A day lasts longer, ISU post less often, and fewer users begin. The relations of
// model_clock.go hold at every speed.
func pace(cores float64) arena.Pace {
	users := max(0, math.Floor((firstUsers+1)*cores)-1) // besides isucon
	return arena.Pace{Clock: math.Round(clockRate*cores/1000) * 1000, Set: arena.Values{usersSetting: strconv.Itoa(int(users))}}
}

// usersAtBegin reads the setting of the first users.
func usersAtBegin(text string) (int, error) {
	if text == "" {
		return firstUsers, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > maxUsers {
		return 0, fmt.Errorf("setting %s: %.100q is not a whole number from 0 to %d", usersSetting, text, maxUsers)
	}
	return n, nil
}

// mock is the command that serves JIA for manual tests.
var mock = arena.Command{
	Name: "jia",
	Help: "Serve a stand-in for the contest's external services, to use the web page of isucondition in a browser.",
	Detail: `Serves a stand-in for the contest's external services, to use the web page in a
browser:  a login for users isucon, isucon1, isucon2 and isucon3 (the password is
the name), and ISUs that post every three seconds once they are registered;
the login form lists their numbers. End it with Ctrl-C before a benchmark.

Example:
  iikanji up isucondition --port 8080      (in another terminal)
  iikanji jia`,
	Settings: []arena.Setting{{Name: listenSetting, Kind: arena.Address, Default: mockAddress,
		Help: "Address to listen on; the web page expects port 5000."}},
	Run: func(ctx context.Context, set arena.Values, say func(line string)) error {
		key, err := SigningKey("")
		if err != nil {
			return err
		}
		return NewJIAMock(key, say).Serve(ctx, cmp.Or(set[listenSetting], mockAddress))
	},
}
