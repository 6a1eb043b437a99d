package networkpolicy

import (
	"context"
	"fmt"
	"log"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	core "k8s.io/api/core/v1"
)

const (
	// podNetwork is the podSubnet of the cluster's configuration (kind-cluster.ts).
	podNetwork = "10.244.0.0/16"
	// firstNetwork is what the first node gets of it.
	firstNetwork = "10.244.0.0/24"
	// firstNode is how kind's name of the first control plane ends.
	firstNode = "-control-plane"
	// cniFile configures containerd, which reads it again whenever it changes. Without it no pod starts.
	cniFile = "/etc/cni/net.d/10-ptp.conflist"
)

// A Node has an address in the network of the nodes, and a part of the pods' network.
type Node struct {
	Address netip.Addr
	Pods    netip.Prefix
}

// nodeOf returns false for a node without an address or pods' network of its own, which it gets after its registration.
func nodeOf(object *core.Node) (Node, bool) {
	pods, err := netip.ParsePrefix(object.Spec.PodCIDR)
	if err != nil {
		return Node{}, false
	}
	for _, one := range object.Status.Addresses {
		if address, err := netip.ParseAddr(one.Address); err == nil && one.Type == core.NodeInternalIP {
			return Node{Address: address, Pods: pods}, true
		}
	}
	return Node{}, false
}

// cniConfiguration returns containerd's configuration of the network of this node's pods.
func cniConfiguration(pods string) string {
	return `{"cniVersion": "0.4.0", "name": "ptp", "plugins": [
  {"type": "ptp", "ipMasq": false, "ipam": {"type": "host-local", "dataDir": "/run/cni-ipam-state",
    "routes": [{"dst": "0.0.0.0/0"}], "ranges": [[{"subnet": "` + pods + `"}]]}},
  {"type": "portmap", "capabilities": {"portMappings": true}}]}
`
}

// writeFirstConfiguration configures the network of the first node before it knows its own from the API server, so that
// a cluster of one node does not wait for it.
func writeFirstConfiguration(node string) error {
	if _, err := os.Stat(cniFile); err == nil || !strings.HasSuffix(node, firstNode) {
		return nil
	}
	return writeConfiguration(firstNetwork)
}

func writeConfiguration(pods string) error {
	text := cniConfiguration(pods)
	if present, err := os.ReadFile(cniFile); err == nil && string(present) == text {
		return nil
	}
	scratch := filepath.Join(filepath.Dir(cniFile), ".new")
	if err := os.WriteFile(scratch, []byte(text), 0o644); err != nil {
		return err
	}
	return os.Rename(scratch, cniFile)
}

// A router keeps this node's routes to the pods of other nodes, and the configuration of its own network.
type router struct {
	node      string
	configure func(pods string) error
	route     func(ctx context.Context, arguments ...string) error
	routes    map[netip.Prefix]netip.Addr
}

func newRouter(node string) *router {
	return &router{node: node, configure: writeConfiguration, route: ipRoute, routes: map[netip.Prefix]netip.Addr{}}
}

func ipRoute(ctx context.Context, arguments ...string) error {
	command := exec.CommandContext(ctx, "ip", append([]string{"route"}, arguments...)...)
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("ip route %s: %w: %.500s", strings.Join(arguments, " "), err, output)
	}
	return nil
}

func (router *router) run(ctx context.Context, cluster *Cluster) {
	for {
		if err := router.update(ctx, cluster.Nodes()); err != nil {
			log.Printf("the network between nodes cannot be changed, and is tried again in 1 s: %v", err)
			time.Sleep(time.Second)
			continue
		}
		<-cluster.nodesChanged
	}
}

func (router *router) update(ctx context.Context, nodes map[string]Node) error {
	if own, known := nodes[router.node]; known {
		if err := router.configure(own.Pods.String()); err != nil {
			return err
		}
	}
	wanted := map[netip.Prefix]netip.Addr{}
	for name, node := range nodes {
		if name != router.node {
			wanted[node.Pods] = node.Address
		}
	}
	for pods, address := range wanted {
		if router.routes[pods] == address {
			continue
		}
		if err := router.route(ctx, "replace", pods.String(), "via", address.String()); err != nil {
			return err
		}
		router.routes[pods] = address
	}
	for pods := range router.routes {
		if _, kept := wanted[pods]; kept {
			continue
		}
		if err := router.route(ctx, "del", pods.String()); err != nil {
			return err
		}
		delete(router.routes, pods)
	}
	return nil
}
