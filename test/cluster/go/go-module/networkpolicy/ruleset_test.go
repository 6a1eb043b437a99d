package networkpolicy

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/labels"
)

func pod(namespace, address string, isLocal bool, text labels.Set) Pod {
	return Pod{Namespace: namespace, Labels: text, Addresses: []netip.Addr{netip.MustParseAddr(address)}, IsLocal: isLocal}
}

func members(rules Ruleset, set string) []string {
	return slices.Sorted(maps.Keys(rules.Sets[set].Elements))
}

func TestPodsAreIsolatedByThePoliciesThatSelectThem(t *testing.T) {
	state := State{
		Namespaces: map[string]labels.Set{"shop": {}, "other": {}},
		Pods: []Pod{
			pod("shop", "10.244.0.2", true, labels.Set{"app": "web"}),
			pod("shop", "10.244.0.3", true, labels.Set{"app": "db"}),
			pod("other", "10.244.0.4", true, labels.Set{"app": "web"}),
			pod("shop", "10.244.1.5", false, labels.Set{"app": "web"}),
		},
		Policies: map[string]*Policy{
			"shop/web": rulesOf(t, `{podSelector: {matchLabels: {app: web}}, ingress: [{from: [{podSelector: {}}]}]}`),
		},
	}
	rules := Translate(state)
	expect(t, members(rules, "local-4"), []string{"10.244.0.2", "10.244.0.3", "10.244.0.4"})
	expect(t, members(rules, "ingress-4"), []string{"10.244.0.2"})
	expect(t, members(rules, "egress-4"), []string(nil))
	for name := range state.Policies["shop/web"].Peers {
		expect(t, members(rules, name+"-4"), []string{"10.244.0.2", "10.244.0.3", "10.244.1.5"})
	}
	expect(t, len(rules.Chains), 1)
	for _, lines := range rules.Chains {
		expect(t, lines[len(lines)-1], "counter drop")
	}
}

func TestNamespacesAreSelectedByTheirLabels(t *testing.T) {
	policy := rulesOf(t, `{podSelector: {}, ingress: [{from: [{namespaceSelector: {matchLabels: {team: a}}}]}]}`)
	state := State{
		Namespaces: map[string]labels.Set{"shop": {}, "one": {"team": "a"}, "two": {"team": "b"}},
		Pods: []Pod{
			pod("shop", "10.244.0.2", true, nil), pod("one", "10.244.0.3", true, nil), pod("two", "10.244.0.4", true, nil),
		},
		Policies: map[string]*Policy{"shop/p": policy},
	}
	for name := range policy.Peers {
		expect(t, members(Translate(state), name+"-4"), []string{"10.244.0.3"})
	}
}

func TestNamedPortsAreThoseOfEachPod(t *testing.T) {
	policy := rulesOf(t, `{podSelector: {}, ingress: [{ports: [{port: http}]}]}`)
	http := NamedPort{Protocol: "tcp", Name: "http"}
	one, two := pod("shop", "10.244.0.2", true, nil), pod("shop", "fd00::3", true, nil)
	one.Ports, two.Ports = map[NamedPort]int32{http: 80}, map[NamedPort]int32{http: 8080}
	rules := Translate(State{Pods: []Pod{one, two}, Policies: map[string]*Policy{"shop/p": policy}})
	expect(t, members(rules, http.setName()+"-4"), []string{"10.244.0.2 . 80"})
	expect(t, members(rules, http.setName()+"-6"), []string{"fd00::3 . 8080"})
}

// A table is what nft has after transactions, as far as they go here: it fails where nft would.
type tableOfTest struct {
	sets   map[string]map[string]string
	chains map[string][]string
}

func (table *tableOfTest) apply(t *testing.T, script string) {
	t.Helper()
	for line := range strings.Lines(script) {
		words := strings.SplitN(strings.TrimSpace(line), " ", 6)
		verb := strings.Join(words[:2], " ")
		name := ""
		if len(words) > 4 {
			name = words[4]
		}
		switch verb {
		case "add set", "add map":
			table.sets[name] = map[string]string{}
		case "delete set", "delete map":
			for _, lines := range table.chains {
				for _, one := range lines {
					if strings.Contains(one, "@"+name) {
						t.Fatalf("%s is deleted while %q names it", name, one)
					}
				}
			}
			delete(table.sets, name)
		case "add chain":
			table.chains[name] = nil
		case "add rule":
			for _, word := range strings.Fields(words[5]) {
				if set, names := strings.CutPrefix(word, "@"); names && table.sets[set] == nil {
					t.Fatalf("%q names a set that is not there", line)
				}
			}
			table.chains[name] = append(table.chains[name], words[5])
		case "flush chain":
			table.chains[name] = nil
		case "delete chain":
			for set, elements := range table.sets {
				for key, verdict := range elements {
					if verdict == "jump "+name {
						t.Fatalf("%s is deleted while %s of %s jumps to it", name, key, set)
					}
				}
			}
			delete(table.chains, name)
		case "add element", "delete element":
			for element := range strings.SplitSeq(strings.Trim(words[5], "{ }"), ", ") {
				key, verdict, _ := strings.Cut(element, " : ")
				_, present := table.sets[name][key]
				if present == (verb == "add element") {
					t.Fatalf("%s of %s of %s", verb, key, name)
				}
				if verb == "delete element" {
					delete(table.sets[name], key)
				} else {
					table.sets[name][key] = verdict
				}
			}
		}
	}
}

func TestChangesLeadFromAnyStateToAnyOther(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	specs := []string{
		`{podSelector: {}, policyTypes: [Ingress, Egress]}`,
		`{podSelector: {matchLabels: {app: a}}, ingress: [{from: [{podSelector: {matchLabels: {app: b}}}]}]}`,
		`{podSelector: {}, egress: [{to: [{namespaceSelector: {matchLabels: {team: a}}}], ports: [{port: http}]}]}`,
		`{podSelector: {matchLabels: {app: b}}, ingress: [{ports: [{port: http}, {port: 80}]}]}`,
	}
	state := func() State {
		state := State{Namespaces: map[string]labels.Set{"shop": {"team": []string{"a", "b"}[random.IntN(2)]}}}
		for number := range random.IntN(6) {
			one := pod("shop", fmt.Sprintf("10.244.0.%d", number+2), random.IntN(4) > 0, labels.Set{"app": []string{"a", "b"}[random.IntN(2)]})
			one.Ports = map[NamedPort]int32{{Protocol: "tcp", Name: "http"}: int32(80 + random.IntN(2))}
			state.Pods = append(state.Pods, one)
		}
		state.Policies = map[string]*Policy{}
		for index, spec := range specs {
			if random.IntN(2) > 0 {
				state.Policies[fmt.Sprint("shop/", index)] = rulesOf(t, spec)
			}
		}
		return state
	}
	present := Translate(state())
	table := &tableOfTest{sets: map[string]map[string]string{}, chains: map[string][]string{}}
	table.apply(t, Changes(newRuleset(), present))
	for range 500 {
		next := Translate(state())
		table.apply(t, Changes(present, next))
		present = next
		expect(t, table.chains, present.Chains)
		sets := map[string]map[string]string{}
		for name, set := range present.Sets {
			sets[name] = set.Elements
		}
		expect(t, table.sets, sets)
		expect(t, Changes(present, next), "")
	}
}
