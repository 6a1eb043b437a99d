//go:build tools

// Pins the modules of the docker plugins compose and buildx; they are built by their package paths.
package tools

import (
	_ "github.com/docker/buildx/cmd/buildx"
	_ "github.com/docker/compose/v2/cmd"
)
