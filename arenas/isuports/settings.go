package isuports

import "github.com/iikanji/iikanji/internal/contest/arena"

// Names of the settings.
const (
	domainSetting = "domain"
	keySetting    = "key"
)

// defaultDomain is the domain of all hosts: the admin's is admin.t.isucon.dev.
const defaultDomain = "t.isucon.dev"

// settings are the benchmarker's. They are for targets that are configured in
// another way than the arena's own.
var settings = []arena.Setting{
	{Name: domainSetting, Kind: arena.Text, Default: defaultDomain,
		Help: "With --url: domain whose subdomains are the tenants, as the target expects it in the Host header."},
	{Name: keySetting, Kind: arena.File, Default: "the arena's own",
		Help: "Private RSA key (PEM, PKCS #8) that signs sessions, if the target has another public key."},
}
