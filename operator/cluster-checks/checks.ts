import { publicNetworks } from '../shared/network-peers.ts';
import type { ClassFact, ClusterFacts, Fact, NodeFact, SliceFact } from './facts.ts';
import { isWithin, overlap } from './networks.ts';
import type { CheckSettings } from './settings.ts';

export interface Finding {
  /** The name of the check, such as `StorageClass`. */
  check: string;
  /** `error`: Coppice does not work. `warning`: a part of Coppice does not work, or the check was not possible. */
  level: 'ok' | 'warning' | 'error';
  message: string;
}
type Result = Omit<Finding, 'check'>;

const ok = (message: string): Result => ({ level: 'ok', message });
const warning = (message: string): Result => ({ level: 'warning', message });
const error = (message: string): Result => ({ level: 'error', message });

/** Returns the result of each check; a problem says what to do. */
export function findings(facts: ClusterFacts, settings: CheckSettings): Finding[] {
  const { ingress } = settings;
  const named = (check: string, results: Result[]) => results.map((result) => ({ check, ...result }));
  return [
    ...named('Kubernetes', of(facts.version, kubernetesVersion)),
    ...named(
      'StorageClass',
      of(facts.storageClasses, (classes) => storageClasses(classes, settings)),
    ),
    ...(ingress.parentRefs.length > 0
      ? named(
          'Gateway',
          of(facts.gateways, (found) => gateways(found, settings)),
        )
      : named(
          'IngressClass',
          of(facts.ingressClasses, (classes) => ingressClasses(classes, settings)),
        )),
    ...named('Ingress controller', both(facts.ingressSlices, facts.nodes, settings, ingressController)),
    ...named('DNS', dns(facts, settings)),
    ...named(
      'nodes',
      of(facts.nodes, (nodes) => nodeNetworks(nodes, settings)),
    ),
    ...named(
      'registry',
      of(facts.nodes, (nodes) => registry(nodes, settings)),
    ),
    ...named('metrics', of(facts.hasMetrics, metrics)),
    ...named('admission', of(facts.hasAdmissionPolicies, admissionPolicies)),
  ];
}

function of<T>(fact: Fact<T>, check: (value: T) => Result[]): Result[] {
  if ('value' in fact) return check(fact.value);
  return [warning(`not checked, because it could not be read: ${fact.unknown}`)];
}

function both<A, B>(
  one: Fact<A>,
  other: Fact<B>,
  settings: CheckSettings,
  check: (a: A, b: B, settings: CheckSettings) => Result[],
): Result[] {
  return of(one, (a) => of(other, (b) => check(a, b, settings)));
}

const minMinor = 33;

function kubernetesVersion(version: string): Result[] {
  const [, major, minor] = /^v(\d+)\.(\d+)/.exec(version) ?? [];
  if (Number(major) > 1 || Number(minor) >= minMinor) return [ok(version)];
  return [error(`the cluster runs Kubernetes ${version}; Coppice needs 1.${minMinor} or later. Upgrade the cluster`)];
}

function isDefault({ metadata: { annotations = {} } }: ClassFact, key: string): boolean {
  return annotations[key] === 'true';
}

function storageClasses(classes: readonly ClassFact[], settings: CheckSettings): Result[] {
  const names = classes.map(({ metadata }) => metadata.name);
  const hasDefault = classes.some((one) => isDefault(one, 'storageclass.kubernetes.io/is-default-class'));
  const faults = Object.entries(settings.storageClasses).flatMap(([value, name]) => {
    if (name === undefined && !hasDefault) {
      return [
        error(`the cluster has no default StorageClass, so volumes stay pending. Mark one as default, or set ${value}`),
      ];
    }
    if (name === undefined || names.includes(name)) return [];
    return [error(`there is no StorageClass ${name}, which ${value} names. Set it to one of: ${names.join(', ')}`)];
  });
  return faults.length > 0 ? faults : [ok(names.join(', '))];
}

function ingressClasses(classes: readonly ClassFact[], { ingress: { className } }: CheckSettings): Result[] {
  const names = classes.map(({ metadata }) => metadata.name);
  const choice =
    names.length === 0 ? 'Install an Ingress controller' : `Set ingress.className to one of: ${names.join(', ')}`;
  if (className !== undefined) {
    if (names.includes(className)) return [ok(className)];
    return [
      error(`there is no IngressClass ${className}, which ingress.className names, so no address answers. ${choice}`),
    ];
  }
  const preset = classes.find((one) => isDefault(one, 'ingressclass.kubernetes.io/is-default-class'));
  if (preset) return [ok(`${preset.metadata.name}, the default`)];
  return [error(`the cluster has no default IngressClass, so no address answers. ${choice}`)];
}

function gateways(
  found: Extract<ClusterFacts['gateways'], { value: unknown }>['value'],
  { ingress }: CheckSettings,
): Result[] {
  return ingress.parentRefs.map(({ namespace, name, sectionName, port }) => {
    const key = `${namespace}/${name}`;
    const gateway = found.get(key);
    if (!gateway)
      return error(`there is no Gateway ${key}, which ingress.parentRefs names. Create it, or name another`);
    const { listeners } = gateway.spec;
    const listens = listeners.some(
      (one) => (sectionName ?? one.name) === one.name && (port === undefined || port === one.port),
    );
    if (!listens) {
      const known = listeners.map((one) => `${one.name} at ${one.port}`).join(', ');
      return error(`the Gateway ${key} has no listener that ingress.parentRefs names. Name one of: ${known}`);
    }
    const refused = gateway.status?.conditions?.find(
      ({ type, status }) => (type === 'Accepted' || type === 'Programmed') && status !== 'True',
    );
    if (refused)
      return error(`the Gateway ${key} does not serve: ${refused.message}. Check its GatewayClass and controller`);
    return ok(key);
  });
}

const addressesOf = (slices: readonly SliceFact[]) =>
  slices.flatMap(({ endpoints }) => endpoints.flatMap((one) => one.addresses));

/** Returns the addresses of nodes. */
function nodeAddresses(nodes: readonly NodeFact[]): string[] {
  const all = nodes.flatMap(({ status }) => status?.addresses ?? []);
  return all.filter(({ type }) => type.endsWith('IP')).map(({ address }) => address);
}

function podNetworks(nodes: readonly NodeFact[]): string[] {
  return nodes.flatMap(({ spec }) => spec?.podCIDRs ?? (spec?.podCIDR === undefined ? [] : [spec.podCIDR]));
}

function ingressController(
  slices: readonly SliceFact[],
  nodes: readonly NodeFact[],
  { ingress: { namespace, cidrs } }: CheckSettings,
): Result[] {
  const addresses = addressesOf(slices);
  if (addresses.length === 0) {
    if (cidrs.length > 0) return [ok(`networks ${cidrs.join(', ')}`)];
    return [
      error(
        `no Service in the namespace ${namespace} has a pod, and the network policies admit nobody else to environments and the API. ` +
          "Set ingress.controllerNamespace to the Ingress controller's namespace, or ingress.controllerCidrs to its networks",
      ),
    ];
  }
  const known = nodeAddresses(nodes);
  const refused = addresses.filter((address) => known.includes(address) && !isWithin(address, cidrs));
  if (refused.length === 0) return [ok(`pods in ${namespace}`)];
  return [
    error(
      `pods in ${namespace} have addresses of their nodes (${refused.join(', ')}), which network policies do not recognize as pods. ` +
        "Add the nodes' networks to ingress.controllerCidrs",
    ),
  ];
}

function dns(facts: ClusterFacts, settings: CheckSettings): Result[] {
  const { namespace, podLabels, cidrs, ports } = settings.dns;
  return of(facts.nameservers, (nameservers) => {
    const elsewhere = nameservers.filter((address) => !isWithin(address, cidrs));
    if (nameservers.length > 0 && elsewhere.length === 0) return [ok(`${nameservers.join(', ')}, in egress.dns.cidrs`)];
    return of(facts.dnsServices, (services) =>
      of(facts.dnsSlices, (slices) => {
        const service = services.find(({ spec }) => spec.clusterIPs?.some((address) => elsewhere.includes(address)));
        if (!service) {
          return [
            error(
              `the DNS server of pods, ${elsewhere.join(', ') || 'which resolv.conf does not name'}, is not a Service in the namespace ` +
                `"${namespace}", so environments and builds cannot resolve names. Set egress.dns to where it is`,
            ),
          ];
        }
        const { name } = service.metadata;
        const wrong = Object.entries(podLabels).filter(([key, value]) => service.spec.selector?.[key] !== value);
        const listening = slices
          .filter(({ metadata }) => metadata.labels?.['kubernetes.io/service-name'] === name)
          .flatMap((slice) => slice.ports.flatMap(({ port }) => port ?? []));
        const closed = [...new Set(listening)].filter((port) => !ports.includes(port) && isDnsPort(port));
        const cached = services.some(({ metadata }) => metadata.name === 'kube-dns-upstream');
        const faults = [
          ...(wrong.length > 0
            ? [
                error(
                  `egress.dns.podLabels does not select the pods of the Service ${namespace}/${name}. Set it to labels of its selector`,
                ),
              ]
            : []),
          ...(closed.length > 0
            ? [
                error(
                  `pods of the Service ${namespace}/${name} listen on ${closed.join(', ')}. Add these to egress.dns.ports`,
                ),
              ]
            : []),
          ...(cached
            ? [
                warning(
                  `NodeLocal DNSCache is installed, and answers in place of pods. Add 169.254.20.10/32 and ${elsewhere.map(single).join(', ')} to egress.dns.cidrs`,
                ),
              ]
            : []),
        ];
        return faults.length > 0 ? faults : [ok(`Service ${namespace}/${name}`)];
      }),
    );
  });
}

/** Usual ports of DNS servers; their pods also listen on ports for metrics and health checks. */
const isDnsPort = (port: number) => port % 1000 === 53 || port % 1000 === 353;

const single = (address: string) => `${address}/${address.includes(':') ? 128 : 32}`;

function nodeNetworks(nodes: readonly NodeFact[], { ingress, egress, privateEgress }: CheckSettings): Result[] {
  const addresses = nodeAddresses(nodes);
  const pods = podNetworks(nodes);
  const ofPods = (networks: readonly string[]) => networks.filter((one) => pods.some((pod) => overlap(one, pod)));
  const opened = addresses.filter((address) => isWithin(address, privateEgress));
  const open = publicNetworks(egress).flatMap(({ ipBlock }) => (ipBlock ? [ipBlock] : []));
  const isPublic = (address: string) =>
    open.some(({ cidr, except = [] }) => isWithin(address, [cidr]) && !isWithin(address, except));
  const reached = addresses.filter(isPublic);
  const reachedPods = pods.filter(isPublic);
  const results = [
    ...(opened.length > 0
      ? [
          warning(
            `builder.privateEgress contains nodes (${some(opened)}): builds, also of forks, reach their kubelets and etcd. ` +
              'List only the addresses that builds need',
          ),
        ]
      : []),
    ...ofPods(privateEgress).map((network) =>
      warning(
        `${network} of builder.privateEgress contains pods: builds reach those that no policy isolates. Exclude them`,
      ),
    ),
    ...ofPods(ingress.cidrs).map((network) =>
      error(
        `${network} of ingress.controllerCidrs contains pods: environments reach each other past the Ingress controller. Exclude them`,
      ),
    ),
    ...(reached.length + reachedPods.length > 0
      ? [
          warning(
            `nodes or pods have public addresses (${some([...reached, ...reachedPods])}), which environments and builds reach. ` +
              'Add their networks to egress.exceptCidrs',
          ),
        ]
      : []),
  ];
  return results.length > 0 ? results : [ok(`${nodes.length}; environments and builds cannot connect to them`)];
}

function some(items: readonly string[]): string {
  return items.length > 3 ? `${items.slice(0, 3).join(', ')} and ${items.length - 3} more` : items.join(', ');
}

function registry(nodes: readonly NodeFact[], settings: CheckSettings): Result[] {
  const holds = ({ status }: NodeFact) =>
    status?.images?.some(({ names }) => names?.some((name) => name.startsWith(`${settings.registry}/`)));
  const count = nodes.filter(holds).length;
  if (count === 0) {
    const words = `no node has an image of ${settings.registry} yet, so it is unknown whether nodes can pull from it`;
    return [warning(`${words}. After the first build, see whether its services start`)];
  }
  return [ok(`${count} of ${nodes.length} nodes have images of ${settings.registry}`)];
}

function metrics(isThere: boolean): Result[] {
  if (isThere) return [ok('the metrics API is available')];
  return [
    warning('the metrics API is not available, so the usage of environments is not shown. Install metrics-server'),
  ];
}

function admissionPolicies(isThere: boolean): Result[] {
  if (isThere) return [ok('ValidatingAdmissionPolicies are available')];
  return [
    error(
      'the API server has no ValidatingAdmissionPolicies, which restrict the operator. Enable them, or set admissionPolicy.enabled to false',
    ),
  ];
}
