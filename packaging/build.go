package main

import (
	"context"
	"debug/buildinfo"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// architectures are those of the release, by the names that Go and Debian share.
var architectures = []string{"amd64", "arm64"}

// A builder makes the files of a release.
type builder struct {
	commit
	archs   []string
	src     string // the clone
	scratch string
	into    string
	cache   string // GOCACHE; "" for the user's
}

// makeAll makes all files but the sums.
func (b *builder) makeAll(ctx context.Context) error {
	programs := map[string]string{}
	for _, arch := range b.archs {
		file := filepath.Join(b.scratch, "iikanji-"+arch)
		if err := b.build(ctx, arch, file); err != nil {
			return err
		}
		programs[arch] = file
	}
	native := programs[runtime.GOARCH]
	if native == "" {
		return fmt.Errorf("this machine is %s: without a program that runs here there is no manual page", runtime.GOARCH)
	}
	for _, arch := range b.archs {
		info, err := buildinfo.ReadFile(programs[arch])
		if err != nil {
			return fmt.Errorf("reading what %s was built of: %w", programs[arch], err)
		}
		name := fmt.Sprintf("iikanji-%s-linux-%s", info.Main.Version, arch)
		program, err := os.ReadFile(programs[arch])
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(b.into, name), program, 0o755); err != nil {
			return err
		}
		bom, err := billOfMaterials(info, arch, program, b.at)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(b.into, name+".cdx.json"), bom, 0o644); err != nil {
			return err
		}
		d := &deb{builder: b, arch: arch, version: debianVersion(info.Main.Version), program: program, native: native, modules: info.Deps}
		if err := d.write(ctx); err != nil {
			return fmt.Errorf("making the package for %s: %w", arch, err)
		}
	}
	return nil
}

// build compiles and links a static program that knows its version. It has no path of this
// machine in it.
func (b *builder) build(ctx context.Context, arch, file string) error {
	env := []string{"CGO_ENABLED=0", "GOOS=linux", "GOARCH=" + arch, "GOAMD64=v1", "GOARM64=v8.0", "GOFLAGS=", "GOTOOLCHAIN=local", "GOWORK=off"}
	if b.cache != "" {
		env = append(env, "GOCACHE="+b.cache)
	}
	_, err := output(ctx, b.src, env, "go", "build", "-trimpath", "-buildvcs=true", "-ldflags=-s -w", "-o", file, "./cmd/iikanji")
	return err
}
