package networkpolicy

import (
	"net/netip"
	"reflect"
	"sync"

	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
)

// A sandbox is what containerd runs of a pod on this node.
type sandbox struct {
	uid       types.UID
	namespace string
	labels    labels.Set
	addresses []netip.Addr
}

// A knownPod is a pod as the API server has it.
type knownPod struct {
	pod Pod
	// onNode is whether the pod is scheduled to this node.
	onNode bool
}

// A Cluster is what the API server and containerd have reported. Each change increases its generation.
type Cluster struct {
	node string

	lock       sync.Mutex
	generation uint64
	changed    chan struct{}
	namespaces map[string]labels.Set
	pods       map[types.UID]knownPod
	policies   map[string]*Policy
	sandboxes  map[string]sandbox

	nodes        map[string]Node
	nodesChanged chan struct{}
}

func NewCluster(node string) *Cluster {
	return &Cluster{
		node:       node,
		changed:    make(chan struct{}, 1),
		namespaces: map[string]labels.Set{},
		pods:       map[types.UID]knownPod{},
		policies:   map[string]*Policy{},
		sandboxes:  map[string]sandbox{},

		nodes:        map[string]Node{},
		nodesChanged: make(chan struct{}, 1),
	}
}

// Nodes returns the nodes of which the network is known.
func (cluster *Cluster) Nodes() map[string]Node {
	cluster.lock.Lock()
	defer cluster.lock.Unlock()
	return copied(cluster.nodes)
}

func (cluster *Cluster) SetNode(object *core.Node) {
	node, known := nodeOf(object)
	if !known {
		cluster.RemoveNode(object)
		return
	}
	cluster.changeNodes(func() bool {
		present, found := cluster.nodes[object.Name]
		cluster.nodes[object.Name] = node
		return !found || !reflect.DeepEqual(present, node)
	})
}

func (cluster *Cluster) RemoveNode(object *core.Node) {
	cluster.changeNodes(func() bool { return remove(cluster.nodes, object.Name) })
}

// changeNodes applies a change, on which no rule depends.
func (cluster *Cluster) changeNodes(apply func() bool) {
	cluster.lock.Lock()
	defer cluster.lock.Unlock()
	if apply() {
		select {
		case cluster.nodesChanged <- struct{}{}:
		default:
		}
	}
}

// State returns what is known now, and its generation.
func (cluster *Cluster) State() (State, uint64) {
	cluster.lock.Lock()
	defer cluster.lock.Unlock()
	state := State{Namespaces: copied(cluster.namespaces), Policies: copied(cluster.policies)}
	for _, known := range cluster.pods {
		// The address of a pod of this node is reported by containerd, which knows it first and until its end.
		if !known.onNode {
			state.Pods = append(state.Pods, known.pod)
		}
	}
	for _, one := range cluster.sandboxes {
		pod := Pod{Namespace: one.namespace, Labels: one.labels}
		// The API server has another uid of a static pod.
		if known, found := cluster.pods[one.uid]; found {
			pod = known.pod
		}
		pod.Addresses, pod.IsLocal = one.addresses, true
		state.Pods = append(state.Pods, pod)
	}
	return state, cluster.generation
}

func copied[K comparable, V any](all map[K]V) map[K]V {
	clone := make(map[K]V, len(all))
	for key, value := range all {
		clone[key] = value
	}
	return clone
}

// change applies a change, and returns the generation that has it. Without an effect the generation stays.
func (cluster *Cluster) change(apply func() bool) uint64 {
	cluster.lock.Lock()
	defer cluster.lock.Unlock()
	if apply() {
		cluster.generation++
		select {
		case cluster.changed <- struct{}{}:
		default:
		}
	}
	return cluster.generation
}

func (cluster *Cluster) SetNamespace(namespace *core.Namespace) {
	cluster.change(func() bool {
		if present, found := cluster.namespaces[namespace.Name]; found && labels.Equals(present, namespace.Labels) {
			return false
		}
		cluster.namespaces[namespace.Name] = namespace.Labels
		return true
	})
}

func (cluster *Cluster) RemoveNamespace(namespace *core.Namespace) {
	cluster.change(func() bool { return remove(cluster.namespaces, namespace.Name) })
}

func (cluster *Cluster) SetPod(pod *core.Pod) {
	ended := pod.Status.Phase == core.PodSucceeded || pod.Status.Phase == core.PodFailed
	// A pod in its node's network has the node's addresses, which no policy selects; those of an ended pod are free.
	if pod.Spec.HostNetwork || ended {
		cluster.RemovePod(pod)
		return
	}
	known := knownPod{
		pod:    Pod{Namespace: pod.Namespace, Labels: pod.Labels, Ports: namedPorts(&pod.Spec)},
		onNode: pod.Spec.NodeName == cluster.node,
	}
	if !known.onNode {
		for _, address := range pod.Status.PodIPs {
			known.pod.Addresses = appendAddress(known.pod.Addresses, address.IP)
		}
	}
	cluster.change(func() bool {
		if present, found := cluster.pods[pod.UID]; found && reflect.DeepEqual(present, known) {
			return false
		}
		cluster.pods[pod.UID] = known
		return true
	})
}

func (cluster *Cluster) RemovePod(pod *core.Pod) {
	cluster.change(func() bool { return remove(cluster.pods, pod.UID) })
}

func (cluster *Cluster) SetPolicy(source *networking.NetworkPolicy) error {
	policy, err := Compile(source)
	if err != nil {
		return err
	}
	cluster.change(func() bool {
		cluster.policies[policyKey(source)] = policy
		return true
	})
	return nil
}

func (cluster *Cluster) RemovePolicy(source *networking.NetworkPolicy) {
	cluster.change(func() bool { return remove(cluster.policies, policyKey(source)) })
}

func policyKey(policy *networking.NetworkPolicy) string {
	return policy.Namespace + "/" + policy.Name
}

// AddSandbox adds a sandbox that containerd has started, and returns the generation that has it.
func (cluster *Cluster) AddSandbox(id string, one sandbox) uint64 {
	return cluster.change(func() bool {
		for other, earlier := range cluster.sandboxes {
			if overlap(earlier.addresses, one.addresses) {
				delete(cluster.sandboxes, other)
			}
		}
		cluster.sandboxes[id] = one
		return true
	})
}

func (cluster *Cluster) RemoveSandbox(id string) {
	cluster.change(func() bool { return remove(cluster.sandboxes, id) })
}

// SetSandboxes replaces all sandboxes.
func (cluster *Cluster) SetSandboxes(all map[string]sandbox) {
	cluster.change(func() bool {
		cluster.sandboxes = all
		return true
	})
}

func remove[K comparable, V any](from map[K]V, key K) bool {
	_, found := from[key]
	delete(from, key)
	return found
}

func overlap(some, others []netip.Addr) bool {
	for _, one := range some {
		for _, other := range others {
			if one == other {
				return true
			}
		}
	}
	return false
}

func appendAddress(addresses []netip.Addr, text string) []netip.Addr {
	address, err := netip.ParseAddr(text)
	if err != nil {
		return addresses
	}
	return append(addresses, address.Unmap())
}
