//go:build tools

// Pins the module of cosign; it is built by its package path.
package tools

import _ "github.com/sigstore/cosign/v3/cmd/cosign"
