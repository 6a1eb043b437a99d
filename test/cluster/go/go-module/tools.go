//go:build tools

// Pins the modules of the programs that are built by their own packages.
package tools

import (
	_ "github.com/containerd/containerd/v2/cmd/containerd-shim-runc-v2"
	_ "github.com/moby/buildkit/cmd/buildctl"
	_ "github.com/moby/buildkit/cmd/buildkitd"
	_ "github.com/rootless-containers/rootlesskit/v2/cmd/rootlesskit"
	_ "github.com/traefik/traefik/v3/cmd/traefik"
)
