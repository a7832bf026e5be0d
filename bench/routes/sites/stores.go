package sites

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

var suites = list("bookworm trixie sid bookworm-updates")

// debFile is a package file with its folder: b/bash/bash_5.2.15-2_amd64.deb.
func debFile(r *rand.Rand) string {
	name := dashed(r)
	return fmt.Sprintf("%s/%s/%s_%d.%d-%d_%s.deb", name[:1], name, name, r.IntN(9), r.IntN(30), 1+r.IntN(4), pick(r, list("amd64 arm64 all")))
}

// jarDir is a folder of a Maven repository: org/river/lantern/lantern-core/1.2.3/lantern-core-1.2.3.
func jarDir(r *rand.Rand) string {
	artifact, v := dashed(r), semver(r)
	group := "org/" + pick(r, everyday)
	if r.IntN(2) == 0 {
		group += "/" + pick(r, nouns)
	}
	return fmt.Sprintf("%s/%s/%s/%s-%s", group, artifact, v, artifact, v)
}

func tarball(r *rand.Rand) string {
	n := dashed(r)
	return fmt.Sprintf("%s/-/%s-%s.tgz", n, n, semver(r))
}

// stores are sites that keep files and packages.
var stores = []Site{
	{Name: "buckets with deep keys", Pools: map[string]Pool{"bucket": {dashed, 40, true}, "key": {objectKey, 0, false}}, Routes: `
		GET / 2 by=script
		GET /{bucket} 4 by=script
		GET /{bucket}/{key} 16 by=app
		PUT /{bucket}/{key} 6 by=script
		HEAD /{bucket}/{key} 4 by=script
		DELETE /{bucket}/{key} 1 by=script
		GET /minio/health/live 3 by=cron`},
	{Name: "registry of JavaScript packages", Pools: map[string]Pool{"package": {dashed, 500, true}, "scope": {from(companies), 40, true}, "tarball": {tarball, 900, true}}, Routes: `
		GET /{package} 10
		GET /@{scope}%2f{package} 5
		GET /{tarball} 12
		GET /@{scope}/{tarball} 5
		GET /-/package/{package}/dist-tags 1
		POST /-/npm/v1/security/advisories/bulk 2
		GET /-/ping 1
		PUT /{package} 0.2`},
	{Name: "index of Python packages", Pools: map[string]Pool{"package": {dashed, 700, true}, "v": {semver, 90, true}, "two": {random("", hex, 2), 256, false}, "rest": {random("", hex, 60), 0, false}, "file": {func(r *rand.Rand) string {
		return strings.ReplaceAll(dashed(r), "-", "_") + "-" + semver(r) + pick(r, list("-py3-none-any.whl .tar.gz"))
	}, 900, true}}, Routes: `
		GET /simple/{package}/ 14
		GET /simple/ 1
		GET /packages/{two}/{two}/{rest}/{file} 10
		GET /pypi/{package}/json 5
		GET /pypi/{package}/{v}/json 3
		GET /project/{package}/ 2
		GET /search/ 1`},
	{Name: "proxy of Go modules", Pools: map[string]Pool{"owner": {member, 150, true}, "repo": {dashed, 250, true}, "v": {release, 150, true}, "x": {from(list("net sys text tools crypto sync mod term image oauth2")), 10, true}}, Routes: `
		GET /github.com/{owner}/{repo}/@v/list 4
		GET /github.com/{owner}/{repo}/@v/{v}.info 6
		GET /github.com/{owner}/{repo}/@v/{v}.mod 8
		GET /github.com/{owner}/{repo}/@v/{v}.zip 5
		GET /github.com/{owner}/{repo}/@latest 2
		GET /golang.org/x/{x}/@v/list 1
		GET /golang.org/x/{x}/@v/{v}.mod 4
		GET /golang.org/x/{x}/@v/{v}.zip 2`},
	{Name: "repository of Java archives", Pools: map[string]Pool{"jar": {jarDir, 0, false}}, Routes: `
		GET /maven2/{jar}.pom 8
		GET /maven2/{jar}.jar 6
		GET /maven2/{jar}.pom.sha1 4
		GET /nexus/service/metrics/ping 2
		GET /index.html 1`},
	{Name: "mirror of a distribution", Pools: map[string]Pool{"suite": {from(suites), 4, true}, "deb": {debFile, 3000, true}}, Routes: `
		GET /debian/dists/{suite}/InRelease 6
		GET /debian/dists/{suite}/main/binary-amd64/Packages.xz 3
		GET /debian/dists/{suite}/main/i18n/Translation-en.xz 2
		GET /debian/pool/main/{deb} 20
		GET /debian/pool/contrib/{deb} 2
		GET / 1`},
	{Name: "downloads of releases", Pools: map[string]Pool{"v": {release, 60, true}}, Routes: `
		GET /releases 3
		GET /releases/latest 4
		GET /releases/{v} 6
		GET /download/{v}/app-linux-amd64.tar.gz 8
		GET /download/{v}/app-linux-arm64.tar.gz 4
		GET /download/{v}/app-darwin-arm64.tar.gz 4
		GET /download/{v}/app-windows-amd64.zip 5
		GET /download/{v}/checksums.txt 3
		GET /install.sh 5`},
	{Name: "registry of images with owners", Pools: map[string]Pool{"owner": {member, 70, true}, "image": {dashed, 120, true}, "tag": {func(r *rand.Rand) string {
		return pick(r, []string{"latest", semver(r), release(r), letters(r, hex, 7), "main"})
	}, 90, true}, "sha": {random("sha256:", hex, 64), 0, false}}, Routes: `
		GET /v2/ 6
		HEAD /v2/{owner}/{image}/manifests/{tag} 8
		GET /v2/{owner}/{image}/manifests/{tag} 5
		GET /v2/{owner}/{image}/manifests/{sha} 5
		GET /v2/{owner}/{image}/blobs/{sha} 14
		GET /v2/{owner}/{image}/tags/list 2
		GET /token 6
		GET /v2/_catalog 0.5`},
	{Name: "files by WebDAV", Pools: map[string]Pool{"user": {from(people), 30, true}, "path": {objectKey, 900, true}, "token": {random("", base62, 15), 60, true}}, Routes: `
		PROPFIND /remote.php/dav/files/{user}/{path} 8
		GET /remote.php/dav/files/{user}/{path} 8
		PUT /remote.php/dav/files/{user}/{path} 4
		GET /ocs/v2.php/apps/notifications/api/v2/notifications 6
		GET /ocs/v2.php/cloud/capabilities 2
		GET /index.php/apps/files/ 3
		GET /index.php/s/{token} 3
		GET /index.php/avatar/{user}/64 4
		GET /status.php 3
		POST /index.php/login/v2/poll 2`},
	{Name: "photographs in sizes", Pools: map[string]Pool{"size": {from(list("100x100 200x200 640x480 1280x720 1920x1080")), 5, true}, "hash": {random("", hex, 32), 2000, true}, "two": {random("", hex, 2), 256, false}, "user": {member, 300, true}, "album": {dashed, 200, true}}, Routes: `
		GET /{size}/{hash}.jpg 14
		GET /img/{two}/{two}/{hash}_t.webp 10
		GET /img/{two}/{two}/{hash}_o.webp 4
		GET /people/{user} 4
		GET /people/{user}/albums/{album} 5
		POST /upload 2
		GET /explore 3
		GET /tags 1`},
}
