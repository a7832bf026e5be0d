package main

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"strings"
	"time"
)

// A bom is a bill of materials in the form CycloneDX 1.5: what a program is made of.
type bom struct {
	Format       string      `json:"bomFormat"`
	SpecVersion  string      `json:"specVersion"`
	Serial       string      `json:"serialNumber"`
	Version      int         `json:"version"`
	Metadata     metadata    `json:"metadata"`
	Components   []component `json:"components"`
	Dependencies []depends   `json:"dependencies"`
}

type metadata struct {
	Timestamp string    `json:"timestamp"`
	Component component `json:"component"`
}

type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	PURL       string     `json:"purl,omitempty"`
	Hashes     []hash     `json:"hashes,omitempty"`
	Properties []property `json:"properties,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type depends struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn,omitempty"`
}

// billOfMaterials lists the modules that a program links, with the hashes that go.sum has of
// them, and the standard library. Everything comes from what the linker recorded in the
// program, so the list cannot differ from it.
func billOfMaterials(info *debug.BuildInfo, arch string, program []byte, at time.Time) ([]byte, error) {
	sum := sha256.Sum256(program)
	main := component{Type: "application", Ref: purl(info.Main.Path, info.Main.Version) + "?goarch=" + arch + "&goos=linux", Name: info.Main.Path,
		Version: info.Main.Version, Hashes: []hash{{"SHA-256", hex.EncodeToString(sum[:])}}}
	main.PURL = main.Ref
	for _, s := range info.Settings {
		main.Properties = append(main.Properties, property{"go:build:" + s.Key, s.Value})
	}
	list := bom{Format: "CycloneDX", SpecVersion: "1.5", Serial: serial(sum), Version: 1,
		Metadata: metadata{Timestamp: at.Format(time.RFC3339), Component: main}}
	goVersion := strings.TrimPrefix(info.GoVersion, "go")
	list.Components = append(list.Components, component{Type: "library", Ref: purl("std", goVersion), Name: "std", Version: goVersion, PURL: purl("std", goVersion)})
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		c := component{Type: "library", Ref: purl(m.Path, m.Version), Name: m.Path, Version: m.Version, PURL: purl(m.Path, m.Version)}
		content, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(m.Sum, "h1:"))
		if err != nil || len(content) != sha256.Size {
			return nil, fmt.Errorf("%s %s has the sum %q, want h1: and a SHA-256", m.Path, m.Version, m.Sum)
		}
		c.Hashes = []hash{{"SHA-256", hex.EncodeToString(content)}} // of the module's files, as in go.sum
		list.Components = append(list.Components, c)
	}
	uses := depends{Ref: main.Ref}
	for _, c := range list.Components {
		uses.DependsOn = append(uses.DependsOn, c.Ref)
	}
	list.Dependencies = []depends{uses}
	text, err := json.MarshalIndent(list, "", "  ")
	return append(text, '\n'), err
}

// purl is the package URL of a Go module.
func purl(path, version string) string {
	return "pkg:golang/" + path + "@" + strings.ReplaceAll(version, "+", "%2B")
}

// serial is a UUID (version 8: of our own making) that is the same for the same program.
func serial(sum [sha256.Size]byte) string {
	u := sum[:16]
	u[6], u[8] = u[6]&0x0f|0x80, u[8]&0x3f|0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}
