package networkpolicy

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func nodeObject(name, pods, address string) *core.Node {
	node := &core.Node{ObjectMeta: meta.ObjectMeta{Name: name}, Spec: core.NodeSpec{PodCIDR: pods}}
	if address != "" {
		node.Status.Addresses = []core.NodeAddress{
			{Type: core.NodeHostName, Address: name}, {Type: core.NodeInternalIP, Address: address},
		}
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
		configure: func(pods string) error {
			test.done = append(test.done, "configure "+pods)
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
