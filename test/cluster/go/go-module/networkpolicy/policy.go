package networkpolicy

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// A Policy is a NetworkPolicy in nft's words. Its rules name sets instead of addresses, so that they stay the same while
// pods come and go.
type Policy struct {
	Namespace string
	Pods      labels.Selector
	// Rules of the direction, each without its verdict. They are nil if the policy does not isolate that direction.
	Ingress, Egress []string
	// Peers are the selectors of the sets that the rules name.
	Peers map[string]PeerSelector
	// Ports are the names of ports for which the rules name a set.
	Ports map[NamedPort]bool
}

// A PeerSelector selects pods of one namespace, or of those that Namespaces selects.
type PeerSelector struct {
	Namespace  string
	Namespaces labels.Selector
	Pods       labels.Selector
}

type NamedPort struct {
	Protocol string
	Name     string
}

type direction struct {
	// The side of a packet on which the peer is.
	peer string
}

var (
	ingress = direction{peer: "saddr"}
	egress  = direction{peer: "daddr"}
)

// Compile translates the rules of a policy.
func Compile(source *networking.NetworkPolicy) (*Policy, error) {
	pods, err := meta.LabelSelectorAsSelector(&source.Spec.PodSelector)
	if err != nil {
		return nil, err
	}
	policy := &Policy{
		Namespace: source.Namespace,
		Pods:      pods,
		Peers:     map[string]PeerSelector{},
		Ports:     map[NamedPort]bool{},
	}
	if isolates(source, networking.PolicyTypeIngress) {
		policy.Ingress = []string{}
		for _, rule := range source.Spec.Ingress {
			if err := policy.add(&policy.Ingress, ingress, rule.From, rule.Ports); err != nil {
				return nil, err
			}
		}
	}
	if isolates(source, networking.PolicyTypeEgress) {
		policy.Egress = []string{}
		for _, rule := range source.Spec.Egress {
			if err := policy.add(&policy.Egress, egress, rule.To, rule.Ports); err != nil {
				return nil, err
			}
		}
	}
	return policy, nil
}

// isolates applies the API server's default for policies without policyTypes.
func isolates(source *networking.NetworkPolicy, direction networking.PolicyType) bool {
	if len(source.Spec.PolicyTypes) > 0 {
		return slices.Contains(source.Spec.PolicyTypes, direction)
	}
	return direction == networking.PolicyTypeIngress || len(source.Spec.Egress) > 0
}

// A match is a part of a rule. Its family is empty if it matches packets of both.
type match struct {
	family string
	text   string
}

// add adds a rule for each combination of a peer and a port. nft refuses a rule for packets of both families.
func (policy *Policy) add(
	rules *[]string, side direction, peers []networking.NetworkPolicyPeer, ports []networking.NetworkPolicyPort,
) error {
	peerMatches, err := policy.peerMatches(side, peers)
	if err != nil {
		return err
	}
	for _, peer := range peerMatches {
		for _, port := range policy.portMatches(ports) {
			if peer.family == "" || port.family == "" || peer.family == port.family {
				*rules = append(*rules, strings.TrimSpace(peer.text+" "+port.text))
			}
		}
	}
	return nil
}

func (policy *Policy) peerMatches(side direction, peers []networking.NetworkPolicyPeer) ([]match, error) {
	if len(peers) == 0 {
		return []match{{}}, nil
	}
	matches := []match{}
	for _, peer := range peers {
		if peer.IPBlock != nil {
			block, err := blockMatch(side, peer.IPBlock)
			if err != nil {
				return nil, err
			}
			matches = append(matches, block)
			continue
		}
		selector, err := peerSelector(policy.Namespace, peer)
		if err != nil {
			return nil, err
		}
		name := selector.setName()
		policy.Peers[name] = selector
		for _, family := range families {
			text := fmt.Sprintf("%s %s @%s", family.header, side.peer, family.set(name))
			matches = append(matches, match{family.header, text})
		}
	}
	return matches, nil
}

func peerSelector(namespace string, peer networking.NetworkPolicyPeer) (PeerSelector, error) {
	selector := PeerSelector{Namespace: namespace, Pods: labels.Everything()}
	var err error
	if peer.NamespaceSelector != nil {
		selector.Namespace = ""
		if selector.Namespaces, err = meta.LabelSelectorAsSelector(peer.NamespaceSelector); err != nil {
			return selector, err
		}
	}
	if peer.PodSelector != nil {
		selector.Pods, err = meta.LabelSelectorAsSelector(peer.PodSelector)
	}
	return selector, err
}

// setName returns the same name for equal selectors, which share a set.
func (selector PeerSelector) setName() string {
	if selector.Namespaces == nil {
		return "pods-" + shortHash("namespace", selector.Namespace, selector.Pods.String())
	}
	return "pods-" + shortHash("namespaces", selector.Namespaces.String(), selector.Pods.String())
}

func shortHash(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\n")))
	return hex.EncodeToString(sum[:10])
}

func blockMatch(side direction, block *networking.IPBlock) (match, error) {
	cidr, err := netip.ParsePrefix(block.CIDR)
	if err != nil {
		return match{}, err
	}
	family := familyOf(cidr.Addr())
	text := "meta nfproto " + family.protocol
	// nft refuses a prefix of no bits.
	if cidr.Bits() > 0 {
		text = fmt.Sprintf("%s %s %s", family.header, side.peer, cidr.Masked())
	}
	except := make([]netip.Prefix, 0, len(block.Except))
	for _, text := range block.Except {
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			return match{}, err
		}
		except = append(except, prefix.Masked())
	}
	if len(except) > 0 {
		text += fmt.Sprintf(" %s %s != { %s }", family.header, side.peer, joined(withoutContained(except)))
	}
	return match{family.header, text}, nil
}

// withoutContained removes prefixes that another one contains, because nft refuses sets that overlap.
func withoutContained(prefixes []netip.Prefix) []netip.Prefix {
	slices.SortFunc(prefixes, func(a, b netip.Prefix) int { return a.Bits() - b.Bits() })
	var kept []netip.Prefix
	for _, prefix := range prefixes {
		if !slices.ContainsFunc(kept, func(wider netip.Prefix) bool { return wider.Overlaps(prefix) }) {
			kept = append(kept, prefix)
		}
	}
	return kept
}

type portRange struct{ first, last int32 }

// portMatches returns one match for the numbers of each protocol, and one for each named port and family.
func (policy *Policy) portMatches(ports []networking.NetworkPolicyPort) []match {
	if len(ports) == 0 {
		return []match{{}}
	}
	matches := []match{}
	numbers := map[string][]portRange{}
	for _, port := range ports {
		protocol := "tcp"
		if port.Protocol != nil {
			protocol = strings.ToLower(string(*port.Protocol))
		}
		switch {
		case port.Port == nil:
			numbers[protocol] = append(numbers[protocol], portRange{0, 65535})
		case port.Port.Type == intstr.String:
			named := NamedPort{Protocol: protocol, Name: port.Port.StrVal}
			policy.Ports[named] = true
			for _, family := range families {
				set := family.set(named.setName())
				text := fmt.Sprintf("%s daddr . %s dport @%s", family.header, protocol, set)
				matches = append(matches, match{family.header, text})
			}
		default:
			one := portRange{port.Port.IntVal, port.Port.IntVal}
			if port.EndPort != nil {
				one.last = *port.EndPort
			}
			numbers[protocol] = append(numbers[protocol], one)
		}
	}
	for _, protocol := range []string{"sctp", "tcp", "udp"} {
		if ranges := numbers[protocol]; len(ranges) > 0 {
			matches = append(matches, match{text: fmt.Sprintf("%s dport { %s }", protocol, joined(merged(ranges)))})
		}
	}
	return matches
}

func (port NamedPort) setName() string {
	return "ports-" + shortHash(port.Protocol, port.Name)
}

func (one portRange) String() string {
	if one.first == one.last {
		return fmt.Sprint(one.first)
	}
	return fmt.Sprintf("%d-%d", one.first, one.last)
}

// merged joins ranges that overlap, because nft refuses sets that do.
func merged(ranges []portRange) []portRange {
	slices.SortFunc(ranges, func(a, b portRange) int { return int(a.first - b.first) })
	var disjoint []portRange
	for _, one := range ranges {
		if last := len(disjoint) - 1; last >= 0 && one.first <= disjoint[last].last {
			disjoint[last].last = max(disjoint[last].last, one.last)
			continue
		}
		disjoint = append(disjoint, one)
	}
	return disjoint
}

// namedPorts returns the named ports of a pod's containers, including sidecars, which are init containers that keep running.
func namedPorts(spec *core.PodSpec) map[NamedPort]int32 {
	ports := map[NamedPort]int32{}
	for _, container := range slices.Concat(spec.InitContainers, spec.Containers) {
		for _, port := range container.Ports {
			if port.Name != "" {
				protocol := strings.ToLower(string(port.Protocol))
				ports[NamedPort{Protocol: protocol, Name: port.Name}] = port.ContainerPort
			}
		}
	}
	return ports
}
