package networkpolicy

import (
	"context"
	"fmt"
	"log"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	core "k8s.io/api/core/v1"
)

const (
	// kubeadmFile is what kind configures the control plane by, and then starts it.
	kubeadmFile = "/kind/kubeadm.conf"
	// firstNode is how kind's name of the first control plane ends.
	firstNode = "-control-plane"
	// cniFile configures containerd, which reads it again whenever it changes. Without it no pod starts.
	cniFile = "/etc/cni/net.d/10-ptp.conflist"
)

var podSubnets = regexp.MustCompile(`(?m)^\s*podSubnet: "?([^"\s]+)"?$`)

// A Node has parts of the pods' network, one of each family of the cluster, and an address in the network of the nodes
// for each.
type Node struct {
	Addresses []netip.Addr
	Pods      []netip.Prefix
}

// nodeOf returns false for a node without addresses or pods' networks of its own, which it gets after its registration.
func nodeOf(object *core.Node) (Node, bool) {
	var node Node
	for _, cidr := range object.Spec.PodCIDRs {
		pods, err := netip.ParsePrefix(cidr)
		if err != nil {
			return Node{}, false
		}
		address, found := internalAddress(object, familyOf(pods.Addr()))
		if !found {
			return Node{}, false
		}
		node.Pods = append(node.Pods, pods)
		node.Addresses = append(node.Addresses, address)
	}
	return node, len(node.Pods) > 0
}

func internalAddress(object *core.Node, wanted family) (netip.Addr, bool) {
	for _, one := range object.Status.Addresses {
		address, err := netip.ParseAddr(one.Address)
		if err == nil && one.Type == core.NodeInternalIP && familyOf(address) == wanted {
			return address, true
		}
	}
	return netip.Addr{}, false
}

// cniConfiguration returns containerd's configuration of the network of this node's pods, which get an address of each of
// the networks.
func cniConfiguration(pods []netip.Prefix) string {
	var routes, ranges []string
	for _, one := range pods {
		routes = append(routes, `{"dst": "`+familyOf(one.Addr()).everywhere+`"}`)
		ranges = append(ranges, `[{"subnet": "`+one.String()+`"}]`)
	}
	return `{"cniVersion": "0.4.0", "name": "ptp", "plugins": [
  {"type": "ptp", "ipMasq": false, "ipam": {"type": "host-local", "dataDir": "/run/cni-ipam-state",
    "routes": [` + strings.Join(routes, ", ") + `], "ranges": [` + strings.Join(ranges, ", ") + `]}},
  {"type": "portmap", "capabilities": {"portMappings": true}}]}
`
}

// writeFirstConfiguration configures the network of the first node before it knows its own from the API server, so that
// a cluster of one node does not wait for it.
func writeFirstConfiguration(node string) error {
	if _, err := os.Stat(cniFile); err == nil || !strings.HasSuffix(node, firstNode) {
		return nil
	}
	for {
		text, err := os.ReadFile(kubeadmFile)
		if err == nil {
			return writeConfiguration(firstNetworks(string(text)))
		}
		if !os.IsNotExist(err) {
			return err
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// firstNetworks returns what the first node gets of the cluster's pod networks, which kubeadm's configuration names.
func firstNetworks(kubeadm string) []netip.Prefix {
	found := podSubnets.FindStringSubmatch(kubeadm)
	if found == nil {
		return nil
	}
	var first []netip.Prefix
	for _, text := range strings.Split(found[1], ",") {
		if all, err := netip.ParsePrefix(text); err == nil {
			first = append(first, netip.PrefixFrom(all.Addr(), familyOf(all.Addr()).nodeBits))
		}
	}
	return first
}

func writeConfiguration(pods []netip.Prefix) error {
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
	configure func(pods []netip.Prefix) error
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
		if err := router.configure(own.Pods); err != nil {
			return err
		}
	}
	wanted := map[netip.Prefix]netip.Addr{}
	for name, node := range nodes {
		if name == router.node {
			continue
		}
		for index, pods := range node.Pods {
			wanted[pods] = node.Addresses[index]
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
