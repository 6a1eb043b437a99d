// Package plugins takes the place of Traefik's own: this build runs no plugins, whose interpreter and WebAssembly
// runtime take longer to compile than all of Traefik.
package plugins

import (
	"context"
	"errors"
	"net/http"

	"github.com/traefik/traefik/v3/pkg/provider"
)

var errNoPlugins = errors.New("this build of Traefik runs no plugins")

// Constructor creates a plugin's handler.
type Constructor func(context.Context, http.Handler) (http.Handler, error)

// Builder refuses to build a plugin.
type Builder struct{}

// NewBuilder returns a Builder, or an error when the static configuration names a plugin.
func NewBuilder(_ *Manager, plugins map[string]Descriptor, localPlugins map[string]LocalDescriptor) (*Builder, error) {
	if len(plugins)+len(localPlugins) > 0 {
		return nil, errNoPlugins
	}
	return &Builder{}, nil
}

// Build returns an error.
func (Builder) Build(string, map[string]interface{}, string) (Constructor, error) {
	return nil, errNoPlugins
}

// BuildProvider returns an error.
func (Builder) BuildProvider(string, map[string]interface{}) (provider.Provider, error) {
	return nil, errNoPlugins
}
