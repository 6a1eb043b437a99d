package networkpolicy

import (
	"context"
	"encoding/json"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// nodeObject returns a node with the networks and addresses, which are separated by spaces.
func nodeObject(name, pods, addresses string) *core.Node {
	node := &core.Node{ObjectMeta: meta.ObjectMeta{Name: name}, Spec: core.NodeSpec{PodCIDRs: strings.Fields(pods)}}
	node.Status.Addresses = []core.NodeAddress{{Type: core.NodeHostName, Address: name}}
	for _, address := range strings.Fields(addresses) {
		node.Status.Addresses = append(node.Status.Addresses, core.NodeAddress{Type: core.NodeInternalIP, Address: address})
	}
	return node
}

// A routerOfTest records what its router does.
type routerOfTest struct {
	*router
	done []string
	fail error
}

func newRouterOfTest(node string) *routerOfTest {
	test := &routerOfTest{}
	test.router = &router{
		node: node,
		configure: func(pods []netip.Prefix) error {
			test.done = append(test.done, "configure "+joined(pods))
			return nil
		},
		route: func(_ context.Context, arguments ...string) error {
			if test.fail != nil {
				return test.fail
			}
			test.done = append(test.done, strings.Join(arguments, " "))
			return nil
		},
		routes: map[netip.Prefix]netip.Addr{},
	}
	return test
}

func (test *routerOfTest) after(cluster *Cluster) ([]string, error) {
	test.done = nil
	err := test.update(context.Background(), cluster.Nodes())
	slices.Sort(test.done)
	return test.done, err
}

func TestRoutesLeadToThePodsOfOtherNodes(t *testing.T) {
	cluster, router := NewCluster("b"), newRouterOfTest("b")
	cluster.SetNode(nodeObject("a", "10.244.0.0/24", "172.18.0.2"))
	cluster.SetNode(nodeObject("b", "10.244.1.0/24", "172.18.0.3"))
	cluster.SetNode(nodeObject("new", "", "172.18.0.4"))
	done, err := router.after(cluster)
	expect(t, err, nil)
	expect(t, done, []string{"configure 10.244.1.0/24", "replace 10.244.0.0/24 via 172.18.0.2"})

	cluster.SetNode(nodeObject("new", "10.244.2.0/24", "172.18.0.4"))
	cluster.SetNode(nodeObject("a", "10.244.0.0/24", "172.18.0.9"))
	done, _ = router.after(cluster)
	expect(t, done, []string{
		"configure 10.244.1.0/24", "replace 10.244.0.0/24 via 172.18.0.9", "replace 10.244.2.0/24 via 172.18.0.4",
	})

	cluster.RemoveNode(nodeObject("new", "", ""))
	done, _ = router.after(cluster)
	expect(t, done, []string{"configure 10.244.1.0/24", "del 10.244.2.0/24"})
}

func TestRoutesOfTwoFamilies(t *testing.T) {
	cluster, router := NewCluster("b"), newRouterOfTest("b")
	cluster.SetNode(nodeObject("a", "10.244.0.0/24 fd00:10:244::/64", "172.18.0.2 fc00::2"))
	cluster.SetNode(nodeObject("b", "10.244.1.0/24 fd00:10:244:1::/64", "172.18.0.3 fc00::3"))
	cluster.SetNode(nodeObject("half", "10.244.2.0/24 fd00:10:244:2::/64", "172.18.0.4"))
	done, err := router.after(cluster)
	expect(t, err, nil)
	expect(t, done, []string{
		"configure 10.244.1.0/24, fd00:10:244:1::/64",
		"replace 10.244.0.0/24 via 172.18.0.2",
		"replace fd00:10:244::/64 via fc00::2",
	})
}

func TestTheFirstNodeGetsTheFirstNetworkOfEachFamily(t *testing.T) {
	for configuration, networks := range map[string]string{
		"networking:\n  podSubnet: \"10.244.0.0/16\"\n":                  "10.244.0.0/24",
		"  podSubnet: 10.244.0.0/16,fd00:10:244::/56\n":                  "10.244.0.0/24, fd00:10:244::/64",
		"  podSubnet: \"fd00:10:244::/56\"\n  serviceSubnet: \"fd00::\"": "fd00:10:244::/64",
	} {
		expect(t, joined(firstNetworks(configuration)), networks)
	}
}

func TestPodsGetAnAddressOfEachNetwork(t *testing.T) {
	var configuration map[string]any
	text := cniConfiguration(firstNetworks("podSubnet: 10.244.0.0/16,fd00:10:244::/56\n"))
	expect(t, json.Unmarshal([]byte(text), &configuration), nil)
	expect(t, strings.Contains(text, `"ranges": [[{"subnet": "10.244.0.0/24"}], [{"subnet": "fd00:10:244::/64"}]]`), true)
	expect(t, strings.Contains(text, `"routes": [{"dst": "0.0.0.0/0"}, {"dst": "::/0"}]`), true)
}

func TestARouteThatFailedIsSetAgain(t *testing.T) {
	cluster, router := NewCluster("b"), newRouterOfTest("b")
	cluster.SetNode(nodeObject("a", "10.244.0.0/24", "172.18.0.2"))
	router.fail = errors.New("the network is down")
	_, err := router.after(cluster)
	expect(t, err != nil, true)
	router.fail = nil
	done, err := router.after(cluster)
	expect(t, err, nil)
	expect(t, done, []string{"replace 10.244.0.0/24 via 172.18.0.2"})
}

func TestPodsOfOtherNodesArePeersByTheirReportedAddresses(t *testing.T) {
	cluster := NewCluster("b")
	remote := &core.Pod{ObjectMeta: meta.ObjectMeta{Namespace: "shop", Name: "web", UID: "1"}}
	remote.Spec.NodeName = "a"
	remote.Status.PodIPs = []core.PodIP{{IP: "10.244.0.7"}}
	cluster.SetPod(remote)
	state, _ := cluster.State()
	expect(t, len(state.Pods), 1)
	expect(t, state.Pods[0].IsLocal, false)
	expect(t, state.Pods[0].Addresses, []netip.Addr{netip.MustParseAddr("10.244.0.7")})
}
