package networkpolicy

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
)

// A Pod has what policies select by.
type Pod struct {
	Namespace string
	Labels    labels.Set
	Ports     map[NamedPort]int32
	Addresses []netip.Addr
	// IsLocal is whether the pod runs on this node, which then enforces its policies.
	IsLocal bool
}

// A State is what policies are translated from.
type State struct {
	// Namespaces are the labels of each namespace.
	Namespaces map[string]labels.Set
	Pods       []Pod
	Policies   map[string]*Policy
}

const (
	// localSet has the addresses of this node's pods.
	localSet = "local"
	// selfSet has each address as a pair: a Service may send a pod's packets to the pod itself, which nothing denies.
	selfSet    = "self"
	ingressMap = "ingress"
	egressMap  = "egress"
)

// Translate returns the rules that enforce the policies.
func Translate(state State) Ruleset {
	rules := newRuleset()
	for _, family := range families {
		rules.Sets[family.set(localSet)] = newSet("set", family.addressType)
		rules.Sets[family.set(selfSet)] = newSet("set", family.addressType+" . "+family.addressType)
		rules.Sets[family.set(ingressMap)] = newSet("map", family.addressType+" : verdict")
		rules.Sets[family.set(egressMap)] = newSet("map", family.addressType+" : verdict")
	}
	policies := map[string][]*Policy{}
	peers := map[string]PeerSelector{}
	ports := map[NamedPort]bool{}
	for _, name := range sortedKeys(state.Policies) {
		policy := state.Policies[name]
		policies[policy.Namespace] = append(policies[policy.Namespace], policy)
		for set, selector := range policy.Peers {
			peers[set] = selector
		}
		for port := range policy.Ports {
			ports[port] = true
		}
	}
	for _, pod := range state.Pods {
		if pod.IsLocal {
			rules.isolate(pod, policies[pod.Namespace])
		}
	}
	rules.addPeers(state, peers)
	rules.addPorts(state.Pods, ports)
	return rules
}

// isolate sends a pod's packets through a chain with the rules of all policies that select it. Pods that the same
// policies select share a chain.
func (rules Ruleset) isolate(pod Pod, policies []*Policy) {
	var ingressPolicies, egressPolicies [][]string
	for _, policy := range policies {
		if !policy.Pods.Matches(pod.Labels) {
			continue
		}
		if policy.Ingress != nil {
			ingressPolicies = append(ingressPolicies, policy.Ingress)
		}
		if policy.Egress != nil {
			egressPolicies = append(egressPolicies, policy.Egress)
		}
	}
	ingressChain, egressChain := rules.chain(ingressPolicies), rules.chain(egressPolicies)
	for _, address := range pod.Addresses {
		family := familyOf(address)
		text := address.String()
		rules.Sets[family.set(localSet)].Elements[text] = ""
		rules.Sets[family.set(selfSet)].Elements[text+" . "+text] = ""
		if ingressChain != "" {
			rules.Sets[family.set(ingressMap)].Elements[text] = "jump " + ingressChain
		}
		if egressChain != "" {
			rules.Sets[family.set(egressMap)].Elements[text] = "jump " + egressChain
		}
	}
}

// chain returns the name of the chain that permits what any of these policies permits; empty if no policy isolates. The
// name is made from the content, so a chain never changes.
func (rules Ruleset) chain(policies [][]string) string {
	if len(policies) == 0 {
		return ""
	}
	lines := slices.Concat(policies...)
	slices.Sort(lines)
	lines = slices.Compact(lines)
	for index, line := range lines {
		// What one direction permits, the other may still deny.
		lines[index] = strings.TrimSpace(line + " return")
	}
	lines = append(lines, "counter drop")
	name := "rules-" + shortHash(lines...)
	rules.Chains[name] = lines
	return name
}

func (rules Ruleset) addPeers(state State, peers map[string]PeerSelector) {
	byNamespace := map[string][]Pod{}
	for _, pod := range state.Pods {
		byNamespace[pod.Namespace] = append(byNamespace[pod.Namespace], pod)
	}
	for name, selector := range peers {
		for _, family := range families {
			rules.Sets[family.set(name)] = newSet("set", family.addressType)
		}
		for _, namespace := range selector.namespaces(state.Namespaces) {
			for _, pod := range byNamespace[namespace] {
				if !selector.Pods.Matches(pod.Labels) {
					continue
				}
				for _, address := range pod.Addresses {
					rules.Sets[familyOf(address).set(name)].Elements[address.String()] = ""
				}
			}
		}
	}
}

func (selector PeerSelector) namespaces(all map[string]labels.Set) []string {
	if selector.Namespaces == nil {
		return []string{selector.Namespace}
	}
	var selected []string
	for name, labels := range all {
		if selector.Namespaces.Matches(labels) {
			selected = append(selected, name)
		}
	}
	return selected
}

// addPorts adds a set for each named port, with the addresses and numbers of the pods that have it.
func (rules Ruleset) addPorts(pods []Pod, ports map[NamedPort]bool) {
	for port := range ports {
		for _, family := range families {
			rules.Sets[family.set(port.setName())] = newSet("set", family.addressType+" . inet_service")
		}
	}
	for _, pod := range pods {
		for port, number := range pod.Ports {
			if !ports[port] {
				continue
			}
			for _, address := range pod.Addresses {
				element := fmt.Sprintf("%s . %d", address, number)
				rules.Sets[familyOf(address).set(port.setName())].Elements[element] = ""
			}
		}
	}
}
