package isuxi

import (
	"embed"

	"github.com/iikanji/iikanji/internal/contest/arena/kit/files"
)

// repository holds files/ as it is in the repository.
//
//go:embed all:files
var repository embed.FS

// webapp is the content of webapp/ in the work folder.
var webapp = files.NewWebapp(repository)

//go:embed ladder
var ladder embed.FS

// hostsLadder has the row that needs a machine of its own.
//
//go:embed ladder-hosts
var hostsLadder embed.FS
